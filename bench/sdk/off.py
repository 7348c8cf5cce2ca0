# SPDX-License-Identifier: MIT
"""Nanoseconds of CPU time of `with region:` in a loop while regions are off, the loop's included, beside an empty context manager of
the interpreter's own (a lock): the least of 20 readings."""
import threading
import time

import upmu

N = 200000


def each(manager):
    begin = time.process_time()
    for _ in range(N):
        with manager:
            pass
    return (time.process_time() - begin) * 1e9 / N


def main():
    region, lock = upmu.region("measured"), threading.Lock()
    pairs = [(each(region), each(lock)) for _ in range(20)]
    print(f"Python context manager, off\t{min(p[0] for p in pairs):.1f}\t{min(p[1] for p in pairs):.1f}")


main()
