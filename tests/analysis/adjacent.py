# SPDX-License-Identifier: MIT
"""Stretches that meet add up to the whole: the sums of lives, waits, holds and scheduler states of two and of several stretches, to the
nanosecond, also by the threads that waited for each other. Arguments: upmu, recordings."""
import json
import random
import subprocess
import sys


def report(folder, *args):
    out = subprocess.run([sys.argv[1], "report", "--json", *args, folder], capture_output=True, text=True, check=False)
    return json.loads(out.stdout)


def sums(d):
    """Nanoseconds by what they are of."""
    found = {}

    def add(key, ns):
        found[key] = found.get(key, 0) + (ns or 0)

    for t in d["threads"]:
        key = "thread", t["pid"], t["tid"]
        add((*key, "blocked"), t["blocked_ns"])
        add((*key, "life"), t["end_ns"] - t["begin_ns"])
        for kind, w in t["waits"].items():
            add((*key, kind), w["total_ns"] + w["unfinished_ns"])
        for state, ns in (t["sched"] or {}).items():
            if state.endswith("_ns"):
                add((*key, state), ns)
    for o in d["objects"]:
        key = "object", o["pid"], o["type"], o["name"] if o["type"] == "call" else o["address"], o["generation"]
        add((*key, "waits"), o["waits"]["total_ns"] + o["waits"]["unfinished_ns"])
        for name in "hold_ns", "partial_hold_ns", "timed_holds_ns", "call_ns":
            add((*key, name), o[name])
    for p in d["pairs"]:
        add(("pair", p["pid"], p["waiter"], p["other"]), p["total_ns"] + p["unfinished_ns"])
    for r in d["regions"]:
        add(("region", r["name"]), r["wall_ns"])
    return {key: ns for key, ns in found.items() if ns}


def check(folder, numbers):
    whole = report(folder)
    length = whole["totals"]["end_ns"] - whole["totals"]["begin_ns"]
    expected = sums(whole)
    cuts = [[numbers.randrange(1, length)] for _ in range(5)] + [sorted(numbers.randrange(1, length) for _ in range(6))]
    for at in cuts:
        found = {}
        for begin, end in zip([None, *at], [*at, None]):
            args = ["--from", f"{begin / 1e9:.9f}"] if begin else []
            args += ["--to", f"{end / 1e9:.9f}"] if end else []
            for key, ns in sums(report(folder, *args)).items():
                found[key] = found.get(key, 0) + ns
        wrong = {key: (found.get(key, 0), expected.get(key, 0)) for key in {*found, *expected} if found.get(key, 0) != expected.get(key, 0)}
        assert not wrong, (folder, at, wrong)


for folder in sys.argv[2:]:
    check(folder, random.Random(15))
