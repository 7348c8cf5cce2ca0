#!/usr/bin/env bash
# Durations of unfinished waits of a killed program.
#
# At least as long as the deadlock was observed, never longer than the process lived, and no guess for a thread that
# continued unobserved.
#
#     killed.sh UPMU CORPUS DIR
set -euo pipefail
# Built with AddressSanitizer, the library is preloaded before the sanitizer's own; and programs end with what they have.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0"
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}detect_deadlocks=0" # that is our part here
upmu=$1 corpus=$2 dir=$3

fail() {
    echo "FAILED: $1"
    exit 1
}

now_ns() { date +%s%N; }

# Waits until a command succeeds.
until_true() {
    for _ in $(seq 1200); do
        if "$@" 2>/dev/null; then return; fi
        sleep 0.05
    done
    fail "it never came true: $*"
}

# The shortest and the longest unfinished wait for mutexes of the recording are between $2 and $3 nanoseconds.
lasted() {
    "$upmu" report --json "$1" >"$dir/json" || fail "upmu report: $?"
    python3 - "$dir/json" "$2" "$3" <<'EOF' || fail "$1: expected $2 to $3"
import json, sys
report = json.load(open(sys.argv[1]))
ns = [o["waits"]["unfinished_ns"] for o in report["objects"] if o["type"] == "mutex" and o["waits"]["unfinished"]]
print("unfinished waits:", ns)
print(min(ns), file=open(sys.argv[1] + ".least", "w"))
assert ns and int(sys.argv[2]) <= min(ns) and max(ns) <= int(sys.argv[3]), ns
EOF
}

is_deadlocked() { "$upmu" deadlock "$1" >"$dir/out" && return 1 || [ $? -eq 3 ]; }

# Waits until the recorder, which reads when it inspects the process, has made one complete inspection.
recorder_inspects() {
    local before
    if [ ! -r /proc/self/io ]; then # this kernel does not count what a process reads
        sleep 1
        return
    fi
    for _ in 1 2; do
        before=$(recorder_read)
        until_true recorder_read_beyond "$before"
    done
}
recorder_read() { sed -n 's/^rchar: //p' "/proc/$recorder/io"; }
recorder_read_beyond() { [ "$(recorder_read)" -gt "$1" ]; }

# Read from .live directly, since the command leaves a mark of its inspection there.
all_wait() {
    local live slot
    live=$(find "$1" -name .live)
    for slot in 0 1 2; do
        [ "$(od -An -t u4 -j $((1048576 + slot * 65536 + 4)) -N 4 "$live")" -eq 2 ] || return 1
    done
}

rm -rf "$dir"
mkdir -p "$dir"
second=1000000000

# With a recorder, which observes the process until it is killed.
begin=$(now_ns)
"$upmu" record -o "$dir/recorded" --deadlocks "$dir/reported" -- "$corpus" cross_normal "$dir/pid" 2>"$dir/err" &
recorder=$!
until_true grep -q '^deadlock ' "$dir/reported" # the main thread may begin its wait later
sleep 1
recorder_inspects
kill -9 "$(cat "$dir/pid")"
wait $recorder 2>/dev/null || true
lasted "$dir/recorded" $second $(($(now_ns) - begin))

# Without a recorder: inspected by upmu deadlock, then killed.
begin=$(now_ns)
rm "$dir/pid"
UPMU_SYNC=contended UPMU_TRACE=$dir/asked "$corpus" cross_normal "$dir/pid" &
program=$!
until_true is_deadlocked "$dir/asked"
sleep 1.5
is_deadlocked "$dir/asked" || fail "the deadlock has ended: $(cat "$dir/out")"
kill -9 $program
wait $program 2>/dev/null || true
lasted "$dir/asked" $second $(($(now_ns) - begin))
least=$(cat "$dir/json.least")

# Never inspected: the trace ends with the last wait, of unknown length.
begin=$(now_ns)
rm "$dir/pid"
UPMU_SYNC=contended UPMU_TRACE=$dir/alone "$corpus" cross_normal "$dir/pid" &
program=$!
until_true all_wait "$dir/alone"
kill -9 $program
wait $program 2>/dev/null || true
"$upmu" report "$dir/alone" >"$dir/out"
grep -q 'still waiting at the end, for an unknown time' "$dir/out" || fail "a guessed time: $(cat "$dir/out")"
lasted "$dir/alone" 0 $(($(now_ns) - begin))

# A thread that continued without a recorded end of its wait (a full disk) was not blocked until then.
live=$(find "$dir/asked" -name .live)
for slot in 0 1 2; do
    printf '\001\000\000\000' | dd of="$live" bs=1 seek=$((1048576 + slot * 65536 + 4)) conv=notrunc status=none
done
lasted "$dir/asked" 0 $((least - 1))
rm -rf "$dir"
