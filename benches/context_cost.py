#!/usr/bin/env python3
"""What one OpenSSL context costs that loads a CAfile of n certificates: the ground of castore's estimate.

    benches/context_cost.py BUNDLE

Takes the first 1, 10, 50, 100 and all certificates of BUNDLE, loads each file into new contexts of Python's ssl (the
libssl that Python is linked to), and prints CPU time: the minimum and the median of the runs, and the line through the
minima by least squares. Runs take turns, so that a change of the machine's speed meets all sizes alike.
"""
import gc
import os
import re
import ssl
import statistics
import sys
import tempfile
import time

ROUNDS = 40


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        os.environ.pop(name, None)
    text = open(sys.argv[1], encoding="ascii", errors="replace").read()
    blocks = re.findall(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n", text, re.DOTALL)
    sizes = [n for n in (1, 10, 50, 100) if n < len(blocks)] + [len(blocks)]
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for n in sizes:
            files[n] = os.path.join(folder, f"{n}.pem")
            with open(files[n], "w", encoding="ascii") as out:
                out.writelines(blocks[:n])
        times = {n: [] for n in sizes}
        gc.disable()
        for _ in range(ROUNDS):
            for n in sizes:
                start = time.process_time_ns()
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.load_verify_locations(files[n])
                del context
                times[n].append((time.process_time_ns() - start) / 1e6)
    print(f"{ssl.OPENSSL_VERSION}, {ROUNDS} contexts each, CPU ms")
    for n in sizes:
        print(f"{n:>6} certificates  min {min(times[n]):8.3f}  median {statistics.median(times[n]):8.3f}")
    points = [(n, min(times[n])) for n in sizes]
    slope, base = statistics.linear_regression(*zip(*points))
    print(f"line through the minima: {base:.2f} + {slope:.3f} n ms")


main()
