#!/usr/bin/env bash
# examples/overflow: both functions of the program are in its profile; an unknown event is an error with a suggestion.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program=$1
silent "$program" task-clock 500000
for name in add divide; do
    grep -qE "^ +[0-9]+  $name\$" "$scratch/stdout" || fail "no samples in $name(): $(cat "$scratch/stdout")"
done
grep -qE '^[0-9]+ calls, which stand for [0-9]+ of [0-9]+$' "$scratch/stdout" || fail "no sums: $(cat "$scratch/stdout")"

status=0
"$program" page-fualts 1 >"$scratch/stdout" 2>"$scratch/stderr" || status=$?
[ $status -eq 1 ] || fail "an unknown event gave status $status"
grep -q "did you mean 'page-faults'" "$scratch/stderr" || fail "no suggestion for page-fualts: $(cat "$scratch/stderr")"
