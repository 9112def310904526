"""The tables as Markdown, and their place in docs/clients.md."""
import datetime
import os
import statistics
from pathlib import Path

from clients import Client
from layouts import LAYOUTS, Stores
from scale import SIZES, Scale


def number(milliseconds: float) -> str:
    """Three digits or so: more would be noise."""
    return f"{milliseconds:.{0 if milliseconds >= 100 else 1 if milliseconds >= 10 else 2}f}"


def cell(times: list[float], shipped: list[float], accepted: bool) -> str:
    figures = f"{number(min(times))} / {number(statistics.median(times))}"
    if not accepted:
        # It did less work: a ratio would praise it for that.
        return f"**R** {figures}"
    return f"A {figures} ({min(times) / min(shipped):.2f})"


def clients_table(clients: list[Client], times: dict, accepted: dict) -> str:
    lines = ["| CPU ms: minimum / median (ratio) | " + " | ".join(LAYOUTS) + " |",
             "|---" * (len(LAYOUTS) + 1) + "|"]
    for client in clients:
        mine = times[client.key]
        cells = [cell(mine[layout], mine["shipped"], accepted[client.key][layout]) for layout in LAYOUTS]
        lines.append(f"| {client.title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def acceptance_table(clients: list[Client], accepted: dict, layouts: tuple[str, ...]) -> str:
    lines = ["| A accepts, R refuses | " + " | ".join(layouts) + " |", "|---" * (len(layouts) + 1) + "|"]
    for client in clients:
        mine = accepted[client.key]
        lines.append(f"| {client.title} | " + " | ".join("A" if mine[one] else "**R**" for one in layouts) + " |")
    return "\n".join(lines)


def scale_table(rows: list[Scale], stock_count: int) -> str:
    heads = ["OpenSSL", *[f"{size:,}" for size in SIZES], f"stock bundle ({stock_count})", "line, 1 to 144",
             "line, 1 to 1,000", "CApath alone"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        figures = [number(min(row.sizes[size])) for size in SIZES]
        figures += [number(min(row.stock)), equation(row.line(144)), equation(row.line(1000))]
        lines.append(f"| {row.name} | " + " | ".join([*figures, number(min(row.capath))]) + " |")
    return "\n".join(lines)


def equation(line: tuple[float, float]) -> str:
    base, slope = line
    return f"{base:.2f} + {slope:.4f} n"


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def release() -> str:
    for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return "unknown system"


def circumstances(command: str, runs: str, loaded: bool = True) -> str:
    """What was run, when, where; how busy the machine was matters to times alone."""
    today = datetime.date.today().isoformat()
    machine = f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f} at the end; " if loaded else ""
    return f"Written on {today} by `{command}`: {runs}. {machine}{release()}, Linux {os.uname().release}."


def client_versions(clients: list[Client], versions: dict[str, str], left_out: list[Client]) -> str:
    # Rows of one program share its line.
    lines = list(dict.fromkeys(f"- {versions[client.key]}" for client in clients))
    lines += [f"- left out: {client.title}: {client.absent}" for client in left_out]
    return "\n".join(lines)


def store_line(stores: Stores) -> str:
    return (f"The store: ca-certificates {stores.version} and the test CA: {stores.shipped_count} "
            f"certificates, {stores.compacted_count} after `castore compact`.")


def replace_region(text: str, name: str, content: str) -> str:
    """The text between `<!-- NAME: ... -->` and the next `<!-- end -->` becomes content."""
    start = text.index(f"<!-- {name}:")
    body = text.index("-->", start) + 3
    end = text.index("<!-- end -->", body)
    return f"{text[:body]}\n{content}\n{text[end:]}"
