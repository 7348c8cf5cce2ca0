"""The table of bench_samples.sh, from the files that it made."""
import json
import os
import sys

short, bars, as_json, heading = (os.environ[k] == "1" for k in ("SHORT", "BARS", "JSON", "HEADING"))
RATE = 999


def printed(path):
    with open(path, encoding="utf-8") as f:
        return [line.split() for line in f]


def number(path, word):
    return next(float(w[1]) for w in printed(path) if w[0] == word)


def stacks(path):
    """Functions of each sample from the last one out, by thread and nanoseconds since 1970."""
    with open(path, encoding="utf-8") as f:
        d = json.load(f)
    shared = d["shared"]
    texts, frames, functions, nodes = (shared[k] for k in ("stringArray", "frameTable", "funcTable", "stackTable"))
    begin = round(d["meta"]["startTime"] * 1e6)
    out = {}
    for t in d["threads"]:
        for node, ms in zip(t["samples"]["stack"], t["samples"]["time"]):
            names = []
            while node is not None:
                names.append(texts[functions["name"][frames["func"][nodes["frame"][node]]]])
                node = nodes["prefix"][node]
            out[t["tid"], begin + round(ms * 1e6)] = names
    return out


def misplaced():
    """Share of the samples within the program or the spinning runtime that are elsewhere in the user's view, and their number."""
    phases = [(w[0], int(w[1]), int(w[2])) for w in printed("waits.out")]
    user, machine = stacks("waits.user"), stacks("waits.machine")
    assert user.keys() == machine.keys() and user
    judged = wrong = 0
    for (thread, at), names in machine.items():
        phase = next((p for p, begin, end in phases if begin <= at < end), None)
        spins = names[0].startswith("libgomp")
        if phase is None or not (spins or names[0] == "compute"):
            continue
        seen = user[thread, at]
        leaf = "[OMP wait: %s]" % phase[:-1] if spins else "compute"
        judged += 1
        if seen[0] != leaf or not any(n.startswith(phase + ", OMP parallel region") for n in seen):
            wrong += 1
            if not as_json:
                print("  at %d in %s: %s, executed %s" % (at, phase, seen, names))
    return 100 * wrong / judged, judged


with open("shares.json", encoding="utf-8") as f:
    report = json.load(f)
weight = {f["name"]: f["weight"] for f in report["functions"]}
share = weight["seventy"] / (weight["seventy"] + weight["thirty"])
rate = report["samples"] / (number("shares.out", "cpu") / 1e9)
wrong, judged = misplaced()
alone, sampled, floor = (min(float(w[1]) for w in printed(p)) for p in ("alone.out", "sampled.out", "floor.out"))
rows = [
    ("rate missing of 999 per second of CPU time", 100 * (1 - rate / RATE), 3, "%d samples" % report["samples"]),
    ("share of a function off, in points of 70", 100 * abs(share - number("shares.out", "share")), 2, "two threads"),
    ("samples outside of their wait or region", wrong, 0.1, "%d judged" % judged),
    ("CPU time added at 999 Hz, 20 functions deep", 100 * (sampled / alone - 1), 2, "of %.2f s" % (alone / 1e9)),
    ("by the kernel alone: that event without a reader", 100 * (floor / alone - 1), None, "of %.2f s" % (alone / 1e9)),
]
missed = False
if heading and not as_json:
    print("%-48s %8s %8s  %-8s %s" % ("samples", "%", "bar", "verdict", "of"))
for name, value, bar, of in rows:
    verdict = "-" if not bars or short or bar is None else "met" if value <= bar else "MISSED"
    missed |= verdict == "MISSED"
    if as_json:
        print(json.dumps({"bench": "samples", "name": name, "percent": value, "bar": bar, "verdict": verdict}))
    else:
        print("%-48s %8.3f %8s  %-8s %s" % (name, value, "" if bar is None else "%.1f" % bar, verdict, of))
sys.exit(missed)
