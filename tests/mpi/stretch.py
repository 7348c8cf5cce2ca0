#!/usr/bin/env python3
"""upmu report --mpi --from --to at random stretches, against the calls of the recording, and so that stretches that meet add up to the
whole: stretch.py UPMU RECORDING."""
import json
import random
import re
import subprocess
import sys

UPMU, FOLDER = sys.argv[1:]


def run(*args, status=0):
    out = subprocess.run([UPMU, *args, FOLDER], capture_output=True, text=True, check=False)
    assert out.returncode == status, (args, out.returncode, out.stderr)
    return out


def report(a=None, b=None):
    ends = [] if a is None else ["--from", f"{a / 1e9:.9f}", "--to", f"{b / 1e9:.9f}"]
    return json.loads(run("report", "--mpi", "--json", *ends).stdout)


def sums(job):
    """Times that add up, by what they are of."""
    out = {}
    for r in job["ranks_recorded"]:
        for k in ("time_ns", "useful_ns", "mpi_ns", "wait_ns"):
            out[k, r["rank"]] = r[k]
    for w in job["waits"]:
        out["wait", w["pattern"], w["rank"], w["cause"], w["function"]] = w["ns"]
    for f in job["functions"]:
        out["function", f["name"]] = f["ns"]
    for p in job["critical_path"]["parts"]:
        key = "path", p["rank"], p["region"], p["function"], p["inside"], p["line"]
        out[key] = out.get(key, 0) + p["ns"]
    return {k: v for k, v in out.items() if v}


events = [json.loads(line)["time_ns"] for line in run("export", "-f", "jsonl").stdout.splitlines()]
BEGIN = json.loads(run("report", "--json").stdout)["totals"]["begin_ns"]
LENGTH = max(events) - BEGIN
calls, running = [], {}
for line in run("dump").stdout.splitlines():
    m = re.match(r"(\d+)\.(\d{9}) \d+ (\d+) mpi-(enter|leave) \"\" call=(\w+)", line)
    if m:
        now = int(m[1]) * 10**9 + int(m[2]) - BEGIN
        if m[4] == "enter":
            running[m[3]] = now
        else:
            calls.append((running.pop(m[3]), now, m[5]))
assert len(calls) > 100 and not running, (len(calls), running)


def check(job, a, b):
    want = {}
    for since, until, name in calls:
        if until >= a and since <= b:
            n, ns = want.get(name, (0, 0))
            want[name] = n + 1, ns + min(until, b) - max(since, a)
    found = {f["name"]: (f["calls"], f["ns"]) for f in job["functions"]}
    assert found == want, (a, b, found, want)
    assert sum(r["calls"] for r in job["ranks_recorded"]) == sum(n for n, _ in want.values()), (a, b)
    length = job["end_ns"] - job["begin_ns"]
    assert 0 <= length <= b - a and job["unmatched"] == job["partial"] == job["reversed"] == 0, (a, b, job)
    for r in job["ranks_recorded"]:
        assert r["wait_ns"] <= r["mpi_ns"] and r["time_ns"] == r["useful_ns"] + r["mpi_ns"] <= b - a, (a, b, r)
    waited, caused = sum(w["ns"] for w in job["waits"]), sum(d["ns"] for d in job["delays"])
    assert abs(waited - caused) <= len(job["delays"]), (a, b, waited, caused)
    assert sum(p["ns"] for p in job["critical_path"]["parts"]) <= length, (a, b)
    steps = job["critical_path"]["steps"]
    assert all(BEGIN + a <= s["begin_ns"] <= s["end_ns"] <= BEGIN + b for s in steps), (a, b, steps)
    if job["ideal_ns"] is not None:
        assert job["useful_max_ns"] <= job["ideal_ns"] <= length, (a, b, job)


whole = report()["jobs"]
counted = [f for f in whole[0]["functions"] if f["ns"] == 0]  # without times: in no stretch
whole[0]["functions"] = [f for f in whole[0]["functions"] if f["ns"]]
assert counted and report(0, LENGTH)["jobs"] == whole
numbers = random.Random(16)
replayed = 0
for n in range(8):
    cuts = [0, *sorted(numbers.randrange(1, LENGTH) for _ in range(4)), LENGTH]
    total = {}
    for a, b in zip(cuts, cuts[1:]):
        if b == a:
            continue
        part = report(a, b)
        assert (part["from_ns"], part["to_ns"]) == (BEGIN + a, BEGIN + b), (a, b)
        check(part["jobs"][0], a, b)
        replayed += part["jobs"][0]["ideal_ns"] is not None
        for k, v in sums(part["jobs"][0]).items():
            total[k] = total.get(k, 0) + v
    want = sums(whole[0])
    assert total == want, (cuts, [(k, total.get(k), want.get(k)) for k in total.keys() | want.keys() if total.get(k) != want.get(k)])
assert replayed > 8, replayed
assert re.search(r"from 0\.5 to 0\.75 s: 3 of 3 ranks", run("report", "--mpi", "--from", "0.5", "--to", "0.75").stdout)
assert "after the end of the recording" in run("report", "--mpi", "--from", "1000", status=1).stderr
