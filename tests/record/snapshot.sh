# SPDX-License-Identifier: MIT
# Snapshots: a trigger of each kind copies the recording of a running program, which every command reads; the rate is limited.
. "$(dirname "$0")/lib.sh"

# fly MODE OPTIONS...: record the program in the background; leaves $recorder.
fly() {
    local mode=$1
    shift
    rm -rf end end.deadlock flown r r-snapshots; touch flown
    "$UPMU" record --ring 256K -o r "$@" -- "$FLIGHT" "$mode" "$work/end" >flown 2>log &
    recorder=$!
    wait_until 60 grep -q ready flown || fail "the program did not start: $(cat log)"
}

land() {
    touch end
    wait "$recorder" || fail "the recorder ended with $?: $(cat log)"
}

# A region, with blanks in its name. The others are never exceeded.
fly regions --snapshot-on 'region parse 2 > 5ms' --snapshot-on 'wait any > 1000 s' --snapshot-on 'region other > 1 ns'
wait_until 60 test -d r-snapshots/1 || fail "no snapshot of a region"
[ ! -e r-snapshots/1.part ] || fail "the directory in which it was made is still there"
expect 0 "$UPMU" dump r-snapshots/1
has out 'end   "parse 2"'
expect 0 "$UPMU" report r-snapshots/1
has out "up to a snapshot (region parse 2 > 5ms: "
expect 0 "$UPMU" report --json r-snapshots/1
has out '"snapshot": "region parse 2 > 5ms: '
for command in deadlock 'export -f chrome -o s.json' 'export -f html -o s.html' 'repair' 'ctl'; do
    # shellcheck disable=SC2086
    case $command in
        ctl) expect 0 "$UPMU" ctl r-snapshots/1 status && has out "ended, mode none" ;;
        export*) expect 0 "$UPMU" $command r-snapshots/1 ;;
        *) expect 0 "$UPMU" "$command" r-snapshots/1 ;;
    esac
done
if command -v babeltrace2 >/dev/null; then
    babeltrace2 r-snapshots/1 >text 2>warnings || fail "babeltrace2 does not read it: $(cat warnings)"
    grep -q 'parse 2' text || fail "babeltrace2 finds no region in it"
fi
# Ten seconds have to pass before the next, and regions are too slow for an hour.
land
has log "snapshot r-snapshots/1: region parse 2 > 5ms: "
grep -qE '[1-9][0-9]* more would have been' log || fail "no trigger was skipped: $(cat log)"

# No more than so many.
fly regions --snapshot-on 'region parse 2 > 5 ms' --snapshot-every 0.001 --snapshot-most 2 --snapshots mine
wait_until 60 test -d mine/2 || fail "no second snapshot"
wait_until 60 sh -c 'sleep 0.2; test "$("$0" ctl r status | sed "s/.* \([0-9]*\) records.*/\1/")" -gt 40' "$UPMU" ||
    fail "the program records no more"
land
[ ! -e mine/3 ] || fail "more snapshots than --snapshot-most"
has log "2 snapshots taken"

# A wait.
begin --ring 256K -o w --snapshot-on 'wait > 100 us'
wait_until 60 test -d w-snapshots/1 || fail "no snapshot of a wait"
finish_worker
at_least 1 w-snapshots/1 block
has err "snapshot w-snapshots/1: wait > 100 us: "

# A deadlock is in the snapshot, and only there: the program ends without its report.
fly both --snapshot-on deadlock
touch end.deadlock
wait_until 60 test -d r-snapshots/1 || fail "no snapshot of a deadlock"
expect 3 "$UPMU" deadlock r-snapshots/1
has out "2 threads wait for each other"
land

# The last moments of a program: its request is carried out after its end.
expect 0 "$UPMU" record --ring 256K -o last --snapshot-on 'wait join > 1 ns' -- "$WORKER" 3
[ -d last-snapshots/1 ] || fail "the request of the last moment was dropped: $(cat err)"

# A process that is not the first one, and one that is executed.
expect 0 "$UPMU" record --ring 256K -o child --snapshot-on 'wait > 10 us' -- sh -c "$WORKER 20; exec $WORKER 20"
[ -d child-snapshots/1 ] || fail "no snapshot of a child: $(cat err)"

# Texts that are no triggers, with what would be right.
while IFS='|' read -r trigger message; do
    expect 2 "$UPMU" record --ring 64K --snapshot-on "$trigger" true
    has err "$message"
done <<'END'
|is empty. Use "region NAME > 50 ms", "wait > 100 ms" or "deadlock"
wait|has no threshold
wait > 100|"100" is not a duration. Use a number above 0 with ns, us, ms or s
wait > 0 ms|is not a duration
wait > ms|is not a duration
wait mutex > 1 ms|a wait is one of lock, cond, sem, barrier, join, futex or any, not "mutex"
region > 1 ms|the name of the region is missing. Use "region NAME > 50 ms"
stall > 1 ms|is not known. Use "region NAME > 50 ms", "wait > 100 ms" or "deadlock"
deadlocks|has no threshold
region a;b > 1 ms|with ';' cannot be used
END
expect 2 "$UPMU" record --snapshot-on deadlock true
has err "add '--ring 64M'"
expect 2 "$UPMU" record --ring 64K --snapshot-most 3 true
has err "add '--snapshot-on"
expect 2 "$UPMU" record --ring 64K --snapshot-on deadlock --snapshot-most 0 true
expect 2 "$UPMU" record --ring 64K --snapshot-on deadlock --snapshot-every 0 true
# In the environment a mistake does not end the program.
env UPMU_TRACE=other UPMU_SNAPSHOT_ON='wait > soon' UPMU_SYNC=all LD_PRELOAD="$PRELOAD" "$WORKER" 3 >out 2>err ||
    fail "an invalid trigger ends the program"
has err '"soon" is not a duration'
finish
