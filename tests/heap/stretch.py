# SPDX-License-Identifier: MIT
"""`upmu report --heap --from --to` against sums made from the events, at random stretches. Arguments: upmu, a recording of every block."""
import json
import random
import re
import subprocess
import sys

UPMU, FOLDER = sys.argv[1:]
FIELDS = ("samples", "allocated_bytes", "live_bytes", "live_blocks", "peak_bytes")


def run(*args, status=0):
    out = subprocess.run([UPMU, *args, FOLDER], capture_output=True, text=True, check=False)
    assert out.returncode == status, (args, out.returncode, out.stderr)
    return out


def report(a, b):
    return json.loads(run("report", "--heap", "--json", "--from", f"{a / 1e9:.9f}", "--to", f"{b / 1e9:.9f}").stdout)


def place(site):
    """Function of the subject that allocates; the report looks behind those of libraries."""
    function = site.split()[0]
    return function if function.startswith("by_") or function in ("at_peak", "in_child") else "elsewhere"


def fold(sites):
    out = {}
    for s in sites:
        key = place(s["name"])
        out[key] = tuple(x + s[f] for x, f in zip(out.get(key, (0,) * len(FIELDS)), FIELDS))
    return out


events = [json.loads(line) for line in run("export", "-f", "jsonl").stdout.splitlines()]
BEGIN = json.loads(run("report", "--json").stdout)["totals"]["begin_ns"]
LENGTH = max(e["time_ns"] for e in events) - BEGIN
ENDS = {}
for e in events:
    ENDS[e["pid"]] = max(ENDS.get(e["pid"], 0), e["time_ns"] - BEGIN)
heap = [e for e in events if e["kind"].startswith("heap-")]
for e in heap:
    e["site"] = place(e["site"])
weights = [int(w) for w in re.findall(r" heap-(?:alloc|free) .*weight=(\d+)", run("dump").stdout)]
assert len(heap) == len(weights) > 100, (len(heap), len(weights))


def expected(a, b):
    """pid: (sums of the process, its sums by site) of the stretch."""
    blocks, sites, peaks, begun = {}, {}, {}, False

    def live(pid):
        found = {}
        for (of, _), (site, weight) in blocks.items():
            if of == pid:
                found[site] = found.get(site, 0) + weight
        return found

    def peak(pid):
        now = live(pid)
        if pid not in peaks or sum(now.values()) > peaks[pid][0]:
            peaks[pid] = sum(now.values()), now

    for e, weight in zip(heap, weights):
        at, pid, key = e["time_ns"] - BEGIN, e["pid"], (e["pid"], e["address"])
        if at > b:
            break
        if at >= a and not begun:
            begun = True
            for p in {p for p, _ in blocks}:
                peak(p)
        if e["kind"] == "heap-free":
            blocks.pop(key, None)
            continue
        blocks[key] = e["site"], weight
        if at >= a:
            n, total = sites.get((pid, e["site"]), (0, 0))
            sites[pid, e["site"]] = n + 1, total + weight
            peak(pid)
    for p in set() if begun else {p for p, _ in blocks}:
        peak(p)
    out = {}
    for pid in {e["pid"] for e in heap if e["time_ns"] - BEGIN <= b}:
        if ENDS[pid] < a:
            continue
        peak_bytes, at_peak = peaks.get(pid, (0, {}))
        now = live(pid)
        rows = {}
        for site in {s for p, s in sites if p == pid} | set(now) | set(at_peak):
            of = sum(1 for (p, _), (s, _) in blocks.items() if (p, s) == (pid, site))
            rows[site] = (*sites.get((pid, site), (0, 0)), now.get(site, 0), of, at_peak.get(site, 0))
        out[pid] = rows, peak_bytes
    return out


def check(a, b):
    want = expected(a, b)
    if not want:
        assert "runs in this stretch" in run("report", "--heap", "--from", f"{a / 1e9:.9f}", "--to", f"{b / 1e9:.9f}", status=1).stderr
        return
    got = report(a, b)
    assert (got["from_ns"], got["to_ns"]) == (BEGIN + a, BEGIN + b), (a, b, got["from_ns"], got["to_ns"])
    found = {p["pid"]: (fold(p["sites"]), p["peak_bytes"]) for p in got["processes"]}
    assert found == want, (a, b, [(found.get(p), want.get(p)) for p in want if found.get(p) != want[p]], set(found) ^ set(want))
    for p in got["processes"]:
        for f in FIELDS:
            assert p[f] == sum(s[f] for s in p["sites"]), (a, b, f, p)
        assert BEGIN + a <= p["peak_ns"] <= BEGIN + b or p["peak_bytes"] == 0, (a, b, p)


whole = json.loads(run("report", "--heap", "--json").stdout)
assert report(0, LENGTH)["processes"] == whole["processes"]
largest = next(e for e, w in zip(heap, weights) if w == max(weights))["time_ns"] - BEGIN
check(largest, largest)
check(largest + 1, LENGTH)
numbers = random.Random(16)
for _ in range(25):
    check(*sorted(numbers.randrange(1, LENGTH) for _ in range(2)))
assert "after the end of the recording" in run("report", "--heap", "--from", "1000", status=1).stderr
