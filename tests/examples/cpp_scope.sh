#!/usr/bin/env bash
# examples/cpp_scope: a region ends with its block also when an exception leaves it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program=$1 report=$scratch/report.json
silent "$program"
grep -qF 'the last text was refused' "$scratch/stdout" || fail "it printed: $(cat "$scratch/stdout")"

UPMU_REPORT=json UPMU_OUTPUT=$report "$program" >/dev/null
holds "$report" 'total["count words"]["count"] == 1001 and total["count words"]["open"] == 0'
holds "$report" 'r["health"]["never_ended"] == 0 and r["health"]["closed_by_outer"] == 0'
