# SPDX-License-Identifier: MIT
"""Exports and JSON report of a recording in which the processes of two pid namespaces have the same ids."""
import collections
import json
import sys

import arrow
import formats

base = sys.argv[1]
with open(base + ".json", encoding="utf-8") as file:
    report = json.load(file)
same = [pid for pid, n in collections.Counter(p["pid"] for p in report["processes"]).items() if n > 1]
assert same, "no id is there twice"
for table in ("threads", "objects", "regions", "pairs", "paths"):
    for row in report[table]:
        assert report["processes"][row["process"]]["pid"] == row["pid"], (table, row)

with open(base + ".chrome", encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
names = [(e["pid"], e["args"]["name"]) for e in events if e["ph"] == "M" and e["name"] == "process_name"]
assert len({pid for pid, _ in names if pid % 10000000 in same}) > len(same), names
assert any("(#2 of pid %d)" % pid in name for pid in same for _, name in names), names
lanes = collections.defaultdict(list)
for e in events:
    lane = lanes[e["pid"], e["tid"]]
    if e["ph"] == "M" and e["name"] == "thread_name":
        lane.append(e["args"]["name"])
for lane, threads in lanes.items():
    assert len(threads) < 2 or lane[0] not in same, (lane, threads)

with open(base + ".folded", encoding="utf-8") as file:
    threads = {line.split(";")[0] for line in file}
assert any("(#2 of pid" in name for name in threads), threads
with open(base + ".firefox", encoding="utf-8") as file:
    pids = {t["pid"] for t in json.load(file)["threads"]}
assert any(int(pid) > 10000000 for pid in pids), pids
with open(base + ".jsonl", encoding="utf-8") as file:
    rows = [(row["process"], row["pid"], row["tid"], row["time_ns"], row["kind"]) for row in map(json.loads, file)]
assert len({row[:2] for row in rows}) >= 2 and len({row[1] for row in rows}) < len({row[0] for row in rows})
# Tables have the number of the process in each row.
table = [tuple(int(row[c]) for c in ("process", "pid", "tid", "time_ns")) + (row["kind"],) for row in formats.table(base + ".csv")]
assert table == rows, "process of CSV rows"
_, columns, _ = arrow.read(base + ".arrow")
found = collections.Counter(zip(columns["process"], columns["pid"], columns["tid"], columns["begin_ns"], columns["kind"]))
assert found and not {row for row in found if row[4] not in ("wait", "region")} - set(rows), "process of Arrow rows"
assert {row[:2] for row in found} == {row[:2] for row in rows}
