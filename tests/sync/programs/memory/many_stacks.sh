#!/usr/bin/env bash
# More different call stacks than the first part of the table has slots for: each is recorded, no event is lost.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../../common.sh"

n=60000
record "$scratch/trace" all "$bin/sync_many_stacks" $n
events "$scratch/trace" "$scratch/events"
found=$(grep -cE '^acquire .* frames=([89]|[1-9][0-9]) ' "$scratch/events" || true)
[ "$found" -eq $n ] || fail "$found acquisitions with a call stack of $n: $(grep -m 1 '^acquire' "$scratch/events")"
