"""The second table: what a context costs by the number of certificates, with each version of OpenSSL."""
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from layouts import blocks
from namespaces import clean_environment

HERE = Path(__file__).resolve().parent
SIZES = (1, 10, 144, 1000)
# Each version's process runs this often, in turn with the others, with so many rounds each time.
TURNS = 3
ROUNDS = 7
# The cryptography that makes the certificates: any that Python 3.11 can load does.
MAKER = "3.5.6"


@dataclass
class Scale:
    """One row: milliseconds of every round, for the directory, the sizes and the stock bundle."""

    version: str
    capath: list[float]
    sizes: dict[int, list[float]]
    stock: list[float]

    @property
    def name(self) -> str:
        """Without the date; pyOpenSSL's is inside a wheel."""
        return self.version.split()[1]

    def line(self, largest: int) -> tuple[float, float]:
        """Base and slope through the minima of the sizes up to `largest`, by least squares."""
        points = [(size, min(times)) for size, times in self.sizes.items() if size <= largest]
        slope, base = statistics.linear_regression(*zip(*points))
        return base, slope


def make_files(folder: Path, stock_bundle: Path, material: Path) -> list[Path]:
    folder.mkdir()
    everything = folder / "all.pem"
    packages = material / "openssl" / MAKER
    environment = clean_environment(str(folder)) | {"PYTHONPATH": str(packages)}
    command = ["python3", "-B", str(HERE / "make_certificates.py"), str(max(SIZES)), str(stock_bundle),
               str(everything)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"benches/clients: no certificates for --scale (tests/setup.sh brings cryptography "
                         f"into {packages}): {done.stderr.strip()}")
    certificates = blocks(everything)
    files = []
    for size in SIZES:
        files.append(folder / f"{size}.pem")
        files[-1].write_text("".join(certificates[:size]), encoding="ascii")
    return files


def measure_one(mode: str, packages: Path | None, arguments: list[str], home: Path) -> dict:
    environment = clean_environment(str(home)) | ({"PYTHONPATH": str(packages)} if packages else {})
    # -W ignore: cryptography warns of old Pythons and old OpenSSLs.
    program = str(HERE / "programs/scale.py")
    command = ["python3", "-B", "-W", "ignore", program, mode, str(ROUNDS), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"benches/clients: --scale with {packages or 'the system'}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def version_key(folder: Path) -> list[int]:
    return [int("".join(filter(str.isdigit, part)) or 0) for part in folder.name.split(".")]


def measure(work: Path, certs: Path, bundle: Path, material: Path) -> list[Scale]:
    files = make_files(work / "scale", bundle, material)
    arguments = [str(path) for path in (certs, *files, bundle)]
    found = sorted((material / "openssl").glob("*"), key=version_key)
    programs: list[tuple[str, Path | None]] = [("system", None), *[("pyopenssl", folder) for folder in found]]
    rows: dict[int, Scale] = {}
    for turn in range(TURNS):
        for index, (mode, packages) in enumerate(programs):
            name = packages.name if packages else "system"
            print(f"scale: turn {turn + 1} of {TURNS}, OpenSSL {name}", file=sys.stderr, flush=True)
            answer = measure_one(mode, packages, arguments, work)
            new = Scale(answer["version"], capath=[], sizes={size: [] for size in SIZES}, stock=[])
            row = rows.setdefault(index, new)
            capath, *sizes, stock = answer["times"]
            row.capath += capath
            row.stock += stock
            for size, times in zip(SIZES, sizes):
                row.sizes[size] += times
    return list(rows.values())
