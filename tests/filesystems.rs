//! Writes on file systems that are full, read-only, mounted over, layered; files that are immutable or somebody else's; and
//! the order in which a write reaches the disk. Mounts are made in a mount namespace of each script's own.
#![allow(clippy::disallowed_methods, reason = "a test that writes files and starts programs")]

mod support;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Output, Stdio};

use support::der::Certificate;

/// A folder with `in.pem` (two certificates) and `old.pem` (one of them), where a script is run as root with mounts.
struct Stage {
    folder: tempfile::TempDir,
    wanted: String,
    old: String,
}

impl Stage {
    /// `None` where there are no mount namespaces to be had.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            assert!(!support::in_ci(), "must be root");
            let _ = writeln!(std::io::stderr(), "skipped: must be root");
            return None;
        }
        if support::skip_without(&["unshare", "openssl", "strace"]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let (one, two) =
            (Certificate::root("Castore One", 1).pem(), Certificate::root("Castore Two", 2).pem());
        let stage = Self { folder, wanted: one.clone() + &two, old: one };
        stage.write("in.pem", &stage.wanted);
        stage.write("old.pem", &stage.old);
        fs::create_dir(stage.folder.path().join("d")).unwrap();
        stage.write("d/out.pem", &stage.old);
        Some(stage)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Runs a script in a mount namespace; `$castore` is the program, and `write` compacts in.pem to d/out.pem.
    fn run(&self, script: &str) -> Output {
        let write =
            "write() { \"$castore\" compact in.pem --bundle d/out.pem --gain accept --quiet \"$@\"; }";
        support::required("unshare")
            .args(["-m", "--propagation", "private", "sh", "-c", &format!("set -e\n{write}\n{script}")])
            .current_dir(self.folder.path())
            .env("castore", support::program())
            .output()
            .unwrap()
    }

    /// Runs a script whose write fails with status 2 and this message.
    fn refused(&self, script: &str, said: &str) {
        let output = self.run(script);
        let complaint = support::complaint(&output);
        assert_eq!(output.status.code(), Some(2), "{script}: {complaint}");
        assert!(complaint.contains(said), "{script}: {complaint}");
        assert_eq!(self.staged(), 0, "{script}: {complaint}");
    }

    fn done(&self, script: &str) -> String {
        let output = self.run(script);
        assert!(output.status.success(), "{script}: {}", support::complaint(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn staged(&self) -> usize {
        let names = support::names_in(&self.folder.path().join("d"));
        names.iter().filter(|name| name.to_string_lossy().starts_with(".castore-")).count()
    }
}

#[test]
fn a_full_file_system() {
    let Some(stage) = Stage::new() else { return };
    // What is in it is shown after the failed write: the old file alone.
    let fill = "cp d/out.pem keep; mount -t tmpfs -o size=64k tmpfs d; cp keep d/out.pem; cp -r keep in2.pem";
    let full = "dd if=/dev/zero of=d/filler bs=1k count=100 2>/dev/null || true";
    let look = "status=0; write || status=$?; cmp d/out.pem keep; test \"$(ls -A d | grep -c castore)\" = 0; exit $status";
    stage.refused(&format!("{fill}; {full}; {look}"), "make room");
    let inodes =
        "cp d/out.pem keep; mount -t tmpfs -o size=1m,nr_inodes=4 tmpfs d; cp keep d/out.pem; touch d/a d/b";
    stage.refused(&format!("{inodes}; {look}"), "df -i");
    assert_eq!(stage.read("d/out.pem"), stage.old);
    // With room again it is done.
    stage.done(&format!(
        "{fill}; {full}; write 2>/dev/null && exit 1; rm d/filler; write; cmp d/out.pem in.pem"
    ));
}

#[test]
fn a_read_only_file_system_and_files_that_cannot_be_replaced() {
    let Some(stage) = Stage::new() else { return };
    stage.refused("mount --bind d d; mount -o remount,ro,bind d; write", "Read-only file system");
    assert_eq!(stage.read("d/out.pem"), stage.old);
    // What is right already needs no write.
    stage.done("cp in.pem d/out.pem; mount --bind d d; mount -o remount,ro,bind d; write");
    stage.write("d/out.pem", &stage.old);
    // A file that something is mounted on, as container engines do.
    let mounted = "touch over; cp d/out.pem over; mount --bind over d/out.pem";
    stage.refused(&format!("{mounted}; write"), "--in-place");
    stage.done(&format!("{mounted}; before=$(stat -c %i over); write --in-place; cmp over in.pem; \\\n             test \"$before\" = \"$(stat -c %i over)\""));
    assert_eq!(stage.read("over"), stage.wanted);
    assert_eq!((stage.read("d/out.pem"), stage.staged()), (stage.old.clone(), 0));
    // And below it a directory that takes no new file.
    let closed = "cp old.pem over; mount --bind d d; mount -o remount,ro,bind d; mount --bind over d/out.pem";
    stage.refused(&format!("{closed}; write"), "Read-only file system");
    stage.done(&format!("{closed}; write --in-place; cmp over in.pem"));
    // Shorter than before: nothing of the old end stays.
    stage.done("cat in.pem in.pem >over; mount --bind over d/out.pem; write --in-place; cmp over in.pem");
}

#[test]
fn layers_of_an_image() {
    let Some(stage) = Stage::new() else { return };
    let layers = "mkdir lower upper; cp -r d lower/d; mount -t tmpfs tmpfs upper; mkdir upper/up upper/work; mkdir merged; \\\n         mount -t overlay overlay -o lowerdir=lower,upperdir=upper/up,workdir=upper/work merged";
    stage.done(&format!(
        "{layers}; \"$castore\" compact in.pem --bundle merged/d/out.pem --capath merged/d --gain accept --quiet; \\\n         cmp merged/d/out.pem in.pem; cmp lower/d/out.pem old.pem; test \"$(ls merged/d | grep -c '[.]0$')\" = 2; \\\n         \"$castore\" rehash merged/d --check --quiet; umount merged upper; rmdir merged upper; rm -r lower"
    ));
}

#[test]
fn quotas_and_immutable_files() {
    let Some(stage) = Stage::new() else { return };
    let traced = "strace -qq -o /dev/null -e trace=write -e inject=write:error=EDQUOT:when=1 \"$castore\" compact in.pem \\\n         --bundle d/out.pem --gain accept --quiet";
    stage.refused(traced, "quota");
    assert_eq!(stage.read("d/out.pem"), stage.old);
    if support::skip_without(&["chattr"]) {
        return;
    }
    // Not every file system knows the mark.
    let marked = stage.run("chattr +i d/out.pem").status.success();
    if marked {
        stage.refused("status=0; write || status=$?; chattr -i d/out.pem; exit $status", "lsattr");
        assert_eq!(stage.read("d/out.pem"), stage.old);
        stage.done("write");
        assert_eq!(stage.read("d/out.pem"), stage.wanted);
    }
}

#[test]
fn other_peoples_files() {
    let Some(stage) = Stage::new() else { return };
    if support::skip_without(&["setpriv"]) {
        return;
    }
    let nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    let write = "\"$castore\" compact in.pem --bundle d/out.pem --gain accept --quiet";
    stage.refused(&format!("{nobody} {write}"), "Permission denied");
    // In a directory of their own they may replace the file, and would become its owner.
    stage.done("chown 65534 d");
    stage.refused(&format!("{nobody} {write}"), "owner and group");
    assert_eq!(stage.read("d/out.pem"), stage.old);
    assert_eq!(fs::metadata(stage.folder.path().join("d/out.pem")).unwrap().uid(), 0);
    // Where anybody may put a file under the name that root writes.
    stage.done("chown 0 d; chmod 777 d");
    stage.refused("write", "others may write");
    stage.refused("\"$castore\" compact in.pem --capath d/new --quiet", "others may write");
    stage.done("chmod 1777 d; write");
    assert_eq!(stage.read("d/out.pem"), stage.wanted);
}

/// Owner, group, mode, attributes and access control lists are those of the file that was there.
#[test]
fn what_a_file_has_is_carried_over() {
    let Some(stage) = Stage::new() else { return };
    let path = stage.folder.path().join("d/out.pem");
    stage.done("chown 12:34 d/out.pem; chmod 640 d/out.pem");
    // POSIX 1003.1e as Linux stores it: version 2; the owner rw, user 65534 r, the group r, the mask r, others nothing.
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 4, 65534), (4, 4, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)];
    let mut acl = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        acl.extend_from_slice(&tag.to_le_bytes());
        acl.extend_from_slice(&permissions.to_le_bytes());
        acl.extend_from_slice(&id.to_le_bytes());
    }
    let set =
        |name: &str, value: &[u8]| rustix::fs::setxattr(&path, name, value, rustix::fs::XattrFlags::empty());
    let attributes = [("user.castore", &b"kept"[..]), ("system.posix_acl_access", &acl)];
    let known: Vec<_> = attributes.iter().filter(|(name, value)| set(name, value).is_ok()).collect();
    let get = |name: &str| {
        let mut value = vec![0; 256];
        let length = rustix::fs::getxattr(&path, name, &mut value[..]).unwrap_or(0);
        value[..length].to_vec()
    };
    let about = || {
        let meta = fs::metadata(&path).unwrap();
        (meta.uid(), meta.gid(), meta.mode() & 0o7777)
    };
    let before = about();
    let inode = fs::metadata(&path).unwrap().ino();
    stage.done("write");
    assert_eq!(stage.read("d/out.pem"), stage.wanted);
    assert_ne!(fs::metadata(&path).unwrap().ino(), inode, "it was written through");
    assert_eq!(about(), before);
    for (name, value) in known {
        assert_eq!(get(name), *value, "{name}");
    }
    // A new file is everybody's to read, whatever the umask.
    stage.done("umask 077; \"$castore\" compact in.pem --bundle d/new.pem --quiet");
    assert_eq!(fs::metadata(stage.folder.path().join("d/new.pem")).unwrap().mode() & 0o7777, 0o644);
}

/// Whoever may read a directory may lock it. Who could not write there keeps nobody from it.
#[test]
fn a_lock_of_somebody_who_may_not_write() {
    let Some(stage) = Stage::new() else { return };
    if support::skip_without(&["setpriv", "flock"]) {
        return;
    }
    let said = stage.run(
        "mkfifo ready done; chmod 666 ready done; \
         setpriv --reuid 65534 --regid 65534 --clear-groups flock d sh -c 'echo locked >ready; read end <done' & \
         read line <ready; test \"$line\" = locked; status=0; write --lock-timeout 0 || status=$?; \
         echo end >done; wait; exit $status",
    );
    let complaint = support::complaint(&said);
    assert!(said.status.success(), "{complaint}");
    let note = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(note.contains("whose user may not write there"), "{note}");
    assert_eq!(stage.read("d/out.pem"), stage.wanted);
}

/// Another directory takes the name after this one was locked: nothing is written in the one that was moved away.
#[test]
fn a_directory_that_is_swapped() {
    let Some(stage) = Stage::new() else { return };
    let mut slow = support::required("strace");
    slow.args(["-qq", "-o", "/dev/null", "-e", "trace=flock", "-e", "inject=flock:delay_exit=400000:when=1"]);
    slow.arg(support::program()).args([
        "compact",
        "in.pem",
        "--bundle",
        "d/out.pem",
        "--gain",
        "accept",
        "--quiet",
    ]);
    let slow =
        slow.current_dir(stage.folder.path()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let held = fs::File::open(stage.folder.path().join("d")).unwrap();
    // The lock is had when it can no longer be had here.
    while rustix::fs::flock(&held, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok() {
        rustix::fs::flock(&held, rustix::fs::FlockOperation::Unlock).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    fs::rename(stage.folder.path().join("d"), stage.folder.path().join("away")).unwrap();
    fs::create_dir(stage.folder.path().join("d")).unwrap();
    stage.write("d/out.pem", &stage.old);
    let output = slow.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", support::complaint(&output));
    assert_eq!(
        (stage.read("away/out.pem"), stage.read("d/out.pem")),
        (stage.old.clone(), stage.wanted.clone())
    );
    assert_eq!(support::names_in(&stage.folder.path().join("away")), ["out.pem"]);
}

/// After a loss of power there is the old or the new: each file is flushed before it takes its name, and the names are
/// flushed before anything old goes, and in the end.
#[test]
fn the_order_in_which_a_write_reaches_the_disk() {
    let Some(stage) = Stage::new() else { return };
    let three = Certificate::root("Castore Three", 3);
    stage.write("d/three.pem", &three.pem());
    stage.write("d/ca-certificates.crt", &stage.old);
    let hash = support::openssl_view(three.pem().as_bytes()).unwrap().subject_hash;
    symlink("three.pem", stage.folder.path().join(format!("d/{hash}.0"))).unwrap();
    let output = stage.run(
        "strace -y -qq -o trace -e trace=fsync,renameat,renameat2,symlinkat,unlinkat \"$castore\" compact in.pem \\\n         --bundle d/ca-certificates.crt --capath d --prune --gain accept --max-shrink 100 --quiet",
    );
    assert!(output.status.success(), "{}", support::complaint(&output));
    let trace = stage.read("trace");
    let calls: Vec<&str> = trace.lines().filter(|line| line.ends_with("= 0")).collect();
    let directory = stage.folder.path().join("d").display().to_string();
    let flushes_directory =
        |line: &&str| line.starts_with("fsync") && line.contains(&format!("<{directory}>"));
    let is_rename = |line: &&str| line.starts_with("renameat");
    let removes = |line: &&str| line.starts_with("unlinkat") && !line.contains(".castore-");
    let mut renamed = 0;
    for (at, line) in calls.iter().enumerate().filter(|(_, line)| is_rename(line)) {
        let staged = line.split('"').nth(1).unwrap();
        let flushed = calls[..at].iter().any(|call| call.starts_with("fsync") && call.contains(staged));
        assert!(flushed, "{line} without a flush before: {trace}");
        renamed += 1;
    }
    // The bundle, and the file of the certificate that the directory has not.
    assert_eq!(renamed, 2, "{trace}");
    let first_removal = calls.iter().position(&removes).expect("a removal");
    let last_new = calls.iter().rposition(|line| is_rename(line) || line.starts_with("symlinkat")).unwrap();
    assert!(last_new < first_removal, "{trace}");
    assert!(calls[last_new..first_removal].iter().any(flushes_directory), "{trace}");
    let bundle = calls.iter().rposition(|line| line.contains("\"ca-certificates.crt\"")).unwrap();
    assert_eq!(bundle, last_new, "the bundle comes behind the files and links: {trace}");
    assert!(flushes_directory(calls.last().unwrap()), "{trace}");
    assert_eq!(calls.iter().filter(|line| removes(line)).count(), 2, "{trace}");
}

/// What a killed run has staged is the next one's to remove, files, links and directories; nobody else's names are.
#[test]
fn what_a_killed_run_leaves() {
    let Some(stage) = Stage::new() else { return };
    let d: &Path = &stage.folder.path().join("d");
    stage.write("d/.castore-1-0.tmp", "half a file");
    symlink("out.pem", d.join(".castore-1-1.tmp")).unwrap();
    fs::create_dir(d.join(".castore-1-2.tmp")).unwrap();
    stage.write("d/.castore-1-2.tmp/a.pem", "half a directory");
    stage.write("d/.castore-1.tmp", "somebody's");
    stage.write("d/castore-1-0.tmp", "somebody's");
    stage.done("write");
    assert_eq!(support::names_in(d), [".castore-1.tmp", "castore-1-0.tmp", "out.pem"]);
}
