#!/usr/bin/env bash
# real.sh BIN LIB pbzip2|xz|sqlite3: a program that nobody here wrote gives the same output traced and untraced, and its
# recording has what it did.
set -euo pipefail
bin=$1 lib=$2 program=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if ! command -v "$program" >/dev/null; then
    echo "skipped, because $program is not installed"
    exit 77
fi
# Some MB that compress neither well nor badly.
for i in $(seq 1 40); do
    find /usr/include /usr/share/doc -maxdepth 2 -type f -size -60k -print0 2>/dev/null | sort -z | head -z -n $((i * 7)) |
        xargs -0 cat 2>/dev/null || true
done | head -c 12000000 >"$scratch/data"

case $program in
pbzip2) command=(pbzip2 -c -p4 -b1 "$scratch/data") ;;
xz) command=(xz -T2 -1 --block-size=1MiB -c "$scratch/data") ;;
sqlite3)
    command=(sqlite3 ":memory:" "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
        INSERT INTO t SELECT i, hex(i * 7919) FROM n; CREATE INDEX x ON t(b); SELECT count(*), sum(length(b)), max(b) FROM t;")
    ;;
esac
"${command[@]}" >"$scratch/plain" 2>"$scratch/plain.err" || fail "untraced: status $?"
for mode in contended holders all; do
    record "$scratch/$mode" $mode "${command[@]}" >"$scratch/out" 2>"$scratch/err" || fail "$mode: status $?"
    cmp "$scratch/plain" "$scratch/out" || fail "$mode: another output"
    cmp "$scratch/plain.err" "$scratch/err" || fail "$mode: other messages: $(cat "$scratch/err")"
    events "$scratch/$mode" "$scratch/events"
    [ "$(count "$scratch/events" '^counts')" -gt 0 ] || fail "$mode: no lock was counted"
    expect "$scratch/events" 0 '^misuse'
    if [ "$program" != sqlite3 ]; then
        [ "$(count "$scratch/events" '^start')" -ge 2 ] || fail "$mode: no threads were seen"
        [ "$(count "$scratch/events" '^cond_wait')" -gt 0 ] || fail "$mode: no waits were seen"
        # A thread may still wait when the program ends.
        waits=$(count "$scratch/events" '^cond_wait') wakes=$(count "$scratch/events" '^cond_wake')
        threads=$(count "$scratch/events" '^create')
        [ "$wakes" -le "$waits" ] && [ $((waits - wakes)) -le "$threads" ] ||
            fail "$mode: $waits waits, $wakes of them ended, with $threads threads"
    fi
    echo "$program, $mode: $(grep -c -v '^module' "$scratch/events") events, the same output"
done
