# SPDX-License-Identifier: MIT
# upmu ctl snapshot and watch: copies of recordings that another command, or none, has started.
. "$(dirname "$0")/lib.sh"

# Each thread's events in the copy are the first ones of the thread in the recording.
begin --mode all -o r
wait_until 60 sh -c 'test "$("$0" ctl "$1" status | sed "s/.* \([0-9]*\) records.*/\1/")" -gt 200' "$UPMU" "$pid" ||
    fail "nothing is recorded"
expect 0 "$UPMU" ctl "$pid" snapshot copy
has err "upmu: snapshot of 1 process"
[ "$(cut -d' ' -f3 "/proc/$pid/stat")" != T ] || fail "the program was stopped"
# It is not stopped for a moment, since nothing that could stop it is called: only files are read, of rings of whatever size.
if command -v strace >/dev/null && strace -o calls true 2>/dev/null; then
    expect 0 strace -f -o calls "$UPMU" ctl r snapshot traced
    grep -q '^[0-9]* *openat(' calls || fail "the calls of the snapshot are not there: $(head -n 3 calls)"
    ! grep -E '^[0-9]* *(ptrace|process_vm_[a-z]*|pidfd_[a-z_]*|rt_t?g?sigqueueinfo|t?g?kill)\(.*' calls | grep -v ', 0) *= ' ||
        fail "the snapshot acts on the program"
else
    echo "without strace the calls of a snapshot are not looked at (Debian: strace)"
fi
expect 0 "$UPMU" ctl r snapshot copy2
expect 1 "$UPMU" ctl r snapshot copy2
has err "Give a new or empty directory"
mkdir empty
expect 0 "$UPMU" ctl r snapshot empty
finish_worker
expect 0 "$UPMU" ctl r snapshot after
expect 0 "$UPMU" report copy
has out "up to a snapshot (requested)"
for part in copy copy2 empty after; do
    "$UPMU" dump "$part" >"$part.txt" 2>/dev/null || fail "$part cannot be read"
done
"$UPMU" dump r >r.txt 2>/dev/null || fail "the recording cannot be read"
python3 - copy copy2 empty after r <<'END' || fail "a copy is not the beginning of the recording"
import re
import sys
def threads(name):
    found = {}
    for line in open(name + ".txt"):
        time, _, tid, event = line.split(" ", 3)
        found.setdefault(tid, []).append((float(time), re.sub(r"since_ns=\d+", "", event)))
    return found
*copies, whole = [threads(name) for name in sys.argv[1:]]
sizes = []
for copy in copies:
    for tid, events in copy.items():
        first = [e for _, e in whole[tid][:len(events)]]
        if [e for _, e in events] != first:
            sys.exit(f"thread {tid} differs")
    sizes.append(sum(len(e) for e in copy.values()))
if not sizes[0] <= sizes[1] <= sizes[2] <= sizes[3] or sizes[0] < 100:
    sys.exit(f"sizes {sizes}")
END
expect 1 "$UPMU" ctl $$ snapshot
has err "records nothing"
mkdir nothing
expect 1 "$UPMU" ctl nothing snapshot there
has err "not a libupmu trace"
[ ! -e there ] && [ ! -e there.part ] || fail "something is left of a snapshot that failed"
mkdir here
(cd here && "$UPMU" ctl ../r/ snapshot 2>/dev/null) || fail "no snapshot without a name"
[ "$(find here -maxdepth 1 -name 'upmu-snapshot-r-*' | wc -l)" -eq 1 ] || fail "no directory of its own choice"

# A watch begins before the program, which has its triggers in the environment, and ends by a signal.
mkdir v
"$UPMU" ctl v watch kept >watched 2>&1 &
watch=$!
env UPMU_TRACE=v UPMU_TRACE_POLICY=ring:256K UPMU_SNAPSHOT_ON='wait > 100 us; deadlock' UPMU_SYNC=holders LD_PRELOAD="$PRELOAD" \
    "$WORKER" "$work/over" >out 2>err &
program=$!
wait_until 60 test -d kept/1 || fail "no snapshot by watch: $(cat watched)"
touch over
wait $program || fail "the program ended with $?"
kill -TERM $watch
wait $watch || fail "watch ended with $?: $(cat watched)"
has watched "snapshot kept/1: wait > 100 us: "
has watched "1 snapshot taken"
at_least 1 kept/1 block
expect 2 "$UPMU" ctl v snapshot a b
finish
