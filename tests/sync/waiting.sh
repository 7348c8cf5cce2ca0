#!/usr/bin/env bash
# waiting.sh BIN LIB UPMU: a thread that is asleep in a call is waiting and not running: on the critical path, at the end of the
# process, after it was killed, and in threads that begin where others have ended. A forked child whose first wait is for a
# reader-writer lock has a recording of its own.
set -euo pipefail
bin=$1 lib=$2 upmu=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# judge DIR PROGRAM: the report is as the Python program asserts, with `d` the report and `threads` by name
judge()
{
    "$upmu" report --json --top 1000 "$1" >"$scratch/report" || fail "$1: no report"
    python3 - "$scratch/report" "$2" <<'PYTHON' || fail "$1 is wrong"
import json, sys
d = json.load(open(sys.argv[1]))
threads = {t["name"]: t for t in d["threads"]}
names = {t["tid"]: t["name"] for t in d["threads"]}
exec(sys.argv[2])
PYTHON
}

record "$scratch/pool" holders "$bin/sync_waiting" pool || fail "pool: status $?"
judge "$scratch/pool" '
life = lambda t: t["end_ns"] - t["begin_ns"]
path = d["paths"][0]
length = path["end_ns"] - path["begin_ns"]
on_path = {}
for s in path["steps"]:
    if s["kind"] == "runs":
        on_path[names[s["thread"]]] = on_path.get(names[s["thread"]], 0) + s["end_ns"] - s["begin_ns"]
assert on_path.get("worker", 0) > 0.5 * length, (on_path, length)
assert on_path.get("signals", 0) < 0.2 * length and on_path.get("idle", 0) < 0.2 * length, (on_path, length)
signals, idle = threads["signals"], threads["idle"]
assert signals["waits"]["signal"]["count"] == 1 and signals["waits"]["signal"]["total_ns"] > 0.5 * life(signals), signals
assert idle["waits"]["read"]["unfinished"] == 1 and idle["waits"]["read"]["unfinished_ns"] > 0.5 * life(idle), idle
pairs = {(names[p["waiter"]], names.get(p["other"])) for p in d["pairs"]}
assert ("signals", "main") in pairs, pairs
assert d["totals"]["unmatched"] == 0 and d["totals"]["lost"] == 0, d["totals"]
'

record "$scratch/killed" holders "$bin/sync_waiting" killed 2>/dev/null && fail "it was not killed"
judge "$scratch/killed" '
for name, kind in ("signals", "signal"), ("idle", "read"):
    assert threads[name]["waits"][kind]["unfinished"] == 1, threads[name]
    assert threads[name]["waits"][kind]["unfinished_ns"] > 50e6, threads[name]
# Threads live until the process was last seen, not until its last event.
assert {t["name"] for t in d["threads"] if not t["ended"]} == {"main", "signals", "idle"}, d["threads"]
assert {t["end_ns"] for t in d["threads"] if not t["ended"]} == {d["totals"]["end_ns"]}, d["threads"]
'

# exec() ends all threads but the caller, and their waits. The recording is observed until the program has ended.
"$upmu" record -o "$scratch/exec" -- "$bin/sync_waiting" exec 2>"$scratch/err" || fail "exec: $(cat "$scratch/err")"
judge "$scratch/exec" '
before, after = sorted(d["processes"], key=lambda p: p["start_ns"])
assert before["execed"] and before["pid"] == after["pid"], d["processes"]
begin = min(t["begin_ns"] for t in d["threads"] if t["begin_ns"] >= after["start_ns"])
of_before = [t for t in d["threads"] if t["begin_ns"] < after["start_ns"]]
assert len(of_before) == 3 and all(t["end_ns"] == after["start_ns"] <= begin for t in of_before), d["threads"]
assert any(t["waits"].get("mutex", {}).get("unfinished") == 1 for t in of_before), of_before
'

record "$scratch/child" holders "$bin/sync_waiting" child || fail "child: status $?"
judge "$scratch/child" '
waits = [t["waits"]["rwlock"] for t in d["threads"] if t["waits"].get("rwlock", {}).get("count")]
assert len(d["processes"]) == 2 and len(waits) == 1 and waits[0]["total_ns"] > 0, d["threads"]
'

# Every sleep of every thread, whichever thread had its block before.
record "$scratch/short" holders "$bin/sync_waiting" short >"$scratch/slept" || fail "short: status $?"
judge "$scratch/short" '
recorded = {t["tid"]: t["waits"].get("sleep", {}).get("count", 0) for t in d["threads"]}
slept = dict(tuple(map(int, line.split())) for line in open("'"$scratch/slept"'"))
assert len(slept) == 34 and sum(slept.values()) > 50, slept
missing = {t: (n, recorded.get(t)) for t, n in slept.items() if recorded.get(t) != n}
assert not missing, missing
'

# The kernel agrees: what it saw blocked was recorded as waits. In memory, since a thread that makes a file may wait for the disk.
shm=$scratch
[ ! -w /dev/shm ] || shm=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$scratch" "$shm"' EXIT
UPMU_SCHED=1 record "$shm/sched" holders "$bin/sync_waiting" pool || fail "with switches: status $?"
judge "$shm/sched" '
for t in d["threads"]:
    s = t.get("sched")
    if not s:
        print("no switches were recorded here")
        continue
    blocked = s["blocked_ns"]
    assert t["blocked_ns"] >= 0.9 * blocked - 5e6, (t["name"], t["blocked_ns"], blocked)
'
echo "sleeping threads wait"
