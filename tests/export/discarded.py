# SPDX-License-Identifier: MIT
"""Ends of regions without an end, in each format, against marks around the moment when they were discarded."""
import json
import re
import subprocess
import sys

upmu, trace, report, rows, here, kind = sys.argv[1:]
rows = json.load(open(rows))
begin = rows["begin_ns"]
MARKS = {r["text"]: r["begin_ns"] - begin for r in rows["rows"] if r["kind"] == "mark"}
SPANS = {r["text"]: (r["begin_ns"] - begin, r["end_ns"] - begin) for r in rows["rows"] if r["kind"] == "region"}
LEFT, DROPPED = ("left open", "left inside"), ("dropped", "dropped inside", "around the wait")
ENDED = ("after", "after the wait")
LAST = ("dropped", "around the wait") if kind == "regions" else ("dropped",)  # the spans of a thread are nested


def check(name, end, where):
    if name in LEFT:
        # libupmu_sync has the thread's end
        assert kind == "waits" and where == "rows" or SPANS[name][0] <= end <= MARKS["left"], (where, name, end, MARKS)
    elif name in LAST or where == "rows":
        assert MARKS["pausing"] <= end <= MARKS["resumed"], (where, name, end, MARKS)


def export(form, *more):
    return subprocess.run([upmu, "export", "-f", form, *more, trace], capture_output=True, check=True).stdout


assert set(SPANS) - {"(thread)"} == {*LEFT, *DROPPED, *ENDED}, SPANS
for name in DROPPED:
    check(name, SPANS[name][1], "rows")
for row in rows["rows"]:
    if row["kind"] == "region" and row["text"] in DROPPED:
        assert not row["ended"], row

regions = {r["name"]: r for r in json.load(open(report))["regions"]}
for name in (*LEFT, *DROPPED):
    assert (regions[name]["count"], regions[name]["unfinished"]) == (0, 1), regions[name]
for name in ENDED:
    assert (regions[name]["count"], regions[name]["unfinished"]) == (1, 0), regions[name]
if kind == "lives":
    assert (regions["(thread)"]["count"], regions["(thread)"]["unfinished"]) == (3, 0), regions["(thread)"]
assert json.load(open(report))["totals"]["unmatched"] == 0

stacks, found, waits = {}, {}, []
for e in json.loads(export("chrome"))["traceEvents"]:
    if e["ph"] == "B":
        stacks.setdefault(e["tid"], []).append(e)
        inside = [b["name"] for b in stacks[e["tid"]]]
        assert e["name"] not in ENDED or not set(inside) & {*LEFT, *DROPPED}, inside
    elif e["ph"] == "E":
        b = stacks[e["tid"]].pop()
        assert e["ts"] >= b["ts"], (b, e)
        if b["cat"] == "region":
            found[b["name"]] = round(e["ts"] * 1000)
            check(b["name"], round(e["ts"] * 1000), "chrome")
        else:
            waits.append((b, e))
assert not any(stacks.values()) and set(found) >= {*LEFT, *DROPPED, *ENDED}, (stacks, found)
if kind != "regions":
    # The wait in the region that was discarded is whole.
    assert any(b["ts"] * 1000 < MARKS["pausing"] and e["ts"] * 1000 > MARKS["resumed"] for b, e in waits if "sem" in b["name"] or
               "released" in b["name"]), waits

folded = export("folded", "--of", "regions").decode()
paths = [line.rsplit(" ", 1)[0].split(";") for line in folded.splitlines()]
for path in paths:
    assert not (set(path) & set(ENDED) and set(path) & {*LEFT, *DROPPED}), folded
assert any(path[-1] == "after" for path in paths), folded

for profile in json.loads(export("speedscope", "--of", "regions"))["profiles"]:
    assert profile["endValue"] >= profile["startValue"], profile
text = subprocess.run(["protoc", "--decode=Trace", "-I", here, f"{here}/perfetto.proto"], input=export("perfetto"),
                      capture_output=True, check=True).stdout.decode()
assert len(re.findall("TYPE_SLICE_BEGIN", text)) == len(re.findall("TYPE_SLICE_END", text)) > 0
