#!/usr/bin/env python3
"""How often `castore measure --vs` is right: a store against a copy of itself, and against the same with each certificate
twice.

    benches/measure_verdicts.py CASTORE BUNDLE [RUNS] [--quiet]

Runs each 20 times (or RUNS), by default while a busy loop runs for every CPU, and prints the verdicts, the extremes of the
ratios and how long a run took. Expected: 20 of 20 within noise; 20 of 20 slower, with a ratio between 1.8 and 2.2.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

LOOP = "while True: pass"


def main():
    words = [word for word in sys.argv[1:] if word != "--quiet"]
    if len(words) not in (2, 3):
        sys.exit(__doc__)
    castore, bundle, runs = words[0], words[1], int(words[2]) if len(words) == 3 else 20
    loops = [] if "--quiet" in sys.argv else [
        subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(os.cpu_count() or 1)
    ]
    try:
        with tempfile.TemporaryDirectory() as folder:
            one, copy, twice = (os.path.join(folder, name) for name in ("one.pem", "copy.pem", "twice.pem"))
            shutil.copy(bundle, one)
            shutil.copy(bundle, copy)
            text = open(bundle, "rb").read()
            open(twice, "wb").write(text + (b"" if text.endswith(b"\n") else b"\n") + text)
            print(f"{len(loops)} busy loops, {runs} runs each")
            wrong = series(castore, "a copy of itself", one, copy, runs, "within-noise", (0, 9))
            wrong += series(castore, "each certificate twice", one, twice, runs, "slower", (1.8, 2.2))
    finally:
        for loop in loops:
            loop.kill()
    sys.exit(1 if wrong else 0)


def series(castore, name, one, other, runs, expected, limits):
    verdicts, ratios, pairs, took = collections.Counter(), [], [], []
    for _ in range(runs):
        start = time.monotonic()
        output = subprocess.run(
            [castore, "measure", "--format", "json", one, "--vs", other], check=True, capture_output=True
        )
        took.append(time.monotonic() - start)
        row = json.loads(output.stdout)["measure"]["comparisons"][0]
        verdicts[row["verdict"]] += 1
        ratios.append(row["ratio"])
        pairs.append(row["pairs"])
    outside = sum(not limits[0] <= ratio <= limits[1] for ratio in ratios)
    print(f"{name}:")
    print(f"  verdicts  {dict(verdicts)}, expected {expected}")
    print(f"  ratios    {min(ratios):.3f} to {max(ratios):.3f}, outside {limits}: {outside}")
    print(f"  pairs     {min(pairs)} to {max(pairs)}; {min(took):.1f} to {max(took):.1f} s a run", flush=True)
    return runs - verdicts[expected] + outside


main()
