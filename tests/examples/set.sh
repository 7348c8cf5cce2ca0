#!/usr/bin/env bash
# examples/set: a number where there is one, the status and its reason where there is none, an error for no event.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program=$1
silent "$program" page-faults,instructions
# 8 MB of fresh memory are 2,048 pages of 4 KiB, or 4 of 2 MiB; a sanitizer's shadow memory comes on top.
awk '/page-faults/ { found = 1
    if ($1 ~ /^[0-9]+$/) exit !($1 >= 4 && $1 <= 10000)
    exit !($1 == "refused" || $1 == "unsupported") }
    END { if (!found) exit 1 }' "$scratch/stdout" || fail "page-faults: $(cat "$scratch/stdout")"
if ! grep -qE '^ +[0-9]+  instructions' "$scratch/stdout"; then
    grep -qE '^ +(refused|unsupported|not counted)  instructions' "$scratch/stdout" ||
        fail "instructions have neither a number nor a status: $(cat "$scratch/stdout")"
    grep -qE '^ +\(.{10,}\)$' "$scratch/stdout" || fail "instructions are not counted, and no reason is given"
fi

status=0
"$program" page-fualts >"$scratch/stdout" 2>"$scratch/stderr" || status=$?
[ $status -eq 1 ] || fail "an unknown event gave status $status"
grep -q "did you mean 'page-faults'" "$scratch/stderr" || fail "no suggestion for page-fualts: $(cat "$scratch/stderr")"
