# shellcheck shell=bash
# What the tests of C++ libraries' locks share. Sourced behind common.sh; the caller has set upmu and program, whose first argument
# is the deadlock that it makes; without one it prints that all is done.
# shellcheck disable=SC2154

# record_modes EXPECTED: the program runs as by itself in every mode, and nothing is missing
record_modes()
{
    local mode
    [ "$("$program")" = "$1" ] || fail "it does not run by itself"
    for mode in all holders contended counts; do
        record "$scratch/$mode" "$mode" "$program" >"$scratch/out" || fail "mode $mode: status $?"
        [ "$(cat "$scratch/out")" = "$1" ] || fail "mode $mode: it printed $(cat "$scratch/out")"
        "$upmu" report --json "$scratch/$mode" >"$scratch/$mode.json" || fail "mode $mode: the report: status $?"
        grep -q '"unmatched": 0' "$scratch/$mode.json" || fail "mode $mode: $(grep -m1 unmatched "$scratch/$mode.json")"
        ! grep -E '"lost": [1-9]' "$scratch/$mode.json" || fail "mode $mode: events were lost"
    done
}

# record_events PATTERN...: a line of the dump in each mode with events matches each
record_events()
{
    local mode event
    for mode in all holders contended; do
        "$upmu" dump "$scratch/$mode" >"$scratch/dump-$mode" || fail "mode $mode: the trace cannot be read"
        for event in "$@"; do
            grep -qE " $event" "$scratch/dump-$mode" || fail "mode $mode: no event $event"
        done
    done
}

# Waits until a command succeeds.
until_true()
{
    for _ in $(seq 1200); do
        if "$@"; then return; fi
        sleep 0.05
    done
    fail "it never came true: $* (last: $(cat "$scratch/found"))"
}

# finds FINDING DIR: a line of the output matches. Output without one is kept in "found".
finds()
{
    "$upmu" deadlock "$2" >"$scratch/found" 2>&1 || true # 3: a deadlock was found; 1: there is no recording yet
    grep -q "$1" "$scratch/found"
}

# deadlock NAME FINDING LOCK...: PROGRAM NAME is found to have FINDING, whose threads wait for each LOCK
deadlock()
{
    local name=$1 finding=$2 lock when
    shift 2
    env UPMU_TRACE="$scratch/$name" UPMU_SYNC=holders LD_PRELOAD="$preload" "$program" "$name" >/dev/null &
    pid=$!
    trap 'kill -9 $pid; rm -rf "$scratch"' EXIT
    until_true finds "$finding" "$scratch/$name"
    for when in "while it lives" "after it was killed"; do
        for lock in "$@"; do
            grep -qE "waits for $lock" "$scratch/found" || fail "$name, $when: no thread waits for $lock: $(cat "$scratch/found")"
        done
        [ "$when" = "while it lives" ] || break
        kill -9 $pid
        wait $pid || true
        trap 'rm -rf "$scratch"' EXIT
        finds "$finding" "$scratch/$name" || fail "$name, after it was killed: $(cat "$scratch/found")"
    done
}
