# SPDX-License-Identifier: MIT
"""How fast this machine is, beside the one on which the bars were set. Room: tests; used by the tests that judge how long
something takes.

A bar in seconds is a claim about one machine. Here a fixed piece of work of the same kind (text is parsed, numbers are looked up
and packed) takes REFERENCE seconds of processor time there; elsewhere the bars are as much longer as that work is.
"""
import json
import time
import zlib

REFERENCE = 0.040
TRIES = 5


def work():
    rows = [{"time": i * 7919 % 10007, "thread": i % 8, "name": f"region {i % 97}"} for i in range(20000)]
    text = json.dumps(rows)
    sums = {}
    for row in json.loads(text):
        sums[row["name"]] = sums.get(row["name"], 0) + row["time"]
    return len(zlib.compress(text.encode(), 6)) + sum(sums.values())


def times(clock):
    for _ in range(TRIES):
        begin = clock()
        work()
        yield clock() - begin


def slower():
    """How many times as much processor time as there, at least 1."""
    return max(1.0, min(times(time.process_time)) / REFERENCE)


def slower_and_busier():
    """How many times as long as there, at least 1: what the machine's other work leaves of it counts."""
    return max(1.0, sum(times(time.monotonic)) / TRIES / REFERENCE)
