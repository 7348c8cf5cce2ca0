#!/usr/bin/env bash
# Call stacks close to a memory limit: threads are unwound without allocating, so no program ends.
# With too little memory for all its threads, pthread_create() fails at worst.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../../common.sh"

enough=24 # MiB
for mode in contended all; do
    for mib in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 $enough; do
        status=0
        rm -rf "$scratch/trace"
        record "$scratch/trace" $mode timeout 60 "$bin/sync_little_memory" "$mib" >"$scratch/out" 2>&1 || status=$?
        [ "$status" -eq 0 ] || grep -q 'threads could be made' "$scratch/out" ||
            fail "$mode, $mib MiB: status $status: $(cat "$scratch/out")"
    done
    [ "$status" -eq 0 ] || fail "$mode: $enough MiB are not enough: $(cat "$scratch/out")"
    events "$scratch/trace" "$scratch/$mode.txt"
    [ "$(count "$scratch/$mode.txt" '^block .* frames=[3-9] ')" -gt 0 ] || fail "$mode: waits have no call stacks"
done
echo "little memory ends no program"
