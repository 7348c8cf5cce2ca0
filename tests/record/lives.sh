# SPDX-License-Identifier: MIT
# Lives and holds of which a part is recorded: no time that is not known counts.
. "$(dirname "$0")/lib.sh"

# Of regions alone there is no end of a thread: it is not that of the process.
expect 0 env UPMU_EVENTS=page-faults UPMU_TRACE="$work/regions" "$LIVES" regions
expect 0 "$UPMU" report --json regions
python3 - out <<'PYTHON' || fail "the life of a thread with regions alone: $(cat err)"
import json, sys
lives = sorted(t["end_ns"] - t["begin_ns"] for t in json.load(open(sys.argv[1]))["threads"])
assert len(lives) == 2 and 10e6 <= lives[0] < lives[1] - 250e6, lives
PYTHON

# The only hold of a lock is one in part.
expect 0 "$UPMU" record -o forked -- "$LIVES" fork
expect 0 "$UPMU" report forked
! grep -q ' 0 ns ' out || fail "the hold lasted no time: $(grep ' 0 ns ' out)"

# A thread that is older than its recording: its CPU time is that of its whole life.
begin --paused -o paused
sleep 0.2
expect 0 "$UPMU" ctl "$pid" start
sleep 0.2
finish_worker
expect 0 "$UPMU" report --json paused
python3 - out <<'PYTHON' || fail "CPU time from before the recording"
import json, sys
threads = [t for t in json.load(open(sys.argv[1]))["threads"] if t["tid"] != t["pid"]]
assert threads and all(t["cpu_ns"] is None for t in threads), threads
PYTHON
finish
