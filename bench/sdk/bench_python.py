#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events of a recording as numpy arrays and as named tuples, by CPU time: the best of five readings, since other load can only add.

    bench/sdk/bench_python.py UPMU SUBJECT [--short] [--no-bars] [--json] [--no-heading]

The floor of arrays is a copy of them: new memory costs more than the bar allows on some virtual machines. There, half the rate of the
copy is the bar.

The package is found by PYTHONPATH and UPMU_LIBRARY. Exit status: 0 all bars met, 1 one missed, 77 skipped.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

READINGS, PAIRS, PAIRS_SHORT, SLACK_SHORT = 5, 500000, 100000, 3
SEVEN = ["time_ns", "tid", "kind", "object", "site", "result", "flags"]


def best(read, events):
    """Million rows a second, of the best reading."""
    least = float("inf")
    for _ in range(READINGS):
        begin = time.process_time()
        rows = read()
        least = min(least, time.process_time() - begin)
        if rows != events:
            sys.exit(f"bench_python FAILED, because {rows} rows were read of {events} events")
    return events / least / 1e6


def copy_rate(arrays, events):
    """Million rows a second of a plain copy of the arrays."""
    return best(lambda: len({name: array.copy() for name, array in arrays.items()}["time_ns"]), events)


def record(upmu, subject, pairs, directory):
    """A recording of many lock events; the number of them."""
    run = subprocess.run([upmu, "record", "-m", "all", "--no-stacks", "-o", directory, "--", subject, "pair", str(pairs)],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"bench_python FAILED, because upmu record ended with {run.returncode}: {run.stderr[-500:]}")


def main():
    paths, options = [a for a in sys.argv[1:] if a[0] != "-"], {a for a in sys.argv[1:] if a[0] == "-"}
    if len(paths) != 2 or options - {"--short", "--no-bars", "--json", "--no-heading"}:
        print(__doc__)
        return 2
    try:
        import numpy  # pylint: disable=unused-import
    except ImportError as problem:
        print(f"bench_python skipped, because {problem} (Debian: python3-numpy)")
        return 77
    import upmu
    short = "--short" in options
    slack = 0 if "--no-bars" in options else SLACK_SHORT if short else 1
    with tempfile.TemporaryDirectory() as directory:
        record(*paths, PAIRS_SHORT if short else PAIRS, os.path.join(directory, "trace"))
        recording = upmu.Recording(os.path.join(directory, "trace"))
        every, seven = recording.events(), recording.events(columns=SEVEN)
        events = sum(1 for _ in recording.events(columns=["kind"]))
        if events < 2 * (PAIRS_SHORT if short else PAIRS):
            sys.exit(f"bench_python FAILED, because the recording has {events} events only")
        rows = [(f"numpy, {title}", 10, best(lambda: len(table.to_numpy()["time_ns"]), events), copy_rate(table.to_numpy(), events))
                for title, table in (("all columns", every), ("seven columns", seven))]
        rows.append(("named tuples, seven columns", 2, best(lambda: sum(1 for _ in seven), events), None))
    missed = False
    if not options & {"--json", "--no-heading"}:
        print(f"{'what':<44} {'M rows/s':>9} {'a copy':>42} {'bar':>9}  verdict")
    for name, bar, rate, floor in rows:
        bar = round(min(bar, floor / 2), 2) if floor else bar
        verdict = "not judged" if not slack else "met" if rate * slack >= bar else "MISSED"
        missed |= verdict == "MISSED"
        if "--json" in options:
            print(json.dumps({"bench": "python", "name": name, "verdict": verdict, "million_rows_per_second": round(rate, 2),
                              "floor": floor and round(floor, 2), "bar": bar, "slack": slack}))
        else:
            print(f"{name:<44} {rate:>9.2f} {f'{floor:.2f}' if floor else '-':>42} {bar:>9}  {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
