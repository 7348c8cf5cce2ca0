# SPDX-License-Identifier: MIT
# upmu stat COMMAND and signals: the terminal's Ctrl-C reaches the command, and the report still comes.
. "$(dirname "$0")/../lib.sh"
[ "${SANITIZED:-}" != thread ] || skip "the thread sanitizer holds signals back while a program waits"
# In a group of its own, with SIGINT as a terminal would find it (a script's background jobs ignore it).
set -m

# start WORDS...: in the background, $group being its process group.
start() {
    rm -f "$work/out"
    "$UPMU" stat --json -o "$work/json" -e task-clock "$@" >"$work/out" 2>"$work/err" &
    group=$!
    wait_until 60 grep -q ready "$work/out" || fail "'$*' did not start"
}

ended_with() {
    wait $group
    local status=$?
    [ $status -eq "$1" ] || { fail "ended with $status, not $1"; show >&2; }
}

start sh -c 'echo ready; exec sleep 600'
kill -INT -- -$group
ended_with 130
json "$work/json" "assert d['exit_status'] == 130 and d['elapsed_s'] < 300 and d['events'][0]['value'] > 0"

# A command that ignores Ctrl-C is waited for, and its own status counts.
start "$LOAD" ignore 1
kill -INT -- -$group
ended_with 7
json "$work/json" "assert d['exit_status'] == 7 and d['elapsed_s'] >= 0.9"

# SIGTERM to upmu alone is passed on.
start sh -c 'echo ready; exec sleep 600'
kill -TERM $group
ended_with 143
json "$work/json" "assert d['exit_status'] == 143 and d['elapsed_s'] < 300"

# An interrupted run among several is left out, reported, and ends the repetition.
start -r 50 sh -c "echo x >>'$work/runs'; if [ \$(wc -l <'$work/runs') -ge 4 ]; then echo ready; exec sleep 600; fi"
kill -INT -- -$group
ended_with 130
json "$work/json" "assert d['runs'] == 3 and d['interrupted_run'] == 4 and d['elapsed_s'] < 300, d"
[ "$(wc -l <"$work/runs")" -eq 4 ] || fail "the repetition continued after Ctrl-C"

# Who ignores the end of children gets the command's status all the same.
(trap '' CHLD; "$UPMU" stat -o "$work/report" -e task-clock sh -c 'exit 9')
[ $? -eq 9 ] || fail "SIGCHLD is ignored, and the status is lost"

# The command starts with the signals the shell gave us: here SIGINT ignored, and nothing else.
(trap '' INT; "$UPMU" stat -o "$work/report" -e task-clock grep SigIgn /proc/self/status >"$work/with")
("$UPMU" stat -o "$work/report" -e task-clock grep SigIgn /proc/self/status >"$work/without")
grep SigIgn /proc/self/status >"$work/plain"
cmp -s "$work/without" "$work/plain" || fail "the command inherits other signals than ours"
grep -q '2$' "$work/with" || fail "an ignored SIGINT did not stay ignored: $(cat "$work/with")"
finish
