//! Packages, hooks and image builds: the scripts by themselves beside programs that only note how they were called, and
//! with `RUN_FULL=1` the packages in a Debian root with the real dpkg, the Dockerfiles of `examples` step by step in one,
//! and the static program in an empty root.
//!
//! Nothing is installed on this machine: packages go into copies of a root that debootstrap made.
#![cfg(feature = "cli")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs programs"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::Value;
use tempfile::TempDir;

use support::cases::set_mode;
use support::der::Certificate;
use support::{EntryKind, EntryState};

const HOOK: &str = "packaging/zz-castore";
/// Every shell script that is shipped.
const SCRIPTS: &[&str] = &[
    HOOK,
    "packaging/debian/postinst",
    "packaging/debian/prerm",
    "packaging/debian/postrm",
    "packaging/opensuse/zz-castore.run",
    "packaging/alpine/castore.trigger",
    "packaging/rpm/preun.sh",
    "packaging/rpm/postun.sh",
];
const EXAMPLES: &[&str] = &["debian", "alpine", "distroless", "scratch"];
/// The time that builds are given. Any will do that is not now.
const EPOCH: i64 = 1_700_000_000;
/// Dates are not what is tried here.
const DATE: &str = "2026-06-01";

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A program in a directory that notes its arguments, one call a line, and ends with a status.
fn stand_in(directory: &Path, name: &str, status: i32) {
    fs::create_dir_all(directory).unwrap();
    let log = directory.join("calls");
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\" >>'{}'\nexit {status}\n", log.display()))
        .unwrap();
    set_mode(&path, 0o755);
}

fn calls(directory: &Path) -> String {
    fs::read_to_string(directory.join("calls")).unwrap_or_default()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

// ---- Scripts ---------------------------------------------------------------------------------------------------

#[test]
fn scripts_are_posix_shell() {
    for script in SCRIPTS {
        let path = repository().join(script);
        let output = support::required("sh").arg("-n").arg(&path).output().unwrap();
        assert!(output.status.success(), "{script}: {}", stderr(&output));
        // rpm runs its scripts by a shell of its own, dpkg and updaters start theirs.
        if !script.ends_with(".sh") {
            assert!(read(script).starts_with("#!/bin/sh\n"), "{script}");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o111, 0o111, "{script}");
        }
        if let Some(mut shellcheck) = support::optional("shellcheck") {
            let output = shellcheck.args(["--shell", "sh"]).arg(&path).output().unwrap();
            assert!(output.status.success(), "{script}: {}", stdout(&output));
        }
    }
}

/// The hook as it is, but for the place of castore.
fn hook_for(castore: &Path, folder: &Path) -> PathBuf {
    let text = read(HOOK);
    assert!(text.contains("/usr/bin/castore hook"));
    fs::create_dir_all(folder).unwrap();
    let path = folder.join("zz-castore");
    fs::write(&path, text.replace("/usr/bin/castore", castore.to_str().unwrap())).unwrap();
    set_mode(&path, 0o755);
    path
}

/// Runs the hook as an updater does, with the list of changes on its standard input, and says whether it read all of it.
fn run_hook(hook: &Path) -> (Output, bool) {
    let mut child = support::at(hook)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // More than a pipe holds.
    let changes = "+/etc/ssl/certs/Castore_Test_Root.pem\n".repeat(20_000);
    let written = child.stdin.take().unwrap().write_all(changes.as_bytes()).is_ok();
    (child.wait_with_output().unwrap(), written)
}

#[test]
fn run_parts_takes_the_hooks_name() {
    if support::skip_without(&["run-parts"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let hook = hook_for(Path::new("/nonexistent/castore"), folder.path());
    let output = support::required("run-parts").arg("--test").arg(folder.path()).output().unwrap();
    assert_eq!(stdout(&output).trim(), hook.to_str().unwrap());
}

#[test]
fn the_hook_reads_its_input_and_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    let hook = hook_for(&bin.join("castore"), folder.path());

    // The conffile that a removed package leaves behind.
    let (output, read_all) = run_hook(&hook);
    assert!(output.status.success() && read_all);
    assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()));

    stand_in(&bin, "castore", 0);
    let (output, read_all) = run_hook(&hook);
    assert!(output.status.success() && read_all);
    assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()));
    assert_eq!(calls(&bin), "castore hook\n");
}

#[test]
fn a_hook_that_fails_says_so_and_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    stand_in(&bin, "castore", 2);
    let (output, read_all) = run_hook(&hook_for(&bin.join("castore"), folder.path()));
    assert!(output.status.success() && read_all);
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains("castore hook: status 2"), "{}", stderr(&output));

    for script in ["packaging/opensuse/zz-castore.run", "packaging/alpine/castore.trigger"] {
        let path = folder.path().join("script");
        let castore = bin.join("castore");
        fs::write(&path, read(script).replace("/usr/bin/castore", castore.to_str().unwrap())).unwrap();
        // What stands on standard input is their caller's: not a byte of it is read.
        let command = format!("sh {} >/dev/null; echo $?; cat", path.display());
        let output =
            support::run_with_input(support::required("sh").args(["-c", &command]), b"the next hook\n");
        assert_eq!(stdout(&output), "0\nthe next hook\n", "{script}");
        assert!(stderr(&output).contains("castore hook: status 2"), "{script}: {}", stderr(&output));
    }
}

/// What package ca-certificates itself does with a hook that fails, and with one that does not.
#[test]
fn debians_updater_ends_well_whatever_the_hook_does() {
    if support::skip_without(&["openssl", "run-parts"]) {
        return;
    }
    let Some(root) = support::stock_root() else { return };
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("certs");
    support::copy_tree(&root.join("etc/ssl/certs"), &store);
    let before = support::capath::contents(&store);
    for status in [0, 2] {
        let bin = folder.path().join("bin");
        let hooks = folder.path().join("update.d");
        stand_in(&bin, "castore", status);
        hook_for(&bin.join("castore"), &hooks);
        let output = support::required("sh")
            .arg(root.join("usr/sbin/update-ca-certificates"))
            .arg("--certsconf")
            .arg(root.join("etc/ca-certificates.conf"))
            .arg("--certsdir")
            .arg(root.join("usr/share/ca-certificates"))
            .arg("--localcertsdir")
            .arg(root.join("usr/local/share/ca-certificates"))
            .arg("--etccertsdir")
            .arg(&store)
            .arg("--hooksdir")
            .arg(&hooks)
            .output()
            .unwrap();
        assert!(output.status.success(), "{status}: {}", stderr(&output));
        assert!(stdout(&output).ends_with("done.\n"), "{status}: {}", stdout(&output));
        assert!(!stdout(&output).contains("E: "), "{status}: {}", stdout(&output));
        assert_eq!(stderr(&output).contains("castore hook: status 2"), status == 2, "{}", stderr(&output));
        assert_eq!(support::capath::contents(&store), before, "{status}");
    }
}

/// A folder with a root for DPKG_ROOT and stand-ins for what dpkg brings.
struct Dpkg {
    folder: TempDir,
}

impl Dpkg {
    fn new(status: i32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for program in ["dpkg-trigger", "dpkg-divert"] {
            stand_in(&folder.path().join("bin"), program, status);
        }
        stand_in(&folder.path().join("root/usr/bin"), "castore", status);
        fs::create_dir_all(folder.path().join("root/var/lib/castore")).unwrap();
        fs::write(folder.path().join("root/var/lib/castore/report.json"), "{}").unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn run(&self, script: &str, arguments: &[&str]) -> Output {
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display());
        support::required("sh")
            .arg(repository().join("packaging/debian").join(script))
            .args(arguments)
            .env("PATH", path)
            .env("DPKG_ROOT", self.root())
            .output()
            .unwrap()
    }

    /// How dpkg's programs, and castore, were called.
    fn calls(&self) -> String {
        calls(&self.folder.path().join("bin")) + &calls(&self.root().join("usr/bin"))
    }
}

#[test]
fn no_maintainer_script_fails_on_castore() {
    // The ways in which dpkg calls them, from Debian Policy 6.5.
    let ways: &[(&str, &[&[&str]])] = &[
        (
            "postinst",
            &[
                &["configure", ""],
                &["configure", "0.1.0-1"],
                &["abort-upgrade", "0.1.0-1"],
                &["abort-remove"],
                &["abort-deconfigure", "in-favour", "other", "1"],
            ],
        ),
        (
            "prerm",
            &[
                &["remove"],
                &["remove", "in-favour", "other", "1"],
                &["upgrade", "0.2.0-1"],
                &["failed-upgrade", "0.1.0-1", "0.2.0-1"],
                &["deconfigure", "in-favour", "other", "1"],
            ],
        ),
        (
            "postrm",
            &[
                &["remove"],
                &["purge"],
                &["upgrade", "0.2.0-1"],
                &["failed-upgrade", "0.1.0-1"],
                &["abort-install"],
                &["abort-upgrade", "0.1.0-1"],
                &["disappear", "other", "1"],
            ],
        ),
    ];
    for (script, ways) in ways {
        for arguments in *ways {
            for status in [0, 2] {
                let dpkg = Dpkg::new(status);
                let output = dpkg.run(script, arguments);
                assert!(output.status.success(), "{script} {arguments:?}: {}", stderr(&output));
                assert_eq!(stdout(&output), "", "{script} {arguments:?}");
                let undone = dpkg.calls().contains("castore tune undo");
                assert_eq!(undone, *script == "prerm" && arguments[0] == "remove", "{script} {arguments:?}");
                if status == 0 {
                    assert_eq!(stderr(&output), "", "{script} {arguments:?}");
                }
                let state = dpkg.root().join("var/lib/castore").exists();
                assert_eq!(state, *script != "postrm" || arguments[0] != "purge", "{script} {arguments:?}");
            }
        }
        let output = Dpkg::new(0).run(script, &["nonsense"]);
        assert_eq!(output.status.code(), Some(1), "{script}");
    }
}

#[test]
fn maintainer_scripts_call_what_they_should() {
    let dpkg = Dpkg::new(0);
    dpkg.run("postinst", &["configure", ""]);
    assert_eq!(dpkg.calls(), "dpkg-trigger --no-await update-ca-certificates\n");

    let dpkg = Dpkg::new(0);
    dpkg.run("prerm", &["remove"]);
    assert_eq!(dpkg.calls(), format!("castore tune undo --quiet --root {}\n", dpkg.root().display()));

    let dpkg = Dpkg::new(2);
    let output = dpkg.run("prerm", &["remove"]);
    assert!(stderr(&output).contains("dpkg-divert --local --rename --remove"), "{}", stderr(&output));
}

#[test]
fn purging_keeps_the_record_of_what_is_still_diverted() {
    let dpkg = Dpkg::new(0);
    let record = dpkg.root().join("var/lib/castore/undo.json");
    fs::write(&record, "{}").unwrap();
    let divert = dpkg.folder.path().join("bin/dpkg-divert");
    let line = "local diversion of /usr/lib/ssl/cert.pem to /usr/lib/ssl/cert.pem.castore";
    fs::write(&divert, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
    let output = dpkg.run("postrm", &["purge"]);
    assert!(output.status.success() && record.exists());
    assert!(stderr(&output).contains("still diverted"), "{}", stderr(&output));

    // Nothing is diverted any more: the record tells of the past.
    fs::write(&divert, "#!/bin/sh\n").unwrap();
    let output = dpkg.run("postrm", &["purge"]);
    assert!(output.status.success() && !record.parent().unwrap().exists());
    assert_eq!(stderr(&output), "");
}

// ---- Metadata --------------------------------------------------------------------------------------------------

fn package() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(repository().join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"][0].clone()
}

/// What a package installs: where it comes from, where it goes, its mode.
fn assets(value: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let assets = value["assets"].as_array().unwrap().iter();
    assets
        .map(|asset| match asset.as_array() {
            Some(list) => (text(&list[0]), format!("/{}", text(&list[1])), text(&list[2])),
            None => (text(&asset["source"]), text(&asset["dest"]), text(&asset["mode"])),
        })
        .collect()
}

#[test]
fn packages_hold_what_is_there() {
    let package = package();
    for packager in ["deb", "generate-rpm"] {
        let assets = assets(&package["metadata"][packager]);
        for (source, place, mode) in &assets {
            if source.starts_with("target/") {
                continue;
            }
            let path = repository().join(source.strip_suffix("/*.1").unwrap_or(source));
            let meta = fs::metadata(&path).unwrap_or_else(|error| panic!("{packager}: {source}: {error}"));
            if meta.is_file() {
                let executable = meta.permissions().mode() & 0o111 != 0;
                assert_eq!(mode == "755", executable, "{packager}: {source}: {mode}");
            }
            assert!(!place.starts_with("/usr/local"), "{packager}: {place}");
        }
        for needed in
            ["target/release/castore", "man/*.1", "packaging/hook.conf", "target/completions/_castore"]
        {
            assert!(assets.iter().any(|(source, ..)| source == needed), "{packager}: {needed}");
        }
    }
    let deb = assets(&package["metadata"]["deb"]);
    assert!(deb.contains(&(HOOK.into(), "/etc/ca-certificates/update.d/zz-castore".into(), "755".into())));
    let changelog = read("packaging/debian/changelog");
    let version = format!("castore ({}-1) ", package["version"].as_str().unwrap());
    assert!(changelog.starts_with(&version), "packaging/debian/changelog does not begin with {version}");
}

#[test]
fn systemd_takes_the_units() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut verify) = support::optional("systemd-analyze") else { return };
    for name in ["castore-hook.path", "castore-hook.service"] {
        // The program need not be there on this machine.
        let text = read(&format!("packaging/systemd/{name}")).replace("/usr/bin/castore", "/bin/true");
        fs::write(folder.path().join(name), text).unwrap();
    }
    let output = verify
        .args(["verify", "--man=no", "--recursive-errors=no"])
        .arg(folder.path().join("castore-hook.path"))
        .arg(folder.path().join("castore-hook.service"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("castore-hook"), "{}", stderr(&output));
}

// ---- Dockerfiles -----------------------------------------------------------------------------------------------

/// One instruction of a Dockerfile.
#[derive(Debug)]
struct Instruction {
    name: String,
    text: String,
}

/// The stages of a Dockerfile, each begun by its FROM. As far as the examples need it.
fn stages(text: &str) -> Vec<Vec<Instruction>> {
    let mut stages: Vec<Vec<Instruction>> = Vec::new();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    for instruction in lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ").lines() {
        let (name, text) = instruction.split_once(' ').unwrap();
        if name == "FROM" {
            stages.push(Vec::new());
        }
        let instruction = Instruction { name: name.into(), text: text.trim().into() };
        stages.last_mut().expect("a Dockerfile begins with FROM").push(instruction);
    }
    stages
}

fn example(name: &str) -> Vec<Vec<Instruction>> {
    stages(&read(&format!("examples/{name}/Dockerfile")))
}

#[test]
fn the_images_take_the_store_and_nothing_else_of_the_first_stage() {
    for name in EXAMPLES {
        let stages = example(name);
        assert_eq!(stages.len(), 2, "{name}");
        assert!(stages[0][0].text.ends_with(" AS store"), "{name}");
        let copies: Vec<&str> = stages[1]
            .iter()
            .filter(|instruction| instruction.name != "FROM" && instruction.name != "ENV")
            .map(|instruction| instruction.text.as_str())
            .collect();
        assert_eq!(copies, ["--from=store --chown=root:root /out/ /"], "{name}");
        // Written by a user without rights, and audited behind that.
        let at = |wanted: &str| {
            let found = stages[0].iter().position(|instruction| {
                format!("{} {}", instruction.name, instruction.text).starts_with(wanted)
            });
            found.unwrap_or_else(|| panic!("{name}: {wanted}"))
        };
        let order = [
            at("USER nobody"),
            at("ARG SOURCE_DATE_EPOCH"),
            at("RUN castore compact"),
            at("RUN castore audit"),
        ];
        assert!(order.is_sorted(), "{name}: {order:?}");
    }
}

/// What lies below a directory.
fn listing(directory: &Path) -> BTreeMap<PathBuf, EntryState> {
    let mut state = support::tree_state(directory);
    state.remove(Path::new("."));
    state
}

/// Whether everything that castore wrote has the time that was given: files, links, and a directory that it made.
fn check_times(name: &str, listing: &BTreeMap<PathBuf, EntryState>) {
    let made = example(name)[0].iter().any(|instruction| instruction.text.contains("--capath"));
    for (path, entry) in listing {
        if entry.kind != EntryKind::Directory || (made && path.ends_with("certs")) {
            assert_eq!(entry.mtime_ns, i128::from(EPOCH) * 1_000_000_000, "{name}: {}", path.display());
        }
    }
}

/// The castore lines of the Dockerfiles on the stock store, twice: the same bytes, modes and times.
#[test]
fn steps_of_image_builds_are_reproducible() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let mut seen = BTreeSet::new();
    for name in EXAMPLES {
        // Where two images are built by the same steps, one run of them tells.
        let steps = example(name).swap_remove(0).into_iter().map(|step| step.text);
        if !seen.insert(steps.filter(|text| text.starts_with("castore ")).collect::<Vec<_>>()) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("certificates");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("corp.crt"), Certificate::root("Corp Root", 1).pem()).unwrap();
        let build = |run: &str| {
            let out = folder.path().join(run);
            for instruction in example(name).swap_remove(0) {
                if let Some(rest) = instruction.text.strip_prefix("mkdir -p /out/") {
                    fs::create_dir_all(out.join(rest.split(' ').next().unwrap())).unwrap();
                }
                if instruction.name != "RUN" || !instruction.text.starts_with("castore ") {
                    continue;
                }
                let inside = instruction.text.contains("--root");
                let mut command = instruction.text.replace("/out", out.to_str().unwrap());
                if !inside {
                    command = command.replace(" /etc/ssl/certs ", &format!(" {} ", store.display()));
                    command = command.replace(" /certificates ", &format!(" {} ", own.display()));
                }
                let path = support::program().parent().unwrap();
                let output = support::required("sh")
                    .args(["-c", &format!("umask {run}; {command}")])
                    .env("PATH", format!("{}:/usr/bin:/bin", path.display()))
                    .env("SOURCE_DATE_EPOCH", EPOCH.to_string())
                    .env("DATE", DATE)
                    .output()
                    .unwrap();
                assert!(output.status.success(), "{name}: {command}: {}{}", stdout(&output), stderr(&output));
            }
            listing(&out)
        };
        let mut first = build("022");
        let mut second = build("077");
        check_times(name, &first);
        // The directories that the test made have the time of their last entry.
        for listing in [&mut first, &mut second] {
            listing
                .values_mut()
                .filter(|entry| entry.kind == EntryKind::Directory)
                .for_each(|entry| entry.mtime_ns = 0);
        }
        assert!(first == second, "{name}: two builds differ");
        assert!(first.contains_key(Path::new("etc/ssl/certs/ca-certificates.crt")), "{name}");
    }
}

#[test]
fn source_date_epoch_must_be_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.pem");
    fs::write(&input, Certificate::root("Corp Root", 1).pem()).unwrap();
    let bundle = folder.path().join("out.pem");
    let compact = |value: &str| {
        support::castore()
            .args(["compact", "--at", DATE, "--bundle"])
            .args([&bundle, &input])
            .env("SOURCE_DATE_EPOCH", value)
            .output()
            .unwrap()
    };
    for value in ["yesterday", "-1", "1.5", " 1", "99999999999999999999"] {
        let output = compact(value);
        assert_eq!(output.status.code(), Some(2), "{value}: {}", stderr(&output));
        assert!(stderr(&output).contains("SOURCE_DATE_EPOCH"), "{value}: {}", stderr(&output));
        assert!(!bundle.exists(), "{value}");
    }
    // As an unset build argument leaves it.
    assert!(compact("").status.success());
    let before = fs::metadata(&bundle).unwrap().mtime();
    assert!(before > EPOCH);
    // Nothing to write, nothing to date.
    assert!(compact("1").status.success());
    assert_eq!(fs::metadata(&bundle).unwrap().mtime(), before);
    fs::remove_file(&bundle).unwrap();
    assert!(compact("0").status.success());
    assert_eq!(fs::metadata(&bundle).unwrap().mtime(), 0);
}

#[test]
fn rehash_dates_its_links_and_not_the_directory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("corp.pem");
    fs::write(&file, Certificate::root("Corp Root", 1).pem()).unwrap();
    let before = fs::metadata(&file).unwrap().mtime();
    let output = support::castore()
        .arg("rehash")
        .arg(folder.path())
        .env("SOURCE_DATE_EPOCH", EPOCH.to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let links = support::capath::links(folder.path());
    assert_eq!(links.len(), 1);
    for name in links.keys() {
        assert_eq!(fs::symlink_metadata(folder.path().join(name)).unwrap().mtime(), EPOCH);
    }
    assert_eq!(fs::metadata(&file).unwrap().mtime(), before);
    assert!(fs::metadata(folder.path()).unwrap().mtime() > EPOCH);
}

// ---- With RUN_FULL=1 -------------------------------------------------------------------------------------------

/// Whether what takes minutes is to run, and can: it needs root, for chroot and mount. In each test a namespace of its
/// own has the mounts.
fn full(tools: &[&str]) -> bool {
    if !support::is_full() {
        return false;
    }
    if !rustix::process::geteuid().is_root() {
        let _ = writeln!(std::io::stderr(), "skipped: not root");
        return false;
    }
    !support::skip_without(tools)
}

/// Runs `make TARGET`, once a target and test program: a second run would write what another test reads.
fn make(target: &str) {
    static MADE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if !made.insert(target.to_owned()) {
        return;
    }
    // As cargo started this test: registry, proxies and toolchain are its matter.
    let output = Command::new("make")
        .arg(target)
        .current_dir(repository())
        .env("CARGO", env!("CARGO"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "make {target}: {}{}", stdout(&output), stderr(&output));
}

fn target_directory() -> PathBuf {
    // Of target/debug/castore, two levels up.
    support::program().ancestors().nth(2).unwrap().to_owned()
}

/// What `make` left: the newest file of this name.
fn built(directory: &str, start: &str, end: &str) -> PathBuf {
    let directory = target_directory().join(directory);
    let files = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let named = files.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(start) && name.ends_with(end)
    });
    named.max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap()).unwrap()
}

fn static_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        make("static");
        let output = Command::new("rustc").arg("-vV").output().unwrap();
        let text = stdout(&output);
        let host = text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        target_directory().join(host).join("static/castore")
    })
}

/// A copy of the Debian root that `tests/setup.sh` made.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Option<Self> {
        let base = support::material_at("debian/root")?;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        let output = support::required("cp").arg("-a").arg(&base).arg(&root).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        set_mode(folder.path(), 0o755);
        Some(Self { folder })
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn at(&self, inside: &str) -> PathBuf {
        self.root().join(inside.strip_prefix('/').unwrap())
    }

    /// Runs a command in the root, as `user`; then all but /out is read-only.
    fn run_as(&self, user: Option<&str>, variables: &[(String, String)], command: &str) -> Output {
        let script = "set -e\n\
             mount --bind \"$ROOT\" \"$ROOT\"\n\
             mount -t proc proc \"$ROOT/proc\"\n\
             mount --bind /dev \"$ROOT/dev\"\n\
             who=\n\
             if [ -n \"$AS\" ]; then\n\
                 mount --bind \"$ROOT/out\" \"$ROOT/out\"\n\
                 mount -o remount,ro,bind \"$ROOT\"\n\
                 who=--userspec=$AS:nogroup\n\
             fi\n\
             exec chroot $who \"$ROOT\" /usr/bin/env -i \"$@\"";
        support::required("unshare")
            .args(["-m", "--propagation", "private", "sh", "-c", script, "sh"])
            .arg("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .args(["LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"])
            .args(variables.iter().map(|(name, value)| format!("{name}={value}")))
            .args(["/bin/sh", "-c", command])
            .env("ROOT", self.root())
            .env("AS", user.unwrap_or_default())
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .output()
            .unwrap()
    }

    /// What a command says that must succeed: both streams.
    fn run(&self, command: &str) -> String {
        let output = self.run_as(None, &[], &format!("{command} 2>&1"));
        assert!(output.status.success(), "{command}: {}{}", stdout(&output), stderr(&output));
        stdout(&output)
    }

    /// The store, OpenSSL's directory and dpkg's diversions: modes, owners, and bytes or targets.
    fn state(&self) -> BTreeMap<PathBuf, EntryState> {
        let mut state = BTreeMap::new();
        for directory in ["/etc/ssl", "/usr/lib/ssl", "/usr/share/ca-certificates", "/var/lib/dpkg"] {
            for (path, mut entry) in support::tree_state(&self.at(directory)) {
                // Of dpkg's directory its diversions alone. A directory's time tells of each entry that came and went.
                if directory == "/var/lib/dpkg" && path != Path::new("diversions") {
                    continue;
                }
                entry.mtime_ns = 0;
                state.insert(Path::new(directory.trim_start_matches('/')).join(path), entry);
            }
        }
        state
    }

    /// The paths that differ between two states.
    fn changed(&self, before: &BTreeMap<PathBuf, EntryState>) -> Vec<PathBuf> {
        let now = self.state();
        let paths: BTreeSet<&PathBuf> = before.keys().chain(now.keys()).collect();
        paths.into_iter().filter(|path| before.get(*path) != now.get(*path)).cloned().collect()
    }
}

#[test]
fn the_static_program_runs_in_an_empty_root() {
    if !full(&["unshare", "openssl"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let program = static_program();
    let size = fs::metadata(program).unwrap().len();
    // A good part of it is the C library.
    assert!(size < 3_000_000, "{size} bytes");
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::copy(program, root.join("castore")).unwrap();
    fs::create_dir(root.join("store")).unwrap();
    fs::copy(store.join("ca-certificates.crt"), root.join("store/ca.crt")).unwrap();
    let run = |arguments: &str| {
        let script = format!("exec chroot '{}' /castore {arguments}", root.display());
        support::required("unshare")
            .args(["-m", "sh", "-c", &script])
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .output()
            .unwrap()
    };
    for arguments in [
        format!("audit --at {DATE} --fail-on error /store/ca.crt"),
        format!("compact --at {DATE} /store --bundle /store/new.crt --capath /store/new"),
        "rehash --check /store/new".to_owned(),
    ] {
        let output = run(&arguments);
        assert!(output.status.success(), "{arguments}: {}{}", stdout(&output), stderr(&output));
    }
    // The same as the other program writes.
    let other = folder.path().join("other.crt");
    let output = support::castore()
        .args(["compact", "--at", DATE, "--bundle"])
        .args([&other, &root.join("store/ca.crt")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(fs::read(&other).unwrap() == fs::read(root.join("store/new.crt")).unwrap());
}

/// Runs the first stage of a Dockerfile in a Debian root, but for what needs a network: the root has that already.
fn build_stage(name: &str, machine: &Machine, context: &Path, arguments: &[(String, String)]) {
    let mut user: Option<String> = None;
    let mut variables: Vec<(String, String)> = Vec::new();
    for instruction in example(name).swap_remove(0) {
        let text = instruction.text.as_str();
        match instruction.name.as_str() {
            "FROM" => {}
            "ARG" => variables.extend(arguments.iter().find(|(argument, _)| argument == text).cloned()),
            "USER" => user = Some(text.to_owned()),
            "COPY" => {
                let (from, to) = text.split_once(' ').unwrap();
                let to = machine.at(to);
                if from.ends_with('/') {
                    fs::create_dir_all(&to).unwrap();
                    support::copy_tree(&context.join(from), &to);
                } else {
                    fs::copy(context.join(from), to).unwrap();
                }
            }
            "RUN" if text.starts_with("apt-get ") || text.starts_with("apk ") => {
                assert!(text.contains("ca-certificates"), "{name}: {text}: what else does the root need?");
            }
            "RUN" => {
                let output = machine.run_as(user.as_deref(), &variables, text);
                let said = stdout(&output) + &stderr(&output);
                assert!(output.status.success(), "{name}: {text}: {said}");
            }
            other => panic!("{name}: what is {other}?"),
        }
    }
}

#[test]
fn image_builds_work_without_rights_and_are_reproducible() {
    if !full(&["unshare", "openssl", "cp"]) {
        return;
    }
    let context = tempfile::tempdir().unwrap();
    fs::copy(static_program(), context.path().join("castore")).unwrap();
    set_mode(&context.path().join("castore"), 0o755);
    fs::create_dir(context.path().join("certificates")).unwrap();
    let corp = Certificate::root("Corp Root", 1).pem();
    fs::write(context.path().join("certificates/corp.crt"), &corp).unwrap();
    let arguments =
        [("SOURCE_DATE_EPOCH".to_owned(), EPOCH.to_string()), ("DATE".to_owned(), DATE.to_owned())];
    for name in EXAMPLES {
        let Some(machine) = Machine::new() else { return };
        let mut builds = Vec::new();
        for _ in 0..2 {
            let _ = fs::remove_dir_all(machine.at("/out"));
            let _ = fs::remove_dir_all(machine.at("/certificates"));
            build_stage(name, &machine, context.path(), &arguments);
            let out = listing(&machine.at("/out"));
            check_times(name, &out);
            builds.push(out);
        }
        for build in &mut builds {
            build
                .values_mut()
                .filter(|entry| entry.kind == EntryKind::Directory)
                .for_each(|entry| entry.mtime_ns = 0);
        }
        assert!(builds[0] == builds[1], "{name}: two builds differ");

        // The real OpenSSL of the root loads all of the bundle, and finds the CA of the context.
        let bundle = "/out/etc/ssl/certs/ca-certificates.crt";
        let blocks = support::certificate_blocks(&fs::read(machine.at(bundle)).unwrap()).len();
        assert_eq!(blocks == 1, *name == "scratch", "{name}: {blocks}");
        let loaded = machine.run(&format!("openssl storeutl -noout -certs {bundle}"));
        assert!(loaded.contains(&format!("Total found: {blocks}\n")), "{name}: {blocks}: {loaded}");
        fs::write(machine.at("/corp.pem"), &corp).unwrap();
        let verify = "openssl verify -attime 1780000000";
        machine.run(&format!("{verify} -no-CApath -no-CAstore -CAfile {bundle} /corp.pem"));
        if machine.at("/out/etc/ssl/certs").join("Corp_Root.pem").exists() {
            machine.run(&format!("{verify} -no-CAfile -no-CAstore -CApath /out/etc/ssl/certs /corp.pem"));
        } else {
            assert!(["distroless", "scratch"].contains(name), "{name}: the directory lacks a certificate");
        }

        // The gate holds: a bundle that is cut off fails the build.
        let bytes = fs::read(machine.at(bundle)).unwrap();
        fs::write(machine.at(bundle), &bytes[..bytes.len() - 40]).unwrap();
        let gate = example(name).swap_remove(0).pop().unwrap();
        let variables = [("DATE".to_owned(), DATE.to_owned())];
        let output = machine.run_as(Some("nobody"), &variables, &gate.text);
        assert_eq!(output.status.code(), Some(1), "{name}: {}: {}", gate.text, stderr(&output));
    }
}

#[test]
fn the_debian_package_comes_and_goes() {
    if !full(&["unshare", "cp", "dpkg-deb", "lintian"]) {
        return;
    }
    let Some(machine) = Machine::new() else { return };
    make("deb");
    let deb = built("debian", "castore_", ".deb");

    let output = support::required("lintian")
        .args(["--allow-root", "--fail-on", "error", "--tag-display-limit", "0"])
        .arg(&deb)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));

    let field = |name: &str| {
        let output = support::required("dpkg-deb").arg("-f").arg(&deb).arg(name).output().unwrap();
        stdout(&output).trim().to_owned()
    };
    assert_eq!((field("Section"), field("Priority")), ("admin".into(), "optional".into()));
    assert!(field("Depends").contains("libc6"), "{}", field("Depends"));

    fs::copy(&deb, machine.at("/castore.deb")).unwrap();
    // What the trigger does to a store that is as the package left it is nothing; but once before, to be sure of that.
    machine.run("update-ca-certificates");
    let before = machine.state();

    let said = machine.run("dpkg -i /castore.deb");
    assert!(said.contains("Processing triggers for ca-certificates"), "{said}");
    // As shipped: a report, and not a word.
    assert!(!said.contains("castore hook"), "{said}");
    assert!(machine.at("/var/lib/castore/report.json").exists());
    assert!(machine.changed(&before).is_empty(), "{:?}", machine.changed(&before));

    for (path, mode) in [
        ("/usr/bin/castore", 0o755),
        ("/etc/castore/hook.conf", 0o644),
        ("/etc/ca-certificates/update.d/zz-castore", 0o755),
        ("/usr/share/man/man1/castore.1.gz", 0o644),
        ("/usr/share/man/man1/castore-audit.1.gz", 0o644),
        ("/usr/share/bash-completion/completions/castore", 0o644),
        ("/usr/share/zsh/vendor-completions/_castore", 0o644),
        ("/usr/share/fish/vendor_completions.d/castore.fish", 0o644),
        ("/usr/share/doc/castore/copyright", 0o644),
        ("/usr/share/doc/castore/changelog.gz", 0o644),
        ("/usr/share/doc/castore/changelog.Debian.gz", 0o644),
    ] {
        let meta = fs::symlink_metadata(machine.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let found = (meta.mode() & 0o7777, meta.uid(), meta.gid());
        assert!(meta.is_file() && found == (mode, 0, 0), "{path}: {found:?}");
    }
    let conffiles = machine.run("dpkg-query -W -f '${Conffiles}' castore");
    let mut conffiles: Vec<&str> =
        conffiles.lines().filter_map(|line| line.split_whitespace().next()).collect();
    conffiles.sort_unstable();
    assert_eq!(conffiles, ["/etc/ca-certificates/update.d/zz-castore", "/etc/castore/hook.conf"]);
    assert!(machine.run("castore --version").starts_with("castore "));
    machine.run(&format!("castore audit --at {DATE} --fail-on error"));

    // An administrator's policy, and their layout, outlive an upgrade.
    let policy = "mode = split\n";
    fs::write(machine.at("/etc/castore/hook.conf"), policy).unwrap();
    let link = machine.at("/usr/lib/ssl/cert.pem");
    machine.run("castore tune apply");
    assert!(fs::symlink_metadata(&link).is_err(), "cert.pem is still there");
    let tuned = machine.state();
    machine.run("dpkg -i /castore.deb");
    assert_eq!(fs::read_to_string(machine.at("/etc/castore/hook.conf")).unwrap(), policy);
    assert!(machine.changed(&tuned).is_empty(), "{:?}", machine.changed(&tuned));

    // Removed, it leaves the store as it was, and a hook that does nothing.
    let said = machine.run("dpkg -r castore");
    assert!(!said.contains("castore: "), "{said}");
    assert!(!machine.at("/usr/bin/castore").exists());
    assert!(machine.at("/etc/ca-certificates/update.d/zz-castore").exists());
    assert!(machine.changed(&before).is_empty(), "{:?}", machine.changed(&before));
    let said = machine.run("update-ca-certificates");
    assert!(!said.contains("castore"), "{said}");
    assert!(machine.changed(&before).is_empty(), "{:?}", machine.changed(&before));

    machine.run("dpkg -P castore");
    for path in ["/etc/castore", "/etc/ca-certificates/update.d/zz-castore", "/var/lib/castore"] {
        assert!(fs::symlink_metadata(machine.at(path)).is_err(), "{path} is left after purging");
    }
    assert!(machine.changed(&before).is_empty(), "{:?}", machine.changed(&before));
    assert_eq!(machine.run("dpkg --audit"), "");

    // A castore that fails at everything keeps nobody from anything.
    machine.run("dpkg -i /castore.deb");
    fs::write(machine.at("/usr/bin/castore"), "#!/bin/sh\nexit 2\n").unwrap();
    let said = machine.run("update-ca-certificates");
    assert!(said.contains("castore hook: status 2") && said.ends_with("done.\n"), "{said}");
    let said = machine.run("dpkg -P castore");
    assert!(said.contains("the package goes all the same"), "{said}");
    assert!(machine.changed(&before).is_empty(), "{:?}", machine.changed(&before));
    assert_eq!(machine.run("dpkg --audit"), "");
}

/// What happens to a store in its life, with the package installed and OpenSSL's default file away: after each step the
/// audit has no error, and OpenSSL's defaults look everything up; in the end all is as it was.
#[test]
fn the_store_outlives_what_its_administrators_do() {
    if !full(&["unshare", "cp"]) {
        return;
    }
    let (Some(machine), Some(openssl)) = (Machine::new(), support::material_at("debian/openssl.deb")) else {
        return;
    };
    make("deb");
    fs::copy(built("debian", "castore_", ".deb"), machine.at("/castore.deb")).unwrap();
    fs::copy(openssl, machine.at("/openssl.deb")).unwrap();
    machine.run("update-ca-certificates");
    let before = machine.state();
    let local = "/usr/local/share/ca-certificates/local.crt";
    let make_local = format!(
        "mkdir -p /usr/local/share/ca-certificates && openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -days 30 \
         -subj '/CN=Castore Test Local' -out {local}"
    );
    let found = |name: &str| format!("openssl verify -no-CAfile -CApath /etc/ssl/certs {name} >/dev/null");
    let steps = [
        "dpkg -i /castore.deb".to_owned(),
        "echo 'mode = split' >/etc/castore/hook.conf && castore tune apply".to_owned(),
        format!("{make_local} && update-ca-certificates && {}", found(local)),
        "update-ca-certificates".to_owned(),
        format!("update-ca-certificates --fresh && {}", found(local)),
        format!("mv {local} /local.pem && update-ca-certificates && ! {}", found("/local.pem")),
        "update-ca-certificates --fresh".to_owned(),
        "dpkg -i /openssl.deb".to_owned(),
    ];
    for (at, step) in steps.iter().enumerate() {
        machine.run(step);
        let audit = machine.run_as(None, &[], "castore audit --quiet --fail-on error");
        assert!(audit.status.success(), "{step}: {}{}", stdout(&audit), stderr(&audit));
        let away = fs::symlink_metadata(machine.at("/usr/lib/ssl/cert.pem")).is_err();
        assert_eq!(away, at > 0, "{step}");
    }
    let said = machine.run("dpkg -P castore");
    assert!(!said.contains("castore: "), "{said}");
    assert!(machine.changed(&before).is_empty(), "{:?}", machine.changed(&before));
    assert_eq!(machine.run("dpkg --verify openssl ca-certificates"), "");
}

#[test]
fn the_rpm_package_holds_what_it_should() {
    if !full(&["rpm"]) {
        return;
    }
    make("rpm");
    let package = built("generate-rpm", "castore-", ".rpm");
    let rpm = |options: &[&str]| {
        // A database of its own: Debian's rpm has none, and says so.
        let database = tempfile::tempdir().unwrap();
        let output = support::required("rpm")
            .arg("--dbpath")
            .arg(database.path())
            .args(options)
            .arg(&package)
            .output()
            .unwrap();
        assert!(output.status.success(), "{options:?}: {}", stderr(&output));
        stdout(&output)
    };
    let files = rpm(&["-qp", "--queryformat", "[%{FILEMODES:perms} %{FILEUSERNAME} %{FILENAMES}\n]"]);
    for line in [
        "-rwxr-xr-x root /usr/bin/castore\n",
        "-rw-r--r-- root /etc/castore/hook.conf\n",
        "-rw-r--r-- root /usr/share/man/man1/castore.1\n",
        "-rw-r--r-- root /usr/share/zsh/site-functions/_castore\n",
        "-rwxr-xr-x root /usr/lib/ca-certificates/update.d/zz-castore.run\n",
        "-rw-r--r-- root /usr/lib/systemd/system/castore-hook.path\n",
    ] {
        assert!(files.contains(line), "{line}{files}");
    }
    assert!(files.lines().all(|line| !line.contains("/etc/ca-certificates")), "{files}");
    assert_eq!(rpm(&["-qpc"]), "/etc/castore/hook.conf\n");
    let scripts = rpm(&["-qp", "--scripts"]);
    assert!(scripts.contains("preuninstall scriptlet (using /bin/sh)"), "{scripts}");
    assert!(scripts.contains("/usr/bin/castore tune undo --quiet ||"), "{scripts}");
    assert!(scripts.contains("postuninstall scriptlet (using /bin/sh)"), "{scripts}");
    assert!(rpm(&["-qp", "--requires"]).contains("libc.so.6"));
}
