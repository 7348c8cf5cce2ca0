# SPDX-License-Identifier: MIT
# upmu ctl on a program that runs: what is recorded follows its word.
. "$(dirname "$0")/lib.sh"

mode_is() {
    expect 0 "$UPMU" ctl "$1" status
    has out "running, mode $2,"
}
events() {
    "$UPMU" ctl "$1" status | sed -n 's/.* \([0-9]*\) records.*/\1/p'
}
grows() {
    [ "$(events "$1")" -gt "$2" ]
}

begin --paused --mode all -o trace
mode_is "$pid" stopped
before=$(events "$pid")
sleep 0.3
[ "$(events "$pid")" -eq "$before" ] || fail "events while paused"
expect 0 "$UPMU" ctl "$pid" start
mode_is trace all
wait_until 60 grows "$pid" $((before + 50)) || fail "no events after start"
expect 0 "$UPMU" ctl trace mode holders
mode_is "$pid" holders
expect 0 "$UPMU" ctl "$pid" stop
mode_is "$pid" stopped
sleep 0.1
before=$(events "$pid")
sleep 0.3
[ "$(events "$pid")" -eq "$before" ] || fail "events after stop"
# A mode chosen while stopped holds from the next start on.
expect 0 "$UPMU" ctl "$pid" mode counts
mode_is "$pid" stopped
expect 0 "$UPMU" ctl "$pid" start
mode_is "$pid" counts
expect 0 "$UPMU" ctl "$pid" start
mode_is "$pid" counts
grep -q ' 2 threads, in ' < <("$UPMU" ctl "$pid" status) || fail "threads: $("$UPMU" ctl "$pid" status)"
finish_worker
expect 0 "$UPMU" report -v timeline trace
# Times count from the start of the process's recording: the time before the first start is one of them.
grep -qE '^  recording was stopped from 0\.[0-9]{6} to [0-9.]+, [0-9.]+ to [0-9.]+ s$' out || fail "the timeline does not show the stop: $(head -n 4 out)"
grep -qE '^  only counts were recorded from [0-9.]+ to [0-9.]+ s$' out || fail "the timeline does not show the time in counts: $(head -n 4 out)"
expect 1 "$UPMU" ctl trace start
has err "has ended"
expect 0 "$UPMU" ctl trace status
has out "ended, mode none,"
expect 1 "$UPMU" ctl "$pid" status
has err "there is no process $pid"

# Of a stretch within a stop it is not known whether recording was ever started.
begin --mode all -o within
expect 0 "$UPMU" ctl "$pid" stop
sleep 0.3
expect 0 "$UPMU" ctl "$pid" start
finish_worker
expect 0 "$UPMU" report -v timeline within
stop=$(sed -n 's/^  recording was stopped from \([0-9.]*\) to .*/\1/p' out)
expect 0 "$UPMU" report --from "$(awk "BEGIN { print $stop + 0.1 }")" --to "$(awk "BEGIN { print $stop + 0.2 }")" within
has out "    recording was stopped 100.0 ms of 100.0 ms"

# A process with regions only, a process without anything, no trace at all.
rm -f end out
UPMU_TRACE=$work/regions "$REGIONS" "$work/end" >out &
pid=$!
wait_until 60 grep -q ready out || fail "the program with regions did not start"
expect 0 "$UPMU" ctl $pid status
has out "mode no sync tracing"
expect 1 "$UPMU" ctl $pid start
has err "sync tracing is not on"
expect 0 "$UPMU" ctl $pid mark "from outside"
touch end
wait $pid
at_least 1 regions "from outside"
expect 1 "$UPMU" ctl $$ status
has err "records nothing"
mkdir nothing
expect 1 "$UPMU" ctl nothing status
has err "not a libupmu trace"
expect 1 "$UPMU" ctl no-such-directory start

# Version and magic of the control file are looked at.
begin -o other
control=$(echo other/*/.control)
printf '\011' | dd of="$control" bs=1 seek=8 conv=notrunc status=none
expect 1 "$UPMU" ctl other stop
has err "version 9"
printf 'x' | dd of="$control" bs=1 seek=0 conv=notrunc status=none
expect 1 "$UPMU" ctl other stop
has err "not a control file"
finish_worker

# The command line.
expect 2 "$UPMU" ctl
expect 2 "$UPMU" ctl 1
expect 2 "$UPMU" ctl 1 halt
expect 2 "$UPMU" ctl 1 mode
expect 2 "$UPMU" ctl 1 mode some
expect 2 "$UPMU" ctl 1 mark
expect 2 "$UPMU" ctl 1 start now
expect 2 "$UPMU" record
expect 2 "$UPMU" record --mode some true
expect 2 "$UPMU" record --stack-depth 257 true
expect 2 "$UPMU" record --stack-depth 3 --no-stacks true
expect 2 "$UPMU" record --requests true
has err "add '--mode all'"
expect 0 "$UPMU" record --requests --mode all -o t-requests "$WORKER" 3
"$UPMU" dump t-requests >out
has out "lock-request"
finish
