#!/usr/bin/env bash
# Signal handlers that lock: what they take is counted exactly, or counted as lost where they interrupt the recorder itself.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$bin/sync_handlers" >/dev/null || fail "untraced: status $?"
for mode in counts contended holders all; do
    record "$scratch/$mode" $mode timeout 60 "$bin/sync_handlers" >"$scratch/out" || fail "$mode: status $?"
    read -r _ mutex _ handled <"$scratch/out"
    "$bin/sync_dump" "$scratch/$mode" >"$scratch/$mode.txt" || fail "$mode: the trace cannot be read"
    # The counts of a thread and lock go up; the last ones are the sum.
    counted=$(awk -v lock="object=$mutex" '/^counts/ && $5 == lock { split($13, n, "="); last[$3] = n[2] }
        END { for (t in last) sum += last[t]; print sum + 0 }' "$scratch/$mode.txt")
    lost=$(awk '/^process/ { sub(/.* lost=/, ""); sum += $0 } END { print sum + 0 }' "$scratch/$mode.txt")
    echo "$mode: $counted of $handled acquisitions, $lost events lost"
    [ "$counted" -le "$handled" ] && [ $((counted + lost)) -ge "$handled" ] || fail "$mode: acquisitions are missing"
    [ "$counted" -ge $((handled / 2)) ] || fail "$mode: hardly any acquisition was counted"
    expect "$scratch/$mode.txt" 0 '^misuse'
done
releases=$(count "$scratch/all.txt" "^release .*object=$mutex ")
[ $((releases + lost)) -ge "$handled" ] || fail "$releases of $handled releases, $lost events lost"
echo "handlers lock"
