# SPDX-License-Identifier: MIT
# Signals: the terminal's reach the command, those sent to upmu alone are passed on, and the recording is always closed.
. "$(dirname "$0")/lib.sh"
set -m

# start NAME: the worker in a process group of its own
start() {
    rm -f out end
    "$UPMU" record -o "$1" -- "$WORKER" "$work/end" >out 2>err &
    group=$!
    wait_until 60 grep -q ready out || fail "the worker did not start"
    sleep 0.1
}

ended_with() {
    wait $group
    local status=$?
    [ $status -eq "$1" ] || { fail "ended with $status, not $1"; show >&2; }
    has err "records of 1 process"
    at_least 1 "$2" "block pid"
}

start int
kill -INT -- -$group
ended_with 130 int
start term
kill -TERM $group
ended_with 143 term
start kill
kill -KILL "$(pgrep -P $group)"
ended_with 137 kill
[ "$(find kill -name 'stream_*' | wc -l)" -ge 2 ] || fail "streams"
if command -v babeltrace2 >/dev/null; then
    babeltrace2 kill >text || fail "babeltrace2 does not read a killed process's trace after upmu record"
    [ -s text ] || fail "babeltrace2 sees no event"
fi

# The command has the signals the shell gave us.
(trap '' INT; "$UPMU" record -o ignored grep SigIgn /proc/self/status >with 2>/dev/null)
"$UPMU" record -o default grep SigIgn /proc/self/status >without 2>/dev/null
grep SigIgn /proc/self/status >plain
cmp -s without plain || fail "the command inherits other signals than ours"
grep -q '2$' with || fail "an ignored SIGINT did not stay ignored"
finish
