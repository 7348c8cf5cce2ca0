#!/usr/bin/env bash
# A program in a pid namespace of its own, watched from outside.
#
#     namespace.sh UPMU CORPUS DIR
set -euo pipefail
upmu=$1 corpus=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
unshare -fp true 2>/dev/null || { echo "skipped, because a pid namespace cannot be made here"; exit 77; }
recorder=
fail() {
    echo "FAILED: $1"
    kill -9 -- "-$recorder" 2>/dev/null || true
    exit 1
}

# judged SUBJECT: a cycle, with call stacks
judged() {
    local rc=0 text
    text=$("$upmu" deadlock "$1" 2>&1) || rc=$?
    [ $rc -eq 3 ] || fail "$1: status $rc: $text"
    grep -q '^deadlock \[cycle\]' <<<"$text" || fail "$1: $text"
    grep -Eq '#[0-9]+ +(take_both|both_early) at ' <<<"$text" || fail "$1: no call stack: $text"
}

# With the processes of the outer namespace in /proc, and with those of its own.
for case in cross_normal late_after_deadlock; do
    for proc in "" --mount-proc; do
        rm -rf "$dir/recording" "$dir/pid" "$dir/err"
        # shellcheck disable=SC2086
        setsid "$upmu" record -o "$dir/recording" -- unshare -fp $proc "$corpus" $case "$dir/pid" >"$dir/err" 2>&1 &
        recorder=$!
        for _ in $(seq 600); do
            if grep -q '^deadlock \[cycle\]' "$dir/err"; then break; fi
            sleep 0.1
        done
        grep -q '^deadlock \[cycle\]' "$dir/err" || fail "$case $proc is not reported: $(cat "$dir/err")"
        [ "$(cat "$dir/pid")" = 1 ] || fail "its id inside is not 1"
        outer=
        for status in /proc/[0-9]*/status; do
            if grep -Eq '^NSpid:.*[[:space:]]1$' "$status" 2>/dev/null &&
                grep -aq "$case" "${status%status}cmdline" 2>/dev/null; then
                outer=${status#/proc/} outer=${outer%/status}
            fi
        done
        [ -n "$outer" ] || fail "$case $proc: no process in a namespace"
        judged "$dir/recording"
        judged "$outer"
        kill -9 "$outer"
        judged "$dir/recording"
        wait "$recorder" || true
    done
done

# Ended, though the outer namespace has a process 1, too.
rm -rf "$dir/recording"
"$upmu" record -o "$dir/recording" -- unshare -fp /bin/true 2>"$dir/err" || fail "not recorded: $(cat "$dir/err")"
! grep -q 'still running' "$dir/err" || fail "summary of an ended process: $(cat "$dir/err")"
"$upmu" ctl "$dir/recording" status >"$dir/status" || fail "no status"
grep -q '^process 1: ended,' "$dir/status" || fail "status of an ended process: $(cat "$dir/status")"
rm -rf "$dir"
