#!/usr/bin/env bash
# clocks.sh BIN LIB CLOCK: programs under a preloaded library whose time functions lock behave as without the recorder,
# and are recorded. CLOCK is that library, or "libfaketime" for Debian's.
set -euo pipefail
bin=$1 lib=$2 clock=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

if [ "$clock" = libfaketime ]; then
    clock=$(find /usr/lib -name libfaketimeMT.so.1 -print -quit)
    [ -n "$clock" ] || { echo "skipped, because libfaketime is not installed" && exit 77; }
    export FAKETIME=+1h FAKETIME_DONT_FAKE_MONOTONIC=1
    programs="sync_answers sync_standard" # under it sync_cancel hangs by itself
else
    programs="sync_cancel sync_answers sync_standard"
fi

# run NAME PRELOAD PROGRAM: its output and status into a file
run()
{
    local status=0
    LD_PRELOAD=$2 timeout 60 "$3" >"$scratch/$1" 2>&1 || status=$?
    echo "status $status" >>"$scratch/$1"
}

for program in $programs; do
    run plain "$clock" "$bin/$program"
    for mode in contended holders all counts; do
        for order in "$clock:$preload" "$preload:$clock"; do
            dir=$scratch/$program-$mode
            rm -rf "$dir"
            UPMU_TRACE=$dir UPMU_SYNC=$mode run recorded "$order" "$bin/$program"
            cmp -s "$scratch/plain" "$scratch/recorded" ||
                fail "$program, $mode, under $order: $(diff "$scratch/plain" "$scratch/recorded")"
            "$bin/sync_dump" "$dir" >"$scratch/dump" || fail "$program, $mode: the trace cannot be read"
            grep -q '^counts ' "$scratch/dump" || fail "$program, $mode: nothing was recorded"
        done
    done
done
# A packet that is full within such a function must not call one: it would wait for its own thread.
if [[ $clock != *faketime* ]]; then
    for order in "$clock:$preload" "$preload:$clock"; do
        UPMU_TRACE_PACKET=16K UPMU_TRACE=$scratch/full UPMU_SYNC=all LD_PRELOAD=$order timeout -s KILL 60 "$bin/sync_asks_time" ||
            fail "asks_time, all, under $order: status $?"
        rm -r "$scratch/full"
    done
fi
echo "the same under a clock that locks"
