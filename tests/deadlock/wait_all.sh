#!/usr/bin/env bash
# upmu record --wait-all: a process that outlives the command is watched, and the recorder ends after it, or at a signal.
#
#     wait_all.sh UPMU CORPUS DIR
set -euo pipefail
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0"
upmu=$1 corpus=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"

# The command has ended, and the recorder reports the deadlock of what it has left behind.
record() {
    rm -rf "$dir/recording" "$dir/pid" "$dir/err"
    # shellcheck disable=SC2016
    "$upmu" record --wait-all -o "$dir/recording" -- sh -c '"$0" cross_beside_work "$1" & exit 7' "$corpus" "$dir/pid" 2>"$dir/err" &
    recorder=$!
    for _ in $(seq 1200); do
        if grep -q '^deadlock \[cycle\]' "$dir/err"; then return; fi
        kill -0 $recorder 2>/dev/null || break
        sleep 0.05
    done
    fail "no deadlock was reported"
}

fail() {
    echo "FAILED: $1: $(cat "$dir/err")"
    kill -9 "$recorder" "$(cat "$dir/pid")" 2>/dev/null || true
    exit 1
}

ends_with_the_status() {
    local rc=0
    wait $recorder || rc=$?
    [ $rc -eq 7 ] || fail "the status is $rc, not that of the command"
    grep -q '^upmu: .* 0 lost' "$dir/err" || fail "no summary"
}

record
kill -0 $recorder || fail "the recorder has ended"
kill -9 "$(cat "$dir/pid")"
ends_with_the_status
! grep -q 'still running' "$dir/err" || fail "a process still runs"

record
kill -TERM $recorder # in the background SIGINT is ignored
ends_with_the_status
grep -q '1 still running' "$dir/err" || fail "the process was ended, too"
kill -9 "$(cat "$dir/pid")"
rm -rf "$dir"
