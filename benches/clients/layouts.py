"""The layouts of a store that are compared, made from Debian's stock store and a private test CA."""
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from namespaces import MOUNTS, Namespace

BUNDLE = "ca-certificates.crt"
BLOCK = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n", re.DOTALL)
# Column heads, in the order of the table.
LAYOUTS = ("shipped", "compacted", "twice", "split", "one-certificate bundle")


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
    }
    parts["local"].mkdir()
    shutil.copy(root, parts["local"] / "castore-test.crt")
    inside = Namespace(parts, home)
    result = inside.run(["sh", str(image / "usr/sbin/update-ca-certificates"), "--certsconf",
                         str(image / "etc/ca-certificates.conf"), "--hooksdir", ""])
    inside.close()
    if result.status or "1 added" not in result.output:
        raise SystemExit(f"benches/clients: update-ca-certificates did not add the test CA: {result.output}")
    return parts


def make_layouts(stock: Path, work: Path, root: Path, home: str, castore: Path) -> Stores:
    shipped = make_shipped(stock, work, root, home)
    every = blocks(shipped["certs"] / BUNDLE)

    compacted = work / "compacted"
    compacted.mkdir()
    inside = Namespace(shipped, home)
    result = inside.run([str(castore), "compact", MOUNTS["certs"], "--bundle", str(compacted / BUNDLE),
                         "--capath", str(compacted)])
    inside.close()
    if result.status:
        raise SystemExit(f"benches/clients: castore compact failed: {result.output}")

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
