#!/usr/bin/env bash
# examples/readback: a program that switches its regions on itself reads the same numbers that a report would show.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program=$1 report=$scratch/report.json
silent "$program"
grep -qE '^touch: 50 times, [0-9.]+ ms in all' "$scratch/stdout" || fail "it printed: $(cat "$scratch/stdout")"
for event in page-faults task-clock instructions; do
    grep -qE "^  $event +(sum [0-9]+, min [0-9]+, max [0-9]+, .*(exact|scaled)|(refused|unsupported|not counted) \(.+\))$" \
        "$scratch/stdout" || fail "no line for $event: $(cat "$scratch/stdout")"
done

# The environment adds a report to it.
UPMU_REPORT=json UPMU_OUTPUT=$report "$program" >/dev/null
holds "$report" 'total["touch"]["count"] == 50 and total["touch"]["wall_ns"]["min"] > 0'
