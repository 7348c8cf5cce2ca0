#!/usr/bin/env bash
# c11_results.sh BIN LIB UPMU: results of threads.h are errno values in a trace, and named by them in reports.
set -euo pipefail
bin=$1 lib=$2 upmu=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
record "$scratch/trace" all "$bin/sync_c11_results" || fail "status $?"
events "$scratch/trace" "$scratch/events"
for line in "failed .*result=16" "failed .*result=110" "cond_wake .*result=110"; do
    grep -q "$line" "$scratch/events" || fail "no $line: $(cat "$scratch/events")"
done
"$upmu" report --view timeline "$scratch/trace" >"$scratch/rows" || fail "the timeline: status $?"
[ "$(grep -c ETIMEDOUT "$scratch/rows")" -eq 2 ] || fail "not twice ETIMEDOUT: $(cat "$scratch/rows")"
! grep -E 'EINTR|EPERM' "$scratch/rows" || fail "a result of threads.h was taken for an errno value"
