#!/usr/bin/env bash
# Under a seccomp filter that kills on any other call, the calls of docs/security.md suffice: nothing is lost.
set -euo pipefail
bin=$1 lib=$2 page=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

for mode in contended all; do
    status=0
    UPMU_TRACE_PACKET=16K record "$scratch/$mode" $mode "$bin/sync_sandbox" >"$scratch/out" 2>&1 || status=$?
    if [ $status -eq 77 ]; then cat "$scratch/out"; exit 77; fi
    [ $status -eq 0 ] || fail "$mode: status $status: $(cat "$scratch/out")"
    grep -qx 'acquired 36000' "$scratch/out" || fail "$mode: $(cat "$scratch/out")"
    events "$scratch/$mode" "$scratch/events"
done
acquired=$(count "$scratch/events" '^acquired? ')
[ "$acquired" -ge 36000 ] || fail "$acquired acquisitions are recorded"
for call in $("$bin/sync_sandbox" list); do
    grep -q "\`$call" "$page" || fail "$page does not list $call"
done
echo "the documented calls suffice"
