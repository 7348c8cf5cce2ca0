# SPDX-License-Identifier: MIT
"""Speed of this machine relative to the one on which the bars of timing tests were set.

A fixed piece of work (JSON text is parsed and packed, pages of new memory are stored to) takes REFERENCE seconds of processor time
on that machine; on another one the bars are multiplied by the ratio. New memory has a part in it since each page of it is a trap, which some virtual
machines make fifty times as slow.
"""
import json
import mmap
import time
import zlib

REFERENCE, REFERENCE_WITHOUT_MEMORY = 0.043, 0.040
TRIES = 5
NEW_MEMORY = 16 << 20


def touch(size):
    """Memory of malloc() is new the first time only: it keeps what is freed, and a browser's process begins with none."""
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory[::mmap.PAGESIZE] = b"1" * (size // mmap.PAGESIZE)
    return size


def work(new_memory=NEW_MEMORY):
    rows = [{"time": i * 7919 % 10007, "thread": i % 8, "name": f"region {i % 97}"} for i in range(20000)]
    text = json.dumps(rows)
    sums = {}
    for row in json.loads(text):
        sums[row["name"]] = sums.get(row["name"], 0) + row["time"]
    return len(zlib.compress(text.encode(), 6)) + sum(sums.values()) + (touch(new_memory) if new_memory else 0)


def times(clock):
    """Ratios to the reference machine, the larger one of the work with and without new memory."""
    for _ in range(TRIES):
        begin = clock()
        work(0)
        middle = clock()
        work()
        yield max((middle - begin) / REFERENCE_WITHOUT_MEMORY, (clock() - middle) / REFERENCE)


def slower():
    """The processor time of the work here by that of the reference machine, at least 1."""
    return max(1.0, min(times(time.process_time)))


def slower_and_busier():
    """The duration of the work here, other load included, by that of the reference machine, at least 1."""
    return max(1.0, sum(times(time.monotonic)) / TRIES)
