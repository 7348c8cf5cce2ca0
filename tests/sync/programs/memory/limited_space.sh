#!/usr/bin/env bash
# Under a limit of the address space, a thread can be made wherever the program makes one with the library loaded that records nothing:
# the recorder maps little, and unmaps it where recording cannot begin.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../../common.sh"

runs() { # KiB COMMAND...
    (
        ulimit -v "$1"
        shift
        "$@"
    ) >"$scratch/out" 2>&1
}

recorded=0 checked=0
for kib in $(seq 14000 2000 40000) 64000 128000; do
    runs "$kib" env LD_PRELOAD="$preload" "$bin/sync_one_thread" || continue
    checked=$((checked + 1))
    rm -rf "$scratch/trace"
    status=0
    runs "$kib" env LD_PRELOAD="$preload" UPMU_SYNC=holders UPMU_TRACE="$scratch/trace" "$bin/sync_one_thread" || status=$?
    [ "$status" -eq 0 ] || fail "ulimit -v $kib: status $status: $(cat "$scratch/out")"
    if ! grep -q 'not recorded' "$scratch/out"; then recorded=$((recorded + 1)); fi
done
[ "$checked" -ge 8 ] || fail "the program ran under $checked limits only"
[ "$recorded" -ge 5 ] || fail "recorded under $recorded limits only"
echo "a thread under $checked limits, recorded under $recorded"
