#!/usr/bin/env bash
# A process that posts a shared semaphore as its last act: the waiter is not deadlocked, though all that is left of the other
# process may be gone when the memory's users are counted. The moment is short: many runs, several at a time.
#
#     last_act.sh UPMU PROGRAM DIR
set -euo pipefail
upmu=$1 program=$2 dir=$3
runs=24 at_a_time=8
rm -rf "$dir"
mkdir -p "$dir"

one() {
    local at=$dir/$1 rc=0
    "$upmu" record -o "$at" -- "$program" px_post_late "$at.pid" >"$at.out" 2>"$at.err" || rc=$?
    if [ "$rc" -ne 0 ]; then
        echo "FAILED: run $1 ended with status $rc: $(cat "$at.err")"
        return 1
    fi
    if grep -Eq '^(deadlock|stalled)' "$at.err"; then
        echo "FAILED: run $1 was reported as deadlocked: $(cat "$at.err")"
        return 1
    fi
}

failed=0
for first in $(seq 1 $at_a_time $runs); do
    pids=()
    for ((i = first; i < first + at_a_time; i++)); do
        one "$i" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
done
[ "$failed" -eq 0 ] || exit 1
rm -rf "$dir"
