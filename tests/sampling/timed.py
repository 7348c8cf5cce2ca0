# SPDX-License-Identifier: MIT
"""timed.py TRUTH REPORT PATTERN: timed calls in a JSON report are those that the program measured itself.

A time lies between that within the function and that around its calls; the probes' own time, which is subtracted, is added again.
"""

import fnmatch
import json
import sys

truth = {}
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        if not line.startswith("#"):
            name, *numbers = line.split()
            truth[name] = [int(n) for n in numbers]
with open(sys.argv[2], encoding="utf-8") as file:
    report = json.load(file)

wrong = []


def check(ok, text):
    if not ok:
        wrong.append(text)


selected = {n: t for n, t in truth.items() if fnmatch.fnmatch(n, sys.argv[3])}
calls = sum(t[0] for t in selected.values())
returned = sum(t[1] for t in selected.values())
check(report["lost"] == 0, f"{report['lost']} records lost")
check(report["samples"] == report["count"] == calls, f"{report['samples']} calls instead of {calls}")
check(report["unit"] == "ns", report["unit"])
times = report["calls"]
check(times["returned"] == returned, f"{times['returned']} calls returned instead of {returned}")
check(times["not_returned"] == calls - returned, f"{times['not_returned']} did not instead of {calls - returned}")
cost = times.get("cost_ns", 0)
for name, (count, back, inside, around) in selected.items():
    rows = [f for f in report["functions"] if f["name"] == name]
    row = rows[0] if len(rows) == 1 else {"self_samples": 0, "self_weight": 0}
    check(row["self_samples"] == count, f"{name}: {row['self_samples']} calls instead of {count}")
    least, most = row["self_weight"], row["self_weight"] + cost * back
    check(most >= inside, f"{name}: {most} ns are less than {inside} within")
    check(least <= around, f"{name}: {least} ns are more than {around} around")
    print(f"{name}: {inside} <= {least} + {most - least} <= {around}")
if wrong:
    sys.exit("FAILED: " + "; ".join(wrong))
