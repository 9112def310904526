"""The layouts of a store that are compared, made from Debian's stock store and a private test CA."""
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from namespaces import MOUNTS, Namespace

BUNDLE = "ca-certificates.crt"
BLOCK = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n", re.DOTALL)
# Column heads, in the order of the table of times.
LAYOUTS = ("shipped", "compacted", "twice", "split", "one-certificate bundle")
# And of the table of who accepts what: what castore makes of the shipped one.
CHANGED = ("shipped", "compacted", "absent", "stub", "undone", "hook: dedupe", "hook: split")
# Where OpenSSL's default file is not the bundle any more.
WITHOUT_FILE = ("absent", "stub", "hook: split")
HOOK = Path(__file__).resolve().parents[2] / "packaging/zz-castore"


@dataclass
class Stores:
    """The parts of each layout, and what is to be said of them."""

    parts: dict[str, dict[str, Path]]
    version: str
    shipped_count: int
    compacted_count: int


def blocks(bundle: Path) -> list[str]:
    return BLOCK.findall(bundle.read_text(encoding="ascii"))


def make_authority(folder: Path, name: str) -> tuple[Path, Path]:
    """A root and a chain file for localhost under it: (root.crt, chain.pem with the key)."""
    folder.mkdir()
    (folder / "root.cnf").write_text(
        f"[req]\nprompt=no\ndistinguished_name=dn\nx509_extensions=ext\n[dn]\nO=castore\nCN={name}\n"
        "[ext]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n"
        "subjectKeyIdentifier=hash\n", encoding="ascii")
    (folder / "leaf.cnf").write_text(
        "[req]\nprompt=no\ndistinguished_name=dn\n[dn]\nCN=localhost\n", encoding="ascii")
    (folder / "leaf.ext").write_text(
        "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n"
        "extendedKeyUsage=serverAuth\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n"
        "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n", encoding="ascii")
    for command in (
        "req -x509 -config root.cnf -newkey rsa:2048 -nodes -sha256 -days 30 -keyout root.key -out root.crt",
        "req -config leaf.cnf -newkey rsa:2048 -nodes -keyout leaf.key -out leaf.csr",
        "x509 -req -in leaf.csr -CA root.crt -CAkey root.key -CAcreateserial -sha256 -days 20 "
        "-extfile leaf.ext -out leaf.crt",
    ):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    chain = folder / "chain.pem"
    chain.write_text((folder / "leaf.key").read_text() + (folder / "leaf.crt").read_text())
    return folder / "root.crt", chain


def copy(source: Path, target: Path) -> Path:
    return Path(shutil.copytree(source, target, symlinks=True))


def openssl_folder(image: Path, target: Path) -> Path:
    """OPENSSLDIR as Debian ships it, with the machine's configuration beside cert.pem and certs."""
    copy(image / "usr/lib/ssl", target)
    machine = Path(MOUNTS["ssl"])
    if (machine / "openssl.cnf").exists():
        (target / "openssl.cnf").symlink_to("/etc/ssl/openssl.cnf")
    return target


def make_state(target: Path) -> Path:
    """A /var/lib with what dpkg-divert needs, and nothing of the machine's."""
    for folder in ("dpkg/info", "dpkg/updates"):
        (target / folder).mkdir(parents=True)
    for name in ("status", "available", "diversions"):
        (target / "dpkg" / name).touch()
    return target


def make_shipped(stock: Path, work: Path, root: Path, home: str) -> dict[str, Path]:
    """Debian's store with the test CA, which its own update-ca-certificates puts in, as on any machine."""
    image = stock / "image"
    folder = work / "shipped"
    folder.mkdir()
    parts = {
        "certs": copy(image / "etc/ssl/certs", folder / "certs"),
        "ssl": openssl_folder(image, folder / "ssl"),
        "share": copy(image / "usr/share/ca-certificates", work / "share"),
        "local": work / "local",
        "state": make_state(work / "state"),
    }
    parts["local"].mkdir()
    shutil.copy(root, parts["local"] / "castore-test.crt")
    output = run_inside(parts, home, [update(stock)])
    if "1 added" not in output:
        raise SystemExit(f"benches/clients: update-ca-certificates did not add the test CA: {output}")
    return parts


def update(stock: Path, hooks: Path | str = "") -> list[str]:
    """The package's own updater."""
    image = stock / "image"
    return ["sh", str(image / "usr/sbin/update-ca-certificates"), "--certsconf",
            str(image / "etc/ca-certificates.conf"), "--hooksdir", str(hooks)]


def run_inside(parts: dict[str, Path], home: str, commands: list[list[str]]) -> str:
    """What the last of the commands printed; each of them must succeed."""
    inside = Namespace(parts, home)
    try:
        for command in commands:
            result = inside.run(command)
            if result.status:
                raise SystemExit(f"benches/clients: {' '.join(command)}: status {result.status}: {result.output}")
        return result.output
    finally:
        inside.close()


def make_hooks(folder: Path, mode: str, castore: Path) -> Path:
    """A directory with the package's hook, which calls this program with a policy of its own."""
    hooks = folder / "update.d"
    hooks.mkdir(parents=True)
    policy = folder / "hook.conf"
    policy.write_text(f"mode = {mode}\n", encoding="ascii")
    text = HOOK.read_text(encoding="utf-8")
    installed = "/usr/bin/castore"
    assert text.count(f"{installed} hook") == 1
    text = text.replace(f"{installed} hook", f"{castore} hook --config {policy}").replace(installed, str(castore))
    (hooks / HOOK.name).write_text(text, encoding="utf-8")
    (hooks / HOOK.name).chmod(0o755)
    return hooks


def tree(folder: Path) -> dict[str, tuple]:
    """Everything that `castore tune undo` is to restore: kind, mode, owner, where links point, what files hold."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        content = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (about.st_mode, about.st_uid, about.st_gid, content)
    return found


class Changed:
    """Makes the layouts of CHANGED: each is a copy of the shipped one on which castore itself has worked."""

    def __init__(self, stores: Stores, stock: Path, work: Path, home: str, castore: Path) -> None:
        self.shipped = stores.parts["shipped"]
        self.compacted = stores.parts["compacted"]
        self.stock, self.work, self.home, self.castore = stock, work, home, castore

    def all(self) -> dict[str, dict[str, Path]]:
        tune = [str(self.castore), "tune"]
        apply = [*tune, "apply", "--without-hook"]
        stub = [*apply, "--cert-file", "stub"]
        undone = self.changed("undone", [apply, [*tune, "undo"], stub, [*tune, "undo"]])
        for part in ("certs", "ssl"):
            if tree(undone[part]) != tree(self.shipped[part]):
                raise SystemExit(f"benches/clients: castore tune undo: {MOUNTS[part]} is not as it was")
        if (undone["state"] / "dpkg/diversions").read_text():
            raise SystemExit("benches/clients: castore tune undo: a diversion is left")
        layouts = (self.shipped, self.compacted, self.changed("absent", [apply]),
                   self.changed("stub", [stub]), undone, self.deduplicated(),
                   self.looked_after([apply]))
        return dict(zip(CHANGED, layouts))

    def changed(self, name: str, commands: list[list[str]]) -> dict[str, Path]:
        parts = {part: copy(path, self.work / name / part) for part, path in self.shipped.items()}
        run_inside(parts, self.home, commands)
        return parts

    def deduplicated(self) -> dict[str, Path]:
        """An administrator adds a root that the package has; the updater writes it twice, the hook once."""
        name = "hook-dedupe"
        parts = self.changed(name, [["true"]])
        root = next((parts["share"] / "mozilla").glob("*.crt"))
        shutil.copy(root, parts["local"] / "repeated.crt")
        every = len(blocks(self.shipped["certs"] / BUNDLE))
        run_inside(parts, self.home, [update(self.stock)])
        assert len(blocks(parts["certs"] / BUNDLE)) == every + 1
        hooks = make_hooks(self.work / name, "dedupe", self.castore)
        run_inside(parts, self.home, [update(self.stock, hooks)])
        if len(blocks(parts["certs"] / BUNDLE)) != every:
            raise SystemExit("benches/clients: castore hook: the repeated certificate is still there")
        return parts

    def looked_after(self, commands: list[list[str]]) -> dict[str, Path]:
        """The server's CA comes after the default file has gone: the updater adds it, and the hook finds it by hash."""
        name = "hook-split"
        parts = self.changed(name, [["true"]])
        hooks = make_hooks(self.work / name, "split", self.castore)
        local = parts["local"] / "castore-test.crt"
        later = local.rename(self.work / name / "later.crt")
        run_inside(parts, self.home, [[*update(self.stock), "--fresh"], *commands])
        shutil.copy(later, local)
        output = run_inside(parts, self.home, [update(self.stock, hooks)])
        assert "1 added" in output, output
        if (parts["ssl"] / "cert.pem").is_symlink():
            raise SystemExit("benches/clients: castore hook: OpenSSL's default file is back")
        return parts


def make_layouts(stock: Path, work: Path, root: Path, home: str, castore: Path) -> Stores:
    shipped = make_shipped(stock, work, root, home)
    every = blocks(shipped["certs"] / BUNDLE)

    compacted = work / "compacted"
    compacted.mkdir()
    run_inside(shipped, home, [[str(castore), "compact", MOUNTS["certs"], "--bundle", str(compacted / BUNDLE),
                                "--capath", str(compacted)]])
    twice = copy(shipped["certs"], work / "twice")
    (twice / BUNDLE).write_text("".join(every) * 2, encoding="ascii")

    split = copy(shipped["ssl"], work / "split")
    (split / "cert.pem").unlink()

    one = copy(shipped["certs"], work / "one")
    test_root = root.read_text(encoding="ascii")
    # Any but the test CA: who reads the file alone is to find another one in it.
    (one / BUNDLE).write_text(next(block for block in every if block != test_root), encoding="ascii")

    changes = ({}, {"certs": compacted}, {"certs": twice}, {"ssl": split}, {"certs": one})
    return Stores(
        parts={name: shipped | change for name, change in zip(LAYOUTS, changes)},
        version=(stock / "VERSION").read_text(encoding="ascii").strip(),
        shipped_count=len(every),
        compacted_count=len(blocks(compacted / BUNDLE)),
    )
