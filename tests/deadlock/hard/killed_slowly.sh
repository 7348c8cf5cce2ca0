#!/usr/bin/env bash
# A deadlock that was found stays found while the process ends: one that was killed, but does not get a CPU for seconds.
#
#     killed_slowly.sh UPMU PROGRAM DIR PRELOAD
set -euo pipefail
upmu=$1 program=$2 dir=$3 preload=$4
for tool in taskset chrt; do
    command -v $tool >/dev/null || { echo "skipped, because $tool is not installed"; exit 77; }
done
cpu=$(taskset -pc $$ | sed 's/.*: *//; s/[,-].*//')
others=()
stop_others() {
    [ ${#others[@]} -eq 0 ] || kill "${others[@]}" 2>/dev/null || true
    others=()
}
trap stop_others EXIT

is_deadlocked() { "$upmu" deadlock "$1" >"$dir/out" 2>&1 && return 1 || [ $? -eq 3 ]; }

rm -rf "$dir"
mkdir -p "$dir"
for round in 1 2 3; do
    UPMU_SYNC=contended UPMU_TRACE=$dir/$round LD_PRELOAD=$preload "$program" px_killed "$dir/pid" &
    subject=$!
    for _ in $(seq 600); do
        if is_deadlocked "$dir/$round"; then break; fi
        sleep 0.05
    done
    taskset -ap -c "$cpu" $subject >/dev/null
    chrt -a -i -p 0 $subject
    for _ in $(seq 12); do
        taskset -c "$cpu" timeout 60 sh -c 'while :; do :; done' &
        others+=($!)
    done
    sleep 0.3
    kill -9 $subject
    is_deadlocked "$dir/$round" || { echo "FAILED: round $round: $(cat "$dir/out")"; exit 1; }
    stop_others
    wait $subject 2>/dev/null || true
done
rm -rf "$dir"
