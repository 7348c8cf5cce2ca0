#!/usr/bin/env bash
# examples/regions: silent by default; with the environment its three forms are measured per region and thread.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program=$1 report=$scratch/report.json
silent "$program"
grep -q '^4 threads agree on ' "$scratch/stdout" || fail "it printed: $(cat "$scratch/stdout")"

UPMU_EVENTS=page-faults UPMU_REPORT=json UPMU_OUTPUT=$report "$program" >/dev/null
holds "$report" 'total["work"]["count"] == 4 and total["work"]["threads"] == 4'
holds "$report" 'total["fill"]["count"] == 800 and total["sort"]["count"] == 800'
# Self time is what is left of the wall time once the regions inside are taken off.
holds "$report" 'abs(total["work"]["wall_ns"]["sum"] - total["work"]["self_ns"]
    - total["fill"]["wall_ns"]["sum"] - total["sort"]["wall_ns"]["sum"]) <= 2000'
holds "$report" 'r["health"]["marks"] == 2 and r["health"]["end_without_begin"] == 0'
holds "$report" 'len([x for x in r["regions"] if x["region"] == "sort" and x["thread"]]) == 4'
