#!/usr/bin/env bash
# Deadlocks of one process, one after the other: each is reported once.
#
#     once.sh UPMU PROGRAM DIR
set -euo pipefail
upmu=$1 program=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
setsid "$upmu" record -o "$dir/recording" -- "$program" one_after_the_other "$dir/pid" 2>"$dir/err" &
recorder=$!
fail() {
    echo "FAILED: $1: $(cat "$dir/err")"
    kill -9 -- "-$recorder" 2>/dev/null || true
    exit 1
}
reports() { grep -c '^deadlock \[cycle\]' "$dir/err" || true; }
for _ in $(seq 600); do
    if [ "$(reports)" -ge 2 ]; then break; fi
    sleep 0.1
done
[ "$(reports)" -eq 2 ] || fail "expected two reports"
# A later inspection finds both, and the recorder, which makes one per second, reports none again.
rc=0
text=$("$upmu" deadlock "$(cat "$dir/pid")") || rc=$?
[ "$rc" -eq 3 ] && [ "$(grep -c '^deadlock \[cycle\]' <<<"$text")" -eq 2 ] || fail "upmu deadlock: $rc: $text"
sleep 2.5
[ "$(reports)" -eq 2 ] || fail "reported again"
[ "$(grep -c 'waits for' "$dir/err")" -eq 4 ] || fail "a report repeats another one's threads"
kill -9 -- "-$recorder"
wait "$recorder" 2>/dev/null || true
rm -rf "$dir"
