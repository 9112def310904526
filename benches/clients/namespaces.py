"""A mount namespace for each layout, with one worker process inside that starts the clients.

The worker is started once: a client's CPU time then has no `unshare` and no `mount` in it. This file is that
worker as well, when it is run as a program.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

# Where a layout is seen, by the name of its part. "share" and "local" hold what Debian's links lead to.
MOUNTS = {
    "certs": "/etc/ssl/certs",
    "ssl": "/usr/lib/ssl",
    "share": "/usr/share/ca-certificates",
    "local": "/usr/local/share/ca-certificates",
    # dpkg's table of diversions, and what castore remembers.
    "state": "/var/lib",
}
# The distribution's programs alone: those of /usr/local and of a user's HOME have libraries of their own.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# A client that takes longer than this hangs.
TIMEOUT_SECONDS = 300


@dataclass
class Result:
    """What became of one child: its status, its CPU time and the end of what it printed."""

    status: int
    milliseconds: float
    output: str


def clean_environment(home: str) -> dict[str, str]:
    """Nothing of the caller's: SSL_CERT_FILE and its like would decide instead of the layout."""
    return {"PATH": PATH, "HOME": home, "LANG": "C"}


class Namespace:
    """Runs commands where the parts of a layout are mounted over the machine's store."""

    def __init__(self, parts: dict[str, Path], home: str) -> None:
        mounts = json.dumps({name: str(path) for name, path in parts.items()})
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", __file__,
                   os.readlink("/proc/self/ns/mnt"), mounts]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=clean_environment(home))
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("benches/clients: must be root for mount namespaces, with CAP_SYS_ADMIN (in a "
                             "container: --privileged): none could be made")

    def run(self, command: list[str], extra: dict[str, str] | None = None) -> Result:
        json.dump({"command": command, "extra": extra or {}}, self.process.stdin)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("benches/clients: the worker of a mount namespace ended by itself")
        return Result(**json.loads(answer))

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def run_child(command: list[str], environment: dict[str, str]) -> Result:
    with tempfile.TemporaryFile() as out:
        # In its own session, so that a client that hangs goes with its children.
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment,
                                 cwd=environment["HOME"], start_new_session=True)
        timer = threading.Timer(TIMEOUT_SECONDS, os.killpg, (child.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        # wait4 has reaped it; Popen is not to try again.
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0, os.SEEK_END)
        out.seek(max(0, out.tell() - 100_000))
        text = out.read().decode("utf-8", "replace")
    return Result(child.returncode, (usage.ru_utime + usage.ru_stime) * 1000, text)


def worker(outside: str, parts: dict[str, str]) -> None:
    if os.readlink("/proc/self/ns/mnt") == outside:
        sys.exit("this is not a mount namespace of its own: nothing is mounted")
    for part, source in parts.items():
        subprocess.run(["mount", "--bind", source, MOUNTS[part]], check=True)
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        result = run_child(request["command"], dict(os.environ) | request["extra"])
        print(json.dumps(vars(result)), flush=True)


if __name__ == "__main__":
    worker(sys.argv[1], json.loads(sys.argv[2]))
