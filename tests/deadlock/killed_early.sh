#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A deadlock of a process that is killed before the last thread sleeps: it looks at the other threads first, for up to 2 s.
#
#     killed_early.sh UPMU PROGRAM DIR
set -euo pipefail
upmu=$1 program=$2 dir=$3

fail() {
    echo "FAILED: $*"
    exit 1
}

rm -rf "$dir"
mkdir -p "$dir"
for round in 1 2 3; do
    # The library alone: `upmu record` would save what it finds while the process lives.
    LD_PRELOAD=$PRELOAD UPMU_SYNC=holders UPMU_TRACE=$dir/rec$round "$program" >"$dir/out$round" &
    pid=$!
    for _ in $(seq 600); do
        ! grep -q deadlock "$dir/out$round" || break
        sleep 0.02
    done
    sleep 0.3
    kill -9 $pid
    wait $pid 2>/dev/null || true
    rc=0
    "$upmu" deadlock "$dir/rec$round" >"$dir/report" || rc=$?
    [ $rc -eq 3 ] || fail "round $round: upmu deadlock ended with $rc: $(cat "$dir/report")"
    grep -q '^deadlock \[cycle\]' "$dir/report" || fail "round $round: no deadlock: $(cat "$dir/report")"
done
