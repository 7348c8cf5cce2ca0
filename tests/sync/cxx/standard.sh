#!/usr/bin/env bash
# The C++ standard library's threads and locks are seen as what they stand on.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

record "$scratch/all" all "$bin/sync_standard" >"$scratch/out" || fail "status $?"
grep -qx 'standard: all done' "$scratch/out" || fail "it printed $(cat "$scratch/out")"
f=$scratch/all.txt
events "$scratch/all" "$f"

# some PATTERN: at least one event
some()
{
    [ "$(count "$f" "$1")" -gt 0 ] || fail "no event matches '$1'"
}

expect "$f" 3 '^create .*result=0'
expect "$f" 2 '^joined .*result=0'
expect "$f" 1 '^detach '
# 1 mutex and 6 rwlock, spin, barrier, once, futex from 6 on: std::mutex, shared_mutex, call_once, atomic wait.
some '^acquire .*type=1 '
expect "$f" 2 '^acquire .*type=6 .*flags=1 '
expect "$f" 1 '^acquire .*type=6 .*flags=0 '
expect "$f" 3 '^release .*type=6 '
expect "$f" 1 '^failed .*type=6 .*flags=8 '
expect "$f" 2 '^cond_(signal|broadcast) '
some '^cond_wake .*result=110 .*flags=4 '
# The function that throws runs twice, the quiet one once; each run begins and ends.
once=$(awk '/^acquire / && / type=9 / { for (i = 1; i <= NF; i++) if ($i ~ /^object=/) n[$i]++ }
    END { for (o in n) if (n[o] == 2) two++; print two + 0 }' "$f")
[ "$once" -eq 1 ] || fail "$once functions ran twice"
[ "$(count "$f" '^acquire .*type=9 ')" -eq "$(count "$f" '^release .*type=9 ')" ] || fail "a run has no end"
some '^futex_wait .*type=10 '
some '^futex_woken .*type=10 result=0'
some '^futex_wake .*type=10 .*count=1 '
expect "$f" 0 '^misuse '
echo "std::thread, mutexes, shared_mutex, condition variables, call_once and atomic waits are seen"
