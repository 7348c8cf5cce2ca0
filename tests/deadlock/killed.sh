#!/usr/bin/env bash
# Waits of a program that is killed have lasted until it was: at least as long as somebody saw it stand, never longer than it
# lived, and nothing is made up of a thread that had gone on unseen.
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

# Of the recording's mutexes the shortest and the longest unfinished wait lie between $2 and $3 nanoseconds.
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

stands() { "$upmu" deadlock "$1" >"$dir/out" && return 1 || [ $? -eq 3 ]; }

# The recorder reads when it looks at the process: until it has looked once from the beginning to the end.
recorder_looks() {
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

# Read from .live directly, since whoever asks the command leaves there that he looked.
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

# With a recorder, which sees it alive until it is killed.
begin=$(now_ns)
"$upmu" record -o "$dir/recorded" --deadlocks "$dir/told" -- "$corpus" cross_normal "$dir/pid" 2>"$dir/err" &
recorder=$!
until_true grep -q 'blocked behind' "$dir/told"
sleep 1
recorder_looks
kill -9 "$(cat "$dir/pid")"
wait $recorder 2>/dev/null || true
lasted "$dir/recorded" $second $(($(now_ns) - begin))

# By itself: somebody asks, and then it is killed.
begin=$(now_ns)
rm "$dir/pid"
UPMU_SYNC=contended UPMU_TRACE=$dir/asked "$corpus" cross_normal "$dir/pid" &
program=$!
until_true stands "$dir/asked"
sleep 1.5
stands "$dir/asked" || fail "it stands no more: $(cat "$dir/out")"
kill -9 $program
wait $program 2>/dev/null || true
lasted "$dir/asked" $second $(($(now_ns) - begin))
least=$(cat "$dir/json.least")

# Nobody ever looked: the last wait is the last that is known of it.
begin=$(now_ns)
rm "$dir/pid"
UPMU_SYNC=contended UPMU_TRACE=$dir/alone "$corpus" cross_normal "$dir/pid" &
program=$!
until_true all_wait "$dir/alone"
kill -9 $program
wait $program 2>/dev/null || true
"$upmu" report "$dir/alone" >"$dir/out"
grep -q 'still waiting at the end, for an unknown time' "$dir/out" || fail "made up: $(cat "$dir/out")"
lasted "$dir/alone" 0 $(($(now_ns) - begin))

# A thread that had gone on without its end being recorded (a full disk) has not stood until then.
live=$(find "$dir/asked" -name .live)
for slot in 0 1 2; do
    printf '\001\000\000\000' | dd of="$live" bs=1 seek=$((1048576 + slot * 65536 + 4)) conv=notrunc status=none
done
lasted "$dir/asked" 0 $((least - 1))
rm -rf "$dir"
