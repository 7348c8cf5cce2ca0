#!/usr/bin/env python3
"""upmu report --functions --from --to at random stretches against the calls of the timeline: stretch.py UPMU RECORDING CHROME."""
import json
import random
import subprocess
import sys

UPMU, FOLDER, CHROME = sys.argv[1:]


def run(*args):
    return subprocess.run([UPMU, *args, FOLDER], capture_output=True, text=True, check=True).stdout


def report(*ends):
    return json.loads(run("report", "--functions", "--json", *ends))


open_calls, calls = {}, []  # (name, begin, end, depth), nanoseconds
for e in json.load(open(CHROME, encoding="utf-8"))["traceEvents"]:
    stack = open_calls.setdefault((e.get("pid"), e.get("tid")), [])
    if e["ph"] == "B":
        stack.append((e["cat"], e["name"], round(e["ts"] * 1000)))
    elif e["ph"] == "E":
        cat, name, since = stack.pop()
        if cat == "function":
            calls.append((name, since, round(e["ts"] * 1000), len([s for s in stack if s[0] == "function"])))
FIRST, LAST = min(c[1] for c in calls), max(c[2] for c in calls)


def total(rows, key="calls"):
    out = {}
    for f in rows:
        out[f["name"]] = out.get(f["name"], 0) + f[key]
    return {k: v for k, v in out.items() if v}


whole, numbers = report(), random.Random(16)
everything = report("--from", "0", "--to", "1000")
assert total(everything["functions"]) == total(whole["functions"]) and everything["edges"], FOLDER
for key in "total_ns", "cost_ns":
    assert abs(everything[key] - whole[key]) <= whole["cost_ns"] + whole[key] // 20, (FOLDER, key, everything[key], whole[key])
for _ in range(8 if len(calls) == whole["calls"] else 0):  # a timeline has 512 levels at most
    a, b = sorted(numbers.randrange(FIRST, LAST + 1) for _ in range(2))
    part = report("--from", f"{a / 1e9:.9f}", "--to", f"{b / 1e9:.9f}")
    assert part["to_ns"] - part["from_ns"] == b - a, (FOLDER, a, b, part["from_ns"], part["to_ns"])
    want, top = {}, 0
    for name, since, until, depth in calls:
        if until >= a and since <= b:
            want[name] = want.get(name, 0) + 1
            top += (min(until, b) - max(since, a)) if depth == 0 else 0
    found = total(part["functions"])
    # The timeline's times are rounded: a call that ends, or begins, within a nanosecond of the stretch's end may be in it or not.
    edge = sum(1 for _, since, until, _ in calls if min(abs(until - a), abs(since - b)) <= 2)
    assert sum(abs(found.get(k, 0) - want.get(k, 0)) for k in found.keys() | want.keys()) <= edge, (FOLDER, a, b, found, want)
    assert sum(found.values()) == part["calls"] and part["open"] == 0, (FOLDER, a, b)
    assert top - 2 * part["cost_ns"] - 5000 <= part["total_ns"] <= top + 5000, (FOLDER, a, b, part["total_ns"], top, part["cost_ns"])
    assert sum(f["exclusive_ns"] for f in part["functions"]) <= top + 5000, (FOLDER, a, b)
    assert all(f["inclusive_ns"] <= top + 5000 for f in part["functions"]), (FOLDER, a, b)
