#!/usr/bin/env bash
# masks.sh BIN LIB: walks by libunwind block signals once each, not at each of its locks, and leave the masks as they were.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

export UPMU_SYNC_STACKS=128
for mode in holders all; do
    record "$scratch/$mode" $mode "$bin/sync_masks" >"$scratch/out" || fail "mode $mode: $(cat "$scratch/out")"
    events "$scratch/$mode" "$scratch/events"
    [ "$(count "$scratch/events" '^init ')" -ge 1000 ] || fail "mode $mode: not all 1,000 mutexes are there"
done

command -v strace >/dev/null || { echo "calls not counted: skipped, because strace is not installed"; exit 0; }
grep -q 'libunwind' < <(ldconfig -p) || { echo "calls not counted: skipped, because libunwind is not installed"; exit 0; }
UPMU_TRACE=$scratch/traced UPMU_SYNC=holders strace -f -qq -e trace=rt_sigprocmask -o "$scratch/calls" -E LD_PRELOAD="$preload" \
    "$bin/sync_masks" quiet >"$scratch/out" 2>"$scratch/err" ||
    { grep -q 'ptrace' "$scratch/err" && { echo "calls not counted: skipped, because tracing is not allowed here"; exit 0; }; fail "$(cat "$scratch/out" "$scratch/err")"; }
calls=$(count "$scratch/calls" rt_sigprocmask)
# 50 threads with 64 frames that are new to each, at which libunwind blocked signals twice, by two calls.
[ "$calls" -lt 12800 ] || fail "$calls calls of rt_sigprocmask"
echo "$calls calls of rt_sigprocmask by 1,000 walks of 64 frames"
