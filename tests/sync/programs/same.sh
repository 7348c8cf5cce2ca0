#!/usr/bin/env bash
# same.sh BIN LIB COMMAND...: the command behaves the same untraced, with the library idle, and traced in each mode: same
# output, same errors, same exit status; and with no variable set the library writes no file.
set -euo pipefail
bin=$1 lib=$2
shift 2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# run NAME COMMAND...: its output, errors and status into files
run()
{
    local name=$1 status=0
    shift
    (cd "$scratch/empty" && "$@") >"$scratch/$name.out" 2>"$scratch/$name.err" || status=$?
    echo "$status" >"$scratch/$name.status"
}

same()
{
    for what in status err out; do
        cmp -s "$scratch/plain.$what" "$scratch/$1.$what" ||
            fail "$1: another $what: $(diff "$scratch/plain.$what" "$scratch/$1.$what" | head -20)"
    done
}

mkdir "$scratch/empty"
run plain "$@"
if [ "$(cat "$scratch/plain.status")" = 77 ]; then
    cat "$scratch/plain.out"
    exit 77
fi
[ "$(cat "$scratch/plain.status")" = 0 ] || fail "untraced: $(cat "$scratch/plain.status" "$scratch/plain.out" "$scratch/plain.err")"
run idle env LD_PRELOAD="$preload" "$@"
same idle
[ -z "$(ls -A "$scratch/empty")" ] || fail "idle: files were made: $(ls -A "$scratch/empty")"
for mode in paused counts contended holders all; do
    run $mode env UPMU_TRACE="$scratch/trace-$mode" UPMU_SYNC=$mode LD_PRELOAD="$preload" "$@"
    same $mode
    events "$scratch/trace-$mode" "$scratch/$mode.txt"
done
echo "the same in every mode: $*"
