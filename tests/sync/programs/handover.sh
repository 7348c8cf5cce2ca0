#!/usr/bin/env bash
# handover.sh BIN LIB: the recorder does not keep a thread that was signaled from continuing while the other one begins to wait. A pause
# of the recorder took two seconds. The least of five runs counts: a busy machine may be slow in one.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

for mode in contended holders all; do
    least=1000000
    for run in 1 2 3 4 5; do
        ms=$(record "$scratch/$mode.$run" "$mode" "$bin/sync_handover")
        [ "$ms" -ge "$least" ] || least=$ms
    done
    [ "$least" -lt 1000 ] || fail "$mode: two threads handed over for $least ms"
done
