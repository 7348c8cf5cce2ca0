#!/usr/bin/env bash
# A wait that a signal handler left by siglongjmp() is part of no deadlock: not while the thread computes, not after its process was
# killed or has ended. A deadlock that a handler interrupts again and again is one.
#
#     jump.sh UPMU PROGRAM DIR
set -euo pipefail
upmu=$1 program=$2 dir=$3

fail() {
    echo "FAILED: $1"
    kill -9 "$(pgrep -P "$recorder")" 2>/dev/null || true
    exit 1
}

until_true() {
    for _ in $(seq 1200); do
        if "$@" 2>/dev/null; then return; fi
        sleep 0.05
    done
    fail "it never came true: $*"
}

begin() {
    "$upmu" record -o "$dir/$1" -- "$program" "$2" "$dir/$1.stop" >"$dir/$1.out" 2>"$dir/$1.err" &
    recorder=$!
}

# No deadlock is found in the recording $1, nor was reported by its recorder.
none() {
    local rc=0
    "$upmu" deadlock "$dir/$1" >"$dir/$1.found" 2>&1 || rc=$?
    if [ $rc -ne 0 ] && grep -E '^(deadlock|stalled)' "$dir/$1.found"; then fail "$1: $2: $(cat "$dir/$1.found")"; fi
    if grep -E '^(deadlock|stalled)' "$dir/$1.err"; then fail "$1: the recorder reported one"; fi
}

found() { grep -q '^deadlock \[self\]' "$dir/$1.err"; }

rm -rf "$dir"
mkdir -p "$dir"
for case in cycle self; do
    begin "$case" "$case"
    until_true grep -q computing "$dir/$case.out"
    sleep 1.5 # the recorder inspects about once per second
    none "$case" "while the thread computes"
    touch "$dir/$case.stop"
    wait "$recorder" || fail "$case: upmu record: $?"
    grep -q '^ok' "$dir/$case.out" || fail "$case: the program did not end"
    none "$case" "after its end"

    begin "$case-killed" "$case"
    until_true grep -q computing "$dir/$case-killed.out"
    for _ in 1 2; do none "$case-killed" "while the thread computes"; done # two inspections find the same
    kill -9 "$(pgrep -P "$recorder")"
    wait "$recorder" 2>/dev/null || true
    none "$case-killed" "after it was killed"
done

begin end end
wait "$recorder" || fail "end: upmu record: $?"
none end "after main() returned"

begin real real
until_true found real
rc=0
"$upmu" deadlock "$dir/real" >"$dir/real.found" || rc=$?
[ $rc -eq 3 ] || fail "real: not found while its threads are interrupted: $(cat "$dir/real.found")"
kill -9 "$(pgrep -P "$recorder")"
wait "$recorder" 2>/dev/null || true
rc=0
"$upmu" deadlock "$dir/real" >"$dir/real.found" || rc=$?
[ $rc -eq 3 ] || fail "real: not found after it was killed: $(cat "$dir/real.found")"
rm -rf "$dir"
