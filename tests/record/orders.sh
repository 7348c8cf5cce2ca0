# SPDX-License-Identifier: MIT
# The counters of recorded threads have every page fault, in whatever order the events are named.
. "$(dirname "$0")/lib.sh"

judge='
import json, sys
threads = json.load(sys.stdin)["threads"]
faults = 0
for t in threads:
    for c in t["counters"]:
        status = c["sum"]["status"]
        if status != "exact":
            sys.exit("%s of thread %d is %s" % (c["name"], t["tid"], status))
        if c["name"].startswith("page-faults"):
            if not 1000 <= c["sum"]["value"] <= 1200:
                sys.exit("thread %d: %d page faults" % (t["tid"], c["sum"]["value"]))
            faults += c["sum"]["value"]
if len(threads) != 8:
    sys.exit("%d threads" % len(threads))
if faults < 8000:
    sys.exit("%d page faults" % faults)
'

for events in $(python3 -c '
from itertools import permutations
names = ["task-clock", "page-faults", "context-switches", "minor-faults"]
for n in 1, 2, 3:
    for p in permutations(names, n):
        if "page-faults" in p:
            print(",".join(p))'); do
    rm -rf trace
    expect 0 "$UPMU" record -e "$events" -o trace "$FAULTS"
    "$UPMU" report --json trace 2>report.err | python3 -c "$judge" >why 2>&1 || fail "-e $events: $(cat why report.err)"
done
