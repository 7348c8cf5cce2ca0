# SPDX-License-Identifier: MIT
"""limit.py PREFIX: compares PREFIX.chrome and PREFIX.perfetto with PREFIX.csv, which has every event; writes a time to
PREFIX.half after which a timeline omits nothing."""
import csv, json, sys

LIMIT = 262144
prefix = sys.argv[1]

with open(prefix + ".csv", newline="") as file:
    table = csv.reader(file)
    head = next(table)
    time, tid, kind = head.index("time_ns"), head.index("tid"), head.index("kind")
    rows = [(int(r[time]), r[tid], r[kind]) for r in table if r[kind] in ("begin", "end", "mark")]
first = rows[0][0]
stacks, lengths, marks = {}, [], 0
for ns, thread, what in rows:
    stack = stacks.setdefault(thread, [])
    if what == "begin":
        stack.append(ns)
    elif what == "end":
        lengths.append(ns - stack.pop())
    else:
        marks += 1
lengths.sort(reverse=True)
assert len(lengths) > 300000 and marks == 270000, (len(lengths), marks)

with open(prefix + ".chrome") as file:
    chrome = json.load(file)
begun, kept, points = [], [], {"i": [], "C": []}
for e in chrome["traceEvents"]:
    if e["ph"] == "B":
        begun.append(e)
    elif e["ph"] == "E":
        kept.append((round(e["ts"] * 1000) - round(begun[-1]["ts"] * 1000), begun.pop()["name"]))
    elif e["ph"] in points:
        points[e["ph"]].append(e["ts"])
assert not begun
assert sorted((ns for ns, _ in kept), reverse=True) == lengths[:LIMIT], "not the longest"
assert any(name == "whole" for _, name in kept)
assert int(chrome["otherData"]["omitted"]) == len(lengths) - LIMIT
times = [(ns - first) / 1000 for ns, _, _ in rows]
with open(prefix + ".firefox") as file:
    threads = json.load(file)["threads"]
assert sum(1 for t in threads for phase in t["markers"]["phase"] if phase == 1) == LIMIT, "other spans in firefox"
for phase, at in points.items():
    assert LIMIT / 4 <= len(at) <= LIMIT, (phase, len(at))
assert abs(points["C"][len(points["C"]) // 2] - times[len(times) // 2]) < times[-1] / 3, "readings are not even"

# Packets of perfetto: each begin, end, mark and reading is one.
def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at

def fields(data, at, end):
    """Of the message in data[at:end]: number, begin and end of each; of one with a number, that number and None."""
    while at < end:
        key = data[at]
        key, at = (key, at + 1) if key < 128 else varint(data, at)
        if key & 7 == 1:
            value, stop, at = at, at + 8, at + 8
        else:
            value = data[at]
            value, at = (value, at + 1) if value < 128 else varint(data, at)
            stop = None
            if key & 7 == 2:
                value, stop, at = at, at + value, at + value
        yield key >> 3, value, stop

EVENT, TYPE = 11, 9
types = {1: 0, 2: 0, 3: 0, 4: 0}
with open(prefix + ".perfetto", "rb") as file:
    data = file.read()
for _, packet, packet_end in fields(data, 0, len(data)):
    for number, event, event_end in fields(data, packet, packet_end):
        if number == EVENT:
            types[next(value for field, value, _ in fields(data, event, event_end) if field == TYPE)] += 1
assert types[1] == types[2] == LIMIT, types
assert types[3] == len(points["i"]) and types[4] == len(points["C"]), (types, len(points["i"]), len(points["C"]))

with open(prefix + ".half", "w") as file:
    begins = [t for t, (_, _, what) in zip(times, rows) if what == "begin"]
    file.write(f"{begins[len(begins) // 5 * 4] / 1e6:.9f}")
