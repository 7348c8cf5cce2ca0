#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts a function, measures regions, records locks and shows the waits.

    python3 -m upmu run example.py [DIR]
"""
import sys
import threading
import time

import upmu

parse = upmu.region("parse")


@upmu.region("sum up")
def sum_up(numbers):
    return sum(number % 7919 for number in numbers)


def count():
    with upmu.Set("task-clock,page-faults,instructions") as counters:
        total = sum_up(range(300000))
    print(f"sum {total}")
    for value in counters.read():
        print(f"  {value.name:14} {value.value if value.value is not None else value.reason} ({value.status})")


def contend(directory):
    lock = threading.Lock()

    def work():
        for _ in range(5):
            with parse, lock:
                time.sleep(0.002)

    with upmu.sync_session(directory):
        threads = [threading.Thread(target=work, name=f"parser {i}") for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for wait in upmu.Recording(directory).waits[:5]:
        print(f"  {wait.thread} waited {wait.duration_ns / 1e6:.1f} ms for {wait.object or wait.object_type}")


def main():
    upmu.setup()
    count()
    if len(sys.argv) > 1:
        contend(sys.argv[1])
    stats = upmu.region_stats("sum up")
    print(f"{stats.name}: {stats.wall.sum / 1e6:.1f} ms")


main()
