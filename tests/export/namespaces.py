# SPDX-License-Identifier: MIT
"""Exports and JSON report of a recording in which the processes of two pid namespaces have the same ids."""
import collections
import json
import sys

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
    assert len({(row["process"], row["pid"]) for row in map(json.loads, file)}) >= 2
