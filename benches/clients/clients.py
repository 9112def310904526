"""The TLS clients that are measured: how each is found, named and called."""
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from layouts import BUNDLE, WITHOUT_FILE
from namespaces import MOUNTS, PATH, clean_environment

PROGRAMS = Path(__file__).resolve().parent / "programs"
CAFILE = f"{MOUNTS['certs']}/{BUNDLE}"
GO_DEBIAN = "/usr/lib/go-1.19/bin/go"


@dataclass
class Client:
    """A row of the table. In a command PORT stands for the server's port and N for `count`."""

    key: str
    title: str
    command: list[str]
    # Prints versions: of the client and the library that does TLS for it.
    version: list[str]
    count: int = 1
    # What tells whether the layout is accepted, where the measured command makes no connection.
    accept: list[str] | None = None
    extra: dict[str, str] = field(default_factory=dict)
    # It is asked for acceptance alone: the same program with another way to name the store.
    untimed: bool = False
    # The layouts that it refuses: those of a client that names OpenSSL's default file itself, where that is not the bundle.
    refuses: tuple[str, ...] = ()
    # Builds it, where that is needed, and returns why that failed, or nothing.
    build: Callable[[], str] | None = None
    # Why it cannot be run, where that is so.
    absent: str = ""

    def call(self, port: int, accept: bool = False) -> list[str]:
        words = self.accept if accept and self.accept else self.command
        return [str({"PORT": port, "N": self.count}.get(word, word)) for word in fill(words, port)]


def fill(words: list[str], port: int) -> list[str]:
    return [word.replace(":PORT", f":{port}") for word in words]


def program(name: str) -> str:
    return str(PROGRAMS / name)


def interpreted() -> list[Client]:
    python = ["python3", "-B"]
    python_version = [*python, "-c", "import platform, ssl; "
                      "print(f'Python {platform.python_version()}, {ssl.OPENSSL_VERSION}')"]
    handshake = [*python, program("handshake.py"), "PORT", "N"]
    ruby_version = ["ruby", "-ropenssl", "-e",
                    'puts "Ruby #{RUBY_VERSION}, #{OpenSSL::OPENSSL_LIBRARY_VERSION}"']
    curl_version = [*python, "-c", "import pycurl; print(pycurl.version)"]
    return [
        Client("python-context", "Python `ssl.create_default_context()` x 100", accept=handshake, count=100,
               command=[*python, program("contexts.py"), "N"], version=python_version),
        Client("python-handshake", "Python context + handshake x 10", handshake, python_version, count=10),
        Client("python-cafile", "Python `cafile=` the bundle + handshake x 10", [*handshake, CAFILE],
               python_version, count=10),
        Client("ruby-store", "Ruby `X509::Store#set_default_paths` x 20", ["ruby", program("store.rb"), "N"],
               ruby_version, count=20, accept=["ruby", program("net_http.rb"), "PORT", "1"]),
        Client("ruby-http", "Ruby Net::HTTP (one store a process), request x 10",
               ["ruby", program("net_http.rb"), "PORT", "N"], ruby_version, count=10),
        # Its OPENSSL_VERSION_TEXT is of the headers that it was built with: it runs with the system's libssl.
        Client("php", "PHP https stream, request x 10",
               ["php", "-d", "display_errors=1", program("stream.php"), "PORT", "N"],
               ["php", "-r", "echo 'PHP ', PHP_VERSION, ', the system\\'s libssl';"], count=10),
        Client("perl", "Perl IO::Socket::SSL", ["perl", program("socket.pl"), "PORT", "N"],
               ["perl", "-MIO::Socket::SSL", "-e",
                'print "Perl $^V, IO::Socket::SSL $IO::Socket::SSL::VERSION, ", '
                'Net::SSLeay::SSLeay_version()']),
        Client("pycurl", "pycurl on libcurl-gnutls, request x 10",
               [*python, program("pycurl_get.py"), "PORT", "N"], curl_version, count=10),
    ]


def other_ways() -> list[Client]:
    """How else these programs are told of a store."""
    python = ["python3", "-B"]
    version = ["python3", "-c", "import platform; print('Python', platform.python_version())"]
    handshake = [*python, program("handshake.py"), "PORT", "1"]
    requests = [*python, program("requests_get.py"), "PORT"]
    requests_version = [*python, "-c", "import requests; print('requests', requests.__version__)"]
    curl_version = ["curl", "--version"]

    def way(key: str, title: str, command: list[str], version: list[str],
            refuses: tuple[str, ...] = ()) -> Client:
        return Client(key, title, command, version, untimed=True, refuses=refuses)

    return [
        way("python-capath", "Python `capath=` the directory", [*handshake, "--capath", MOUNTS["certs"]], version),
        way("python-openssl-cafile", "Python `cafile=get_default_verify_paths().openssl_cafile`",
            [*handshake, "--openssl-cafile"], version, refuses=WITHOUT_FILE),
        way("requests-file", "Python requests `verify=` the bundle", [*requests, CAFILE], requests_version),
        way("requests-directory", "Python requests `verify=` the directory", [*requests, MOUNTS["certs"]],
            requests_version),
        way("ruby-default-file", "Ruby `cafile: OpenSSL::X509::DEFAULT_CERT_FILE`",
            ["ruby", program("default_file.rb"), "PORT"], ["ruby", "-e", 'puts "Ruby #{RUBY_VERSION}"'],
            refuses=WITHOUT_FILE),
        way("php-default-file", "PHP `cafile` = `openssl_get_cert_locations()['default_cert_file']`",
            ["php", "-d", "display_errors=1", program("default_file.php"), "PORT"],
            ["php", "-r", "echo 'PHP ', PHP_VERSION;"], refuses=WITHOUT_FILE),
        # Where the file is there, curl looks into the directory that it has built in as well.
        way("curl-cacert", f"`curl --cacert {MOUNTS['ssl']}/cert.pem`",
            ["curl", "-sS", "-o", "/dev/null", "--cacert", f"{MOUNTS['ssl']}/cert.pem", "https://localhost:PORT/"],
            curl_version, refuses=tuple(one for one in WITHOUT_FILE if one != "stub")),
    ]


def processes() -> list[Client]:
    url = "https://localhost:PORT/"
    return [
        Client("curl", "curl", ["curl", "-sS", "-o", "/dev/null", url], ["curl", "--version"]),
        Client("openssl", "`openssl s_client`",
               ["openssl", "s_client", "-connect", "127.0.0.1:PORT", "-servername", "localhost",
                "-verify_hostname", "localhost", "-verify_return_error"],
               ["sh", "-c", "openssl version | sed 's/ (Library.*//; s/^/openssl s_client: /'"]),
        # The machine's own configuration could name a CA file.
        Client("git", "`git ls-remote` (libcurl-gnutls)", ["git", "ls-remote", url], ["git", "--version"],
               extra={"GIT_CONFIG_NOSYSTEM": "1"}),
        Client("wget", "wget (GnuTLS)", ["wget", "--no-config", "-nv", "-t", "1", "-O", "/dev/null", url],
               ["wget", "--version"]),
        Client("gnutls-cli", "gnutls-cli", ["gnutls-cli", "-p", "PORT", "localhost"],
               ["gnutls-cli", "--version"]),
    ]


def node() -> list[Client]:
    version = ["node", "-p", "`Node.js ${process.version}, OpenSSL ${process.versions.openssl}`"]
    return [
        Client("node-openssl", "Node.js `--use-openssl-ca`",
               ["node", "--use-openssl-ca", program("get.js"), "PORT"], version),
        Client("node-extra", "Node.js `NODE_EXTRA_CA_CERTS=` the bundle", ["node", program("get.js"), "PORT"],
               version, extra={"NODE_EXTRA_CA_CERTS": CAFILE}),
    ]


def compile_client(command: list[str], folder: Path, environment: dict[str, str], result: Path) -> str:
    """Returns why it failed, or nothing."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode or not result.exists():
        return f"it could not be built: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
    return ""


def go(target: Path, material: Path) -> Client:
    tools = (GO_DEBIAN, str(material / "go/1.27/bin/go"))
    tool = next((path for path in tools if os.access(path, os.X_OK)), "")
    out = target / "go-client"
    client = Client("go", "Go `x509.SystemCertPool` + handshake", [str(out), "PORT"], [tool, "version"])
    if not tool:
        client.absent = "no Go: neither golang-1.19-go nor tests/setup.sh's"
        return client
    environment = clean_environment(str(target)) | {
        "GOCACHE": str(target / "go-cache"), "GOTOOLCHAIN": "local", "GOPROXY": "off", "CGO_ENABLED": "0"}
    command = [tool, "build", "-o", str(out), "."]
    client.build = lambda: compile_client(command, PROGRAMS / "go", environment, out)
    return client


def rustls(target: Path) -> Client:
    folder = PROGRAMS / "rustls"
    out = target / "rustls/release/castore-client-rustls"
    client = Client("rustls", "rustls + rustls-native-certs + handshake", [str(out), "PORT"],
                    version=["echo", locked_versions(folder / "Cargo.lock")])
    if shutil.which("cargo") is None:
        client.absent = "no cargo"
        return client
    # With the caller's environment: that is where cargo finds its registry.
    command = ["cargo", "build", "-q", "--release", "--locked", "--target-dir", str(target / "rustls")]
    client.build = lambda: compile_client(command, folder, dict(os.environ), out)
    return client


def locked_versions(lock: Path) -> str:
    locked = dict(re.findall(r'name = "(.*)"\nversion = "(.*)"', lock.read_text(encoding="utf-8")))
    return ", ".join(f"{name} {locked[name]}" for name in ("rustls", "rustls-native-certs", "ring"))


def find_version(client: Client) -> str:
    """The first line that the client's version command prints; empty when it cannot be run."""
    tool = client.version[0]
    if shutil.which(tool, path=PATH) is None:
        return ""
    environment = clean_environment("/nonexistent")
    done = subprocess.run(client.version, capture_output=True, text=True, env=environment)
    lines = done.stdout.strip().splitlines()
    return lines[0].strip() if done.returncode == 0 and lines else ""


def every(target: Path, material: Path) -> list[Client]:
    return [*interpreted(), *processes(), go(target, material), rustls(target), *node(), *other_ways()]
