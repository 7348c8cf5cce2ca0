#!/usr/bin/env bash
# Under a seccomp filter that kills on any other call, the calls of docs/security.md suffice: nothing is lost.
set -euo pipefail
bin=$1 lib=$2 page=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# A filter that is installed by an instruction of the program is not seen, and must be as harmless.
for mode in contended all; do
    for kind in prctl asm; do
        status=0
        UPMU_TRACE_PACKET=16K record "$scratch/$mode.$kind" $mode "$bin/sync_sandbox" $kind >"$scratch/out" 2>&1 ||
            status=$?
        if [ $status -eq 77 ] && [ $kind = asm ]; then echo "sandbox: $(cat "$scratch/out")"; continue; fi
        if [ $status -eq 77 ]; then cat "$scratch/out"; exit 77; fi
        [ $status -eq 0 ] || fail "$mode, $kind: status $status: $(cat "$scratch/out")"
        grep -qx 'acquired 36000' "$scratch/out" || fail "$mode, $kind: $(cat "$scratch/out")"
        events "$scratch/$mode.$kind" "$scratch/events"
        expect "$scratch/events" 1 '^process .* filtered=1 failed=0 complete=1 lost=0$' # the forked child is not recorded
    done
    # Servers lock themselves into an empty folder first: filters cannot be read there.
    if [ "$(id -u)" -ne 0 ]; then echo "sandbox: skipped with another root directory, because that needs root"; continue; fi
    mkdir -p "$scratch/empty"
    for kind in prctl asm; do
        status=0
        UPMU_TRACE_PACKET=16K record "$scratch/$mode.$kind.empty" $mode "$bin/sync_sandbox" $kind "$scratch/empty" >"$scratch/out" 2>&1 ||
            status=$?
        [ $status -eq 0 ] || [ $status -eq 77 ] || fail "$mode, $kind, another root directory: status $status: $(cat "$scratch/out")"
    done
done
for call in $("$bin/sync_sandbox" list); do
    grep -q "\`$call" "$page" || fail "$page does not list $call"
done
echo "the documented calls suffice"
