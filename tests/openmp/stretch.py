#!/usr/bin/env python3
"""upmu report --openmp --from --to at random stretches, against the events of regions, and so that stretches that meet add up to the
whole: stretch.py UPMU RECORDING."""
import json
import random
import re
import subprocess
import sys

UPMU, FOLDER = sys.argv[1:]
SUMS = ("time_ns", "work_ns", "wait_ns", "nested_ns", "elapsed_ns", "serial_ns", "idle_ns", "parallel_ns", "held_ns")


def run(*args, status=0):
    out = subprocess.run([UPMU, *args, FOLDER], capture_output=True, text=True, check=False)
    assert out.returncode == status, (args, out.returncode, out.stderr)
    return out


def report(a=None, b=None):
    ends = [] if a is None else ["--from", f"{a / 1e9:.9f}", "--to", f"{b / 1e9:.9f}"]
    return json.loads(run("report", "--openmp", "--json", *ends).stdout)


def leaves(x, key=()):
    """(path of names, value) of all sums; rows are named by what they are of."""
    if isinstance(x, list):
        for row in x:
            # Members and threads by id; the rest by site.
            name = row.get("construct"), row.get("site"), row.get("tid"), row.get("pid")
            yield from leaves(row, key + (name,))
    elif isinstance(x, dict):
        for k, v in x.items():
            if isinstance(v, (list, dict)):
                yield from leaves(v, key + (k,))
            elif k in SUMS or k == "ns" or key[-1] == "waits":
                yield key + (k,), v


def sums(r):
    out = {}
    for key, v in leaves(r["processes"]):
        out[key] = out.get(key, 0) + v
    return {k: v for k, v in out.items() if v}


events = [json.loads(line)["time_ns"] for line in run("export", "-f", "jsonl").stdout.splitlines()]
BEGIN = json.loads(run("report", "--json").stdout)["totals"]["begin_ns"]
LENGTH = max(events) - BEGIN
regions, running, criticals, open_criticals = [], {}, [], {}
for line in run("dump").stdout.splitlines():
    m = re.match(r"(\d+)\.(\d{9}) (\d+) (\d+) omp(-parallel)? (.*)", line)
    if not m:
        continue
    now, rest = int(m[1]) * 10**9 + int(m[2]) - BEGIN, m[6]
    number = re.search(r"\bregion=(\d+)", rest)
    if m[5]:
        running[m[3], number[1]] = now, int(re.search(r"site=(0x[0-9a-f]+)", rest)[1], 16)
    elif "construct=critical" in rest and "event=wait " in rest:
        open_criticals[m[4]] = now
    elif "construct=critical" in rest and "event=release" in rest:
        criticals.append((open_criticals.pop(m[4]), now))
    elif "event=parallel-end" in rest:
        since, site = running.pop((m[3], number[1]))
        regions.append((since, now, site))
assert regions and not running, (regions, running)


def check_regions(r, a, b):
    count, elapsed = 0, 0
    for since, until, _ in regions:
        if until >= a and since <= b:
            count += 1
            elapsed += min(until, b) - max(since, a)
    found = [k for p in r["processes"] for k in p["regions"]]
    assert sum(k["count"] for k in found) == count, (a, b, found, count)
    assert sum(k["elapsed_ns"] for k in found) == elapsed, (a, b, found, elapsed)
    sections = sum(k["count"] for p in r["processes"] for k in p["constructs"] if k["construct"] == "critical")
    assert sections == sum(since <= b and until >= a for since, until in criticals), (a, b, sections)
    assert sum(p["regions_run"] for p in r["processes"]) == count and all(p["unfinished"] == 0 for p in r["processes"])
    for k in found:
        assert all(t["time_ns"] == t["work_ns"] + t["wait_ns"] + t["nested_ns"] <= b - a for t in k["threads"]), (a, b, k)
        assert k["gain_ns"] <= k["elapsed_ns"] and k["team"] > 0, (a, b, k)
    for p in r["processes"]:
        assert len(p["threads"]) == len({t["tid"] for t in p["threads"]})
        assert all(t["time_ns"] == t["work_ns"] + t["wait_ns"] + t["serial_ns"] + t["idle_ns"] for t in p["threads"]), (a, b, p)


whole = report()
assert report(0, LENGTH)["processes"] == whole["processes"]
numbers = random.Random(16)
for n in range(6):
    cuts = [0, *sorted(numbers.randrange(1, LENGTH) for _ in range(4)), LENGTH]
    total = {}
    for a, b in zip(cuts, cuts[1:]):
        if b == a:
            continue
        part = report(a, b)
        assert (part["from_ns"], part["to_ns"]) == (BEGIN + a, BEGIN + b), (a, b)
        check_regions(part, a, b)
        for k, v in sums(part).items():
            total[k] = total.get(k, 0) + v
    want = sums(whole)
    assert total == want, (cuts, [(k, total.get(k), want.get(k)) for k in sorted(set(total) | set(want), key=str) if total.get(k) != want.get(k)])
assert "after the end of the recording" in run("report", "--openmp", "--from", "1000", status=1).stderr
