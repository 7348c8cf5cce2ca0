#!/usr/bin/env bash
# Both versions of condition variables are recorded, each by its own calls.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

status=0
record "$scratch/all" all "$bin/sync_old_cond" >"$scratch/out" || status=$?
[ $status -ne 77 ] || { cat "$scratch/out"; exit 77; }
[ $status -eq 0 ] || fail "status $status: $(cat "$scratch/out")"
f=$scratch/all.txt
events "$scratch/all" "$f"
expect "$f" 1 '^init .*type=2 '
expect "$f" 1 '^destroy .*type=2 '
expect "$f" 1 '^cond_broadcast '
expect "$f" 2 '^cond_signal ' # one of each version
expect "$f" 1 '^cond_wake .*result=110 '
objects=$(awk '/^cond_/ { for (i = 1; i <= NF; i++) if ($i ~ /^object=/) print $i }' "$f" | sort -u | wc -l)
[ "$objects" -eq 2 ] || fail "$objects condition variables instead of 2"
echo "condition variables of both versions are distinguished"
