# SPDX-License-Identifier: MIT
"""`upmu report --from --to` against sums of the recording's rows and events as far as they are in the stretch, at stretches that cut
through waits, holds and regions. Arguments: upmu, recordings."""
import json
import random
import subprocess
import sys

UPMU = sys.argv[1]
TAKES = ("lock-acquire", "lock-acquired")


def run(*args, status=0):
    out = subprocess.run([UPMU, *args], capture_output=True, text=True, check=False)
    assert out.returncode == status, (args, out.returncode, out.stderr)
    return out


def seconds(ns):
    return f"{ns / 1e9:.9f}"


def key_of(o):
    return o["name"] if o["type"] == "call" else o["address"]


class Recording:
    def __init__(self, folder):
        self.folder = folder
        whole = json.loads(run("report", "--view", "timeline", "--json", folder).stdout)
        self.begin, self.rows = whole["begin_ns"], whole["rows"]
        self.events = [json.loads(line) for line in run("export", "-f", "jsonl", folder).stdout.splitlines()]
        self.whole = json.loads(run("report", "--json", folder).stdout)
        self.length = self.whole["totals"]["end_ns"] - self.begin
        self.everything = folder.endswith("all")
        # All times count from the start of the recording, as the life of the main thread does, not from the first event.
        begins = [p["start_ns"] for p in self.whole["processes"]], [t["begin_ns"] for t in self.whole["threads"]]
        assert self.begin == self.whole["totals"]["begin_ns"] == min(begins[0]) == min(begins[1]), (folder, self.begin, begins)
        assert self.begin < self.events[0]["time_ns"], (folder, self.begin, self.events[0])

    def cut(self, kind, a, b):
        """(row, nanoseconds) of the rows of a kind in the stretch."""
        for r in self.rows:
            since, until = r["begin_ns"] - self.begin, r["end_ns"] - self.begin
            last = (r["event"], r["result"]) == ("barrier-arrive", -1)  # the last arrival does not wait
            if r["kind"] == kind and until >= a and since <= b and not last:
                yield r, min(until, b) - max(since, a)

    def holds(self, a, b):
        """address: nanoseconds and number of the holds of mutexes in the stretch, in mode all."""
        since, found = {}, {}
        for e in self.events:
            at, key = e["time_ns"] - self.begin, (e["tid"], e.get("address"))
            if e["kind"] in TAKES:
                since[key] = at
            elif e["kind"] == "lock-release" and key in since:
                begin = since.pop(key)
                if at >= a and begin <= b:
                    ns, n = found.get(key[1], (0, 0))
                    found[key[1]] = ns + min(at, b) - max(begin, a), n + 1
        return found

    def check(self, a, b):
        where = (self.folder, a, b)
        report = json.loads(run("report", "--json", "--from", seconds(a), "--to", seconds(b), self.folder).stdout)
        totals = report["totals"]
        assert (totals["from_ns"], totals["to_ns"]) == (self.begin + a, self.begin + b), (where, totals)
        assert (totals["begin_ns"], totals["end_ns"]) == (self.begin, self.whole["totals"]["end_ns"]), where
        waits, blocked, regions = {}, {}, {}
        for row, ns in self.cut("wait", a, b):
            key = key_of(row["object"])
            n, sum_ns, longest = waits.get(key, (0, 0, 0))
            waits[key] = n + 1, sum_ns + ns, max(longest, ns)
            blocked[row["thread"]["tid"]] = blocked.get(row["thread"]["tid"], 0) + ns
        for row, ns in self.cut("region", a, b):
            n, sum_ns = regions.get(row["text"], (0, 0))
            regions[row["text"]] = n + 1, sum_ns + ns
        assert totals["unfinished"] == 0, (where, totals)
        shown = {key_of(o): o for o in report["objects"]}
        found = {k: (o["waits"]["count"], o["waits"]["total_ns"], o["waits"]["max_ns"]) for k, o in shown.items() if o["waits"]["count"]}
        assert found == waits, (where, found, waits)
        threads = {t["tid"]: t for t in report["threads"]}
        assert {k: t["blocked_ns"] for k, t in threads.items() if t["blocked_ns"]} == {k: n for k, n in blocked.items() if n}, where
        awaited = {p["other"] for p in report["pairs"]}
        for t in self.whole["threads"]:
            since, until = (min(max(t[k] - self.begin, a), b) for k in ("begin_ns", "end_ns"))
            if (t["end_ns"] - self.begin < a or t["begin_ns"] - self.begin > b) and t["tid"] not in awaited:
                assert t["tid"] not in threads, (where, t["tid"])
            elif t["tid"] in threads: # without a life there, where others wait for it: to join it, after its end
                got = threads[t["tid"]]
                assert (got["begin_ns"] - self.begin, got["end_ns"] - self.begin) == (since, until), (where, got)
        assert {r["name"]: (r["count"], r["wall_ns"]) for r in report["regions"]} == regions, (where, report["regions"], regions)
        inside = [e for e in self.events if a <= e["time_ns"] - self.begin <= b]
        taken = {}
        for e in inside:
            if e["kind"] in TAKES:
                taken[e["address"]] = taken.get(e["address"], 0) + 1
        mutexes = {k: o for k, o in shown.items() if o["type"] == "mutex"}
        assert {k: o["acquisitions"] for k, o in mutexes.items() if o["acquisitions"]} == taken, (where, taken)
        if self.everything:
            assert all(o["counts_exact"] and o["holds_complete"] for o in mutexes.values()), where
            held = {k: (o["hold_ns"], o["holds"]) for k, o in mutexes.items() if o["holds"]}
            assert held == self.holds(a, b), (where, held, self.holds(a, b))
        for path in report["paths"]:
            assert path["begin_ns"] >= self.begin + a and path["end_ns"] <= self.begin + b, (where, path["begin_ns"])
            assert path["run_ns"] + path["wake_ns"] + path["unknown_ns"] == path["end_ns"] - path["begin_ns"], where
        for pair in report["pairs"]:
            assert pair["total_ns"] <= b - a, (where, pair)
        return waits


def check(folder, numbers):
    r = Recording(folder)
    # All of it is the whole.
    whole = json.loads(run("report", "--json", "--from", "0", "--to", seconds(r.length), folder).stdout)
    for part in ("threads", "pairs", "paths", "findings", "regions") + (("objects",) if r.everything else ()):
        different = [pair for pair in zip(whole[part], r.whole[part]) if pair[0] != pair[1]]
        assert len(whole[part]) == len(r.whole[part]) and not different, (folder, part, different[0])
    longest = max((x for x in r.rows if x["kind"] == "wait" and x["waits_for"] == "mutex"), key=lambda x: x["end_ns"] - x["begin_ns"])
    since, until = longest["begin_ns"] - r.begin, longest["end_ns"] - r.begin
    third = (until - since) // 3
    for a, b in ((since + third, until - third), (since - 1000, since + third), (until - third, until + 1000)):
        assert r.check(a, b), "a stretch within a wait shows no wait"
    for _ in range(12):
        a, b = sorted(numbers.randrange(r.length) for _ in range(2))
        r.check(a, b + 1)
    outside = run("report", "--from", seconds(r.length + 10**9), folder, status=1)
    assert "after the end of the recording" in outside.stderr and outside.stdout == "", outside


def samples(folder):
    """Two stretches that meet have all samples, in the table and in profiles."""
    whole = json.loads(run("report", "--samples", "--json", folder).stdout)
    totals = json.loads(run("report", "--json", folder).stdout)["totals"]
    middle = (totals["end_ns"] - totals["begin_ns"]) // 2
    parts = (("--to", seconds(middle)), ("--from", seconds(middle + 1)))
    found = [json.loads(run("report", "--samples", "--json", *part, folder).stdout) for part in parts]
    assert found[0]["samples"] + found[1]["samples"] == whole["samples"] and all(f["samples"] for f in found), (whole, found)
    weights = [sum(int(line.rsplit(" ", 1)[1]) for line in run("export", "-f", "folded", "--of", "samples", *part, folder).stdout.splitlines())
               for part in (*parts, ())]
    assert weights[0] + weights[1] == weights[2] > 0, weights
    assert "after the end" in run("report", "--samples", "--from", "1000", folder, status=1).stderr


numbers = random.Random(16)
for folder in sys.argv[2:]:
    if folder.endswith("samples"):
        samples(folder)
    else:
        check(folder, numbers)
