"""CPU time of new contexts: one that loads each FILE, and one that is given DIRECTORY alone.

    scale.py system|pyopenssl ROUNDS DIRECTORY FILE...

Prints JSON: the OpenSSL that did it, and for each argument the milliseconds of every round. The arguments
take turns, so that a change of the machine's speed meets all alike.
"""
import gc
import json
import sys
import time
from typing import Callable

Load = Callable[[str, bool], None]


def system() -> tuple[str, Load]:
    import ssl

    def load(path: str, folder: bool) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(capath=path) if folder else context.load_verify_locations(path)

    return ssl.OPENSSL_VERSION, load


def pyopenssl() -> tuple[str, Load]:
    from OpenSSL import SSL

    # Old ones call it by the name that OpenSSL had for it then.
    method = getattr(SSL, "TLS_METHOD", SSL.SSLv23_METHOD)

    def load(path: str, folder: bool) -> None:
        context = SSL.Context(method)
        context.load_verify_locations(None, path) if folder else context.load_verify_locations(path)

    return SSL.SSLeay_version(SSL.SSLEAY_VERSION).decode("ascii"), load


def main() -> None:
    version, load = {"system": system, "pyopenssl": pyopenssl}[sys.argv[1]]()
    rounds, paths = int(sys.argv[2]), sys.argv[3:]
    times: list[list[float]] = [[] for _ in paths]
    gc.disable()
    for _ in range(rounds):
        for index, path in enumerate(paths):
            # Twice, and the second counts: the first finds the heap as the argument before has left it, which
            # after a large one costs milliseconds.
            load(path, index == 0)
            start = time.process_time_ns()
            load(path, index == 0)
            times[index].append((time.process_time_ns() - start) / 1e6)
    json.dump({"version": version, "times": times}, sys.stdout)


main()
