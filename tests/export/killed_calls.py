# SPDX-License-Identifier: MIT
"""killed_calls.py earlier DIRECTORY: the calls that the killed threads were in began a bit earlier, by a clock that differs.
killed_calls.py check FILE: times of Chrome's format never decrease within a thread, and begins and ends match."""
import json
import pathlib
import struct
import sys

HEADER, SLOT, CALL, SINCE = 1 << 20, 1 << 16, 4, 56
EARLIER_NS = 100_000

if sys.argv[1] == "earlier":
    files = list(pathlib.Path(sys.argv[2]).glob("*/.live"))
    assert len(files) == 1, files
    data = bytearray(files[0].read_bytes())
    changed = 0
    for at in range(HEADER, len(data) - SINCE - 8, SLOT):
        if struct.unpack_from("<I", data, at + 4)[0] == CALL:
            since = struct.unpack_from("<Q", data, at + SINCE)[0]
            struct.pack_into("<Q", data, at + SINCE, since - EARLIER_NS)
            changed += 1
    assert changed >= 4, f"{changed} threads are in calls"
    files[0].write_bytes(data)
else:
    last, open_calls, waits = {}, {}, 0
    for e in json.load(open(sys.argv[2]))["traceEvents"]:
        if e["ph"] not in "BE":
            continue
        assert e["ts"] >= last.get(e["tid"], 0), (last[e["tid"]], e)
        last[e["tid"]] = e["ts"]
        open_calls[e["tid"]] = open_calls.get(e["tid"], 0) + (1 if e["ph"] == "B" else -1)
        assert open_calls[e["tid"]] >= 0, e
        waits += e["ph"] == "B" and e["cat"] == "wait"
    assert waits >= 8 and not any(open_calls.values()), (waits, open_calls)
