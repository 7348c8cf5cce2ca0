#!/usr/bin/env bash
# The report of a deadlock, independent of the length of the recording before it.
#
# Neither the bytes that the recorder reads nor its text depend on the length; upmu deadlock prints the same afterwards.
#
#     long.sh UPMU LONG PAIRS DIR
set -euo pipefail
# Built with AddressSanitizer, the library is preloaded before the sanitizer's own; and programs end with what they have.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0"
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}detect_deadlocks=0" # that is our part here
upmu=$1 long=$2 pairs=$3 dir=$4
recorder=

fail() {
    echo "FAILED: $1"
    if [ -n "$recorder" ] && kill -0 "$recorder" 2>/dev/null; then kill -9 "$(cat "$dir/pid")"; fi
    exit 1
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# Only the deadlock, without the order of locks that upmu deadlock adds.
deadlock_of() { sed '/^lock order/,$d; /^$/d' "$1"; }

# Records PAIRS and NAMES until the deadlock; sets read_bytes (by the recorder until its report) and took_ms.
record() {
    local begin
    rm -rf "$dir/rec" "$dir/reported" "$dir/pid"
    "$upmu" record --mode all -o "$dir/rec" --deadlocks "$dir/reported" -- "$long" "$1" "$2" "$dir/pid" 2>"$dir/err" &
    recorder=$!
    until [ -s "$dir/pid" ]; do
        kill -0 $recorder 2>/dev/null || fail "it ended: $(cat "$dir/err")"
        sleep 0.01
    done
    begin=$(now_ms)
    until grep -q '(thread start)' < <(sed -n '/blocked behind them/,$p' "$dir/reported" 2>/dev/null); do
        kill -0 $recorder 2>/dev/null || fail "it ended: $(cat "$dir/err")"
        [ $(($(now_ms) - begin)) -lt 60000 ] || fail "not reported within a minute"
        sleep 0.01
    done
    took_ms=$(($(now_ms) - begin))
    read_bytes=$(sed -n 's/^rchar: //p' "/proc/$recorder/io")
    recorded=$(du -sb "$dir/rec" | cut -f 1)
    kill -9 "$(cat "$dir/pid")"
    wait $recorder || true
    recorder=
    echo "$1 pairs, $2 names: $recorded bytes recorded, $read_bytes read, reported after $took_ms ms"
    local rc=0
    "$upmu" deadlock "$dir/rec" >"$dir/out" 2>"$dir/err" || rc=$?
    [ $rc -eq 3 ] || fail "upmu deadlock: $rc: $(cat "$dir/out" "$dir/err")"
    diff <(deadlock_of "$dir/reported") <(deadlock_of "$dir/out") || fail "upmu deadlock prints a different text afterwards"
    grep -q 'mutex ledger (0x' "$dir/reported" || fail "no name: $(cat "$dir/reported")"
    ! grep -q 'gone' "$dir/reported" || fail "the name of another lock: $(cat "$dir/reported")"
    grep -Eq 'holds for reading rwlock ([^ ]+ \()?0x' "$dir/reported" || fail "a held lock has no type: $(cat "$dir/reported")"
}

[ -r /proc/self/io ] || { echo "skipped, because the kernel does not count what a process reads (/proc/PID/io)"; exit 77; }
mkdir -p "$dir"
record 1000 0
small=$read_bytes
record "$pairs" 0
[ "$recorded" -gt $((pairs * 28)) ] || fail "too short a recording"
[ $((read_bytes - small)) -lt $((recorded / 4)) ] || fail "what is read for a report grows with the trace"
# More names than fit beside the threads in .live: the rest is read from the trace.
record 1000 5000
rm -rf "$dir"
