#!/usr/bin/env bash
# callgrind, which counts what it executes, finds the loop of the guests as long as the guests' PMUs do.
#
#     callgrind.sh FOLDER PROGRAM     PROGRAM: guest_loop, built for this machine
set -euo pipefail
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"

program=$2
need valgrind valgrind
case $(uname -m) in
    x86_64 | aarch64) ;;
    *) skip "the loop's length is not known on $(uname -m)" ;;
esac

out=$guests/callgrind.out
rm -f "$out"
valgrind --tool=callgrind --toggle-collect=guest_loop --callgrind-out-file="$out" "$program" 1 >"$guests/callgrind.log" 2>&1 ||
    { cat "$guests/callgrind.log" >&2; fail "callgrind"; }
count=$(sed -n 's/^summary: //p' "$out")
echo "callgrind: $count instructions in a loop of 1000000"
[ "${count:-0}" -ge 1000000 ] && [ "$count" -le 1000010 ] || fail "callgrind counts '$count' instructions"
