#!/usr/bin/env bash
# same_foreign.sh PROGRAM LIBRARY EMULATOR...: a program of another instruction set behaves the same alone and with the
# library preloaded, and leaves a recording then.
set -euo pipefail
program=$1 library=$2
shift 2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# run NAME EMULATOR...: output, errors and status of the program into files
run()
{
    local name=$1 status=0
    shift
    "$@" "$program" >"$scratch/$name.out" 2>"$scratch/$name.err" || status=$?
    echo "$status" >"$scratch/$name.status"
}

run plain "$@"
[ "$(cat "$scratch/plain.status")" = 0 ] || fail "alone: $(cat "$scratch"/plain.*)"
for mode in contended holders all; do
    run $mode "$@" -E LD_PRELOAD="$library" -E UPMU_SYNC=$mode -E UPMU_TRACE="$scratch/trace-$mode"
    for what in status err out; do
        cmp -s "$scratch/plain.$what" "$scratch/$mode.$what" ||
            fail "$mode: another $what: $(diff "$scratch/plain.$what" "$scratch/$mode.$what" | head -20)"
    done
    [ -s "$(find "$scratch/trace-$mode" -name stream_0000)" ] || fail "$mode: nothing is recorded"
done
echo "the same in every mode: $program"
