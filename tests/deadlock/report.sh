#!/usr/bin/env bash
# Output formats of upmu deadlock, its suppressions, and its reports on running processes.
#
#     report.sh UPMU CORPUS DIR
set -euo pipefail
# Built with AddressSanitizer, the library is preloaded before the sanitizer's own; and programs end with what they have.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0"
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}detect_deadlocks=0" # that is our part here
upmu=$1 corpus=$2 dir=$3

pid=
fail() {
    echo "FAILED: $1"
    if [ -n "$pid" ]; then kill -9 "$pid" 2>/dev/null; fi
    exit 1
}

# "upmu deadlock ARGS" ends with that status and its output goes to $dir/out.
ends_with() {
    local want=$1 rc=0
    shift
    "$upmu" deadlock "$@" >"$dir/out" 2>"$dir/err" || rc=$?
    [ $rc -eq "$want" ] || fail "upmu deadlock $*: status $rc, expected $want: $(cat "$dir/out" "$dir/err")"
}

prints() { grep -Eq -- "$1" "$dir/out" || fail "not found: $1 in: $(cat "$dir/out")"; }
complains() { grep -Eq -- "$1" "$dir/err" || fail "not complained: $1 but: $(cat "$dir/err")"; }

is_json() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert eval("(" + sys.argv[2] + ")"), d' "$dir/out" "$1" || fail "not true: $1"
}

rm -rf "$dir"
mkdir -p "$dir"
"$upmu" record -o "$dir/inversion" -- "$corpus" inversion "$dir/pid" 2>/dev/null
"$upmu" record -o "$dir/gated" -- "$corpus" gated "$dir/pid" 2>/dev/null
"$upmu" record -o "$dir/quiet" -- "$corpus" recursion "$dir/pid" 2>/dev/null

# Forms.
ends_with 3 "$dir/inversion"
prints '^lock order \[inversion\] in process [0-9]+: 2 locks'
prints '#1 .* (ab_first|ba_second) at .*/order\.c:[0-9]+'
ends_with 3 -f gcc "$dir/inversion"
prints '/order\.c:[0-9]+: warning: lock order: .* \[inversion\]$'
prints '/order\.c:[0-9]+: note: mutex ([^ ]+ \()?0x[0-9a-f]+\)? was acquired here$'
ends_with 3 --format tasks "$dir/inversion"
grep -Pq '/order\.c\t[0-9]+\twarn\tlock order' "$dir/out" || fail "no task: $(cat "$dir/out")"
ends_with 3 --format sarif "$dir/inversion"
is_json 'd["version"] == "2.1.0" and d["runs"][0]["results"][0]["level"] == "error" and
d["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] > 0 and
len(d["runs"][0]["results"][0]["relatedLocations"]) == 3'
ends_with 3 --json "$dir/inversion"
is_json 'd["schema"] == "upmu-deadlock" and d["deadlocks"] == [] and
d["lock_order"]["cycles"][0]["class"] == "inversion" and len(d["lock_order"]["cycles"][0]["acquisitions"]) == 2'
ends_with 0 "$dir/gated"
prints '^lock order \[gated\]'
prints 'prevented by mutex ([^ ]+ \()?0x'
ends_with 0 -f gcc "$dir/gated"
prints ': note: lock order: .* \[gated\]$'
ends_with 0 "$dir/quiet"
# Contradicting orders of one thread count only on request.
"$upmu" record -o "$dir/one" -- "$corpus" ring_of_six_by_one "$dir/pid" 2>/dev/null
ends_with 0 "$dir/one"
prints '^lock order \[one-thread\] in process [0-9]+: 6 locks'
ends_with 3 --one-thread "$dir/one"
ends_with 3 -1 --json "$dir/one"
is_json '[c["class"] for c in d["lock_order"]["cycles"]] == ["one-thread"]'
ends_with 0 --one-thread "$dir/gated"
"$upmu" record -o "$dir/by_two" -- "$corpus" circle_of_three_by_two "$dir/pid" 2>/dev/null
ends_with 0 "$dir/by_two"
prints '^lock order \[one-thread\] .* 3 locks .*: no deadlock: two or more of them by one thread$'
# Locks of a pool may be several at one address, if no initialization of them is recorded. Those of "inversion" are variables.
for pool in pooled_kept pooled_bytes; do
    "$upmu" record -o "$dir/$pool" -- "$corpus" "$pool" "$dir/pid" 2>/dev/null
    ends_with 3 "$dir/$pool"
    prints '^lock order \[inversion\]'
    prints '^  note: no initialization of these locks is recorded'
done
ends_with 3 "$dir/inversion"
! grep -q 'no initialization' "$dir/out" || fail "a note about variables: $(cat "$dir/out")"
! grep -q 'mode counts' "$dir/out" || fail "a note about another mode: $(cat "$dir/out")"
# Mode counts records no orders of locks, and "no inversion" states so.
"$upmu" record -m counts -o "$dir/counts" -- "$corpus" inversion "$dir/pid" 2>/dev/null
ends_with 0 "$dir/counts"
prints '^no deadlock in .*, and no lock-order inversion among 0 nested'
prints '^lock order is not recorded in mode counts: 1 process was in it, at least for a time$'
ends_with 0 --json "$dir/counts"
is_json 'd["lock_order"]["processes_in_mode_counts"] == 1 and d["lock_order"]["cycles"] == []'
ends_with 3 --json "$dir/inversion"
is_json 'd["lock_order"]["processes_in_mode_counts"] == 0'
# A stream that is cut off could have held one.
cp -r "$dir/quiet" "$dir/cut"
truncate -s 0 "$(find "$dir/cut" -name stream_0000)"
ends_with 1 "$dir/cut"
complains 'damaged: .*a stream file is truncated'
rm -rf "$dir/cut"
prints '^no deadlock in .*, and no lock-order inversion'

# Inversions among locks of one kind, at different places, are one report.
"$upmu" record -o "$dir/kind" -- "$corpus" inversions_of_one_class "$dir/pid" 2>/dev/null
ends_with 3 --json "$dir/kind"
is_json 'len(d["lock_order"]["cycles"]) == 1 and d["lock_order"]["cycles"][0]["similar"] == 2'

# Suppressions: by function, file and module; the rest stays.
for line in 'deadlock:^ba_second$' 'order:order.c' 'inversion:deadlock_corpus' 'inversion:ab_*st'; do
    echo "$line" >"$dir/suppressions"
    ends_with 0 -s "$dir/suppressions" "$dir/inversion"
    prints '^1 finding is suppressed'
    prints '^no other deadlock in .*, and no other lock-order inversion'
done
for line in 'deadlock:^second' 'blocked:order.c' 'gated:order.c' '# inversion:order.c'; do
    echo "$line" >"$dir/suppressions"
    ends_with 3 -s "$dir/suppressions" "$dir/inversion"
done
echo 'inversoin:x' >"$dir/suppressions"
ends_with 1 -s "$dir/suppressions" "$dir/inversion"
complains 'line 1: there is no kind "inversoin"'
ends_with 1 -s "$dir/nowhere" "$dir/inversion"
complains 'nowhere'

# Malformed arguments.
ends_with 2
ends_with 2 -f xml "$dir/inversion"
complains 'text, json, gcc, tasks and sarif'
ends_with 1 "$dir/nowhere"
ends_with 1 4194303

# A running process is inspected and continues.
"$upmu" record -o "$dir/live" --deadlocks "$dir/live.err" -- "$corpus" cross_beside_work "$dir/live.pid" 2>"$dir/rec.err" &
recorder=$!
for _ in $(seq 600); do
    if grep -q '^deadlock \[cycle\]' "$dir/live.err"; then break; fi
    kill -0 $recorder 2>/dev/null || fail "it ended: $(cat "$dir/rec.err")"
    sleep 0.1
done
pid=$(cat "$dir/live.pid")
ends_with 3 "$pid"
prints "^deadlock \[cycle\] in process $pid: 2 threads wait for each other"
prints 'waits for mutex ([^ ]+ \()?0x[0-9a-f]+\)?, held by thread [0-9]+( \([^)]*\))?, since [0-9:.]+'
prints 'holds mutex ([^ ]+ \()?0x[0-9a-f]+\)?, acquired at take_both main\.c:[0-9]+'
prints 'blocked behind them:'
ends_with 3 --json "$pid"
is_json 'd["deadlocks"][0]["alive"] and d["deadlocks"][0]["threads"][0]["holder"] == d["deadlocks"][0]["threads"][1]["tid"]'
# Both stacks of each edge: of the wait, and of the acquisition of the lock that it is for. The copy of the stack exists there.
if [ "$(uname -m)" = x86_64 ] && [ -z "${SANITIZED-}" ]; then
    is_json 'all(h["acquired_stack"][0]["function"] == "take_both" and h["acquired_stack"][-1]["kind"] == "root" for t in d["deadlocks"][0]["threads"][:2] for h in t["holds"])'
fi
kill -0 "$pid" || fail "the inspection ended it"
# upmu top reports it, too, and validates the wait-state file: where that is malformed the trace is read.
live=$(find "$dir/live" -name .live)
watched() {
    { "$upmu" top --json -i 0.1 -n 600 -p "$pid" 2>"$dir/err" || true; } |
        grep -Eq '"deadlocks": ?\[\{.*held by thread.*at take_both main' || fail "upmu top, $1: $(cat "$dir/err")"
}
watched "as it is"
cp "$live" "$dir/whole"
for at in 60 64 600 604; do
    for bytes in '\377\377\377\377' '\000\000\000\000'; do
        printf "$bytes" | dd of="$live" bs=1 seek=$at conv=notrunc status=none
        watched "$bytes at $at"
        dd if="$dir/whole" of="$live" bs=1 skip=$at seek=$at count=4 conv=notrunc status=none
    done
done
kill -9 "$pid"
wait $recorder || true
ends_with 3 "$dir/live"
prints '^deadlock \[cycle\]'
! grep -q '^deadlock' "$dir/rec.err" || fail "reported on standard error, too"
"$upmu" dump "$dir/live" >"$dir/out"
prints 'deadlock \[cycle\] of 2 threads'

# Killed without an observer: the last thread that began to wait has recorded that nothing could wake it. It shows
# that it waits only after that.
for case in cond_signal_lost sem_nobody_posts barrier_short std_futures_in_a_circle main_gone_before \
    last_runner_ends; do
    rm -rf "$dir/alone" "$dir/pid"
    UPMU_SYNC=contended UPMU_TRACE=$dir/alone "$corpus" $case "$dir/pid" &
    pid=$!
    for _ in $(seq 600); do # until the deadlock
        rc=0
        "$upmu" deadlock "$dir/alone" >"$dir/out" 2>"$dir/err" || rc=$?
        [ $rc -ne 3 ] || break
        sleep 0.1
    done
    [ $rc -eq 3 ] || fail "$case does not deadlock: $(cat "$dir/out" "$dir/err")"
    kill -9 $pid
    wait $pid || true
    ends_with 3 "$dir/alone"
    prints '^deadlock \[(no-signal|no-post|barrier-short|no-wake)\]'
done

# A damaged wait-state file leads to a result or an error, never to a crash.
live=$(find "$dir/live" -name .live)
cp "$live" "$dir/whole"
for at in 0 8 16 20 32 1048576 1048580 1048592 1048604 1048672 1048708 1114112 1114116 1114208 1179652 1179744; do
    for bytes in '\377\377\377\377' '\001\000\000\000' '\003\000\000\000\377\377\377\177'; do
        cp "$dir/whole" "$live"
        printf "$bytes" | dd of="$live" bs=1 seek=$at conv=notrunc status=none
        rc=0
        "$upmu" deadlock "$dir/live" >"$dir/out" 2>"$dir/err" || rc=$?
        case $rc in
            0 | 1 | 3) ;;
            *) fail "$bytes at $at: status $rc: $(cat "$dir/err")" ;;
        esac
    done
done
for size in 0 5 64 4096 1048576 1048640 1050000 1114120; do
    cp "$dir/whole" "$live"
    truncate -s $size "$live"
    rc=0
    "$upmu" deadlock "$dir/live" >"$dir/out" 2>"$dir/err" || rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 1 ] || [ $rc -eq 3 ] || fail "cut to $size: status $rc: $(cat "$dir/err")"
done
rm "$live"
ends_with 3 "$dir/live"
prints '^1 of the processes have no wait-state files'
! grep -q "^deadlock" "$dir/out" || fail "a deadlock without wait states"

# A single-threaded process without recording: no other thread is mentioned.
rm -f "$dir/pid"
"$corpus" self_lock "$dir/pid" &
pid=$!
for _ in $(seq 100); do
    rc=0
    "$upmu" deadlock "$pid" >"$dir/out" 2>"$dir/err" || rc=$?
    [ $rc -ne 3 ] || break
    sleep 0.1
done
kill -9 "$pid"
wait "$pid" || true
[ "$rc" -eq 3 ] || fail "a process that does not record: status $rc: $(cat "$dir/out" "$dir/err")"
prints "^deadlock \[self\] in process $pid: a thread waits for a lock that it holds itself"
! grep -q 'threads' "$dir/out" || fail "other threads of a single-threaded process: $(cat "$dir/out")"

# A process without recording: the kernel's data is reported, and its state does not change.
rm -f "$dir/pid"
"$corpus" cross_beside_work "$dir/pid" &
pid=$!
for _ in $(seq 100); do # until both of its threads are blocked
    rc=0
    "$upmu" deadlock "$pid" >"$dir/out" 2>"$dir/err" || rc=$?
    [ $rc -ne 3 ] || break
    sleep 0.1
done
complains "process $pid is not being recorded"
state=$(awk '/^State/ { print $2 } /^TracerPid/ { print $2 }' "/proc/$pid/status" | tr '\n' ' ')
[ "$state" = "S 0 " ] || fail "it was left in state $state"
kill -9 "$pid"
wait "$pid" || true
[ "$rc" -eq 3 ] || fail "a process that does not record: status $rc: $(cat "$dir/out" "$dir/err")"
prints "^deadlock \[cycle\] in process $pid"
prints 'waits for the mutex [^ ]+ \(0x[0-9a-f]+\), held by thread [0-9]+'
prints '#[0-9]+ +take_both at .*main\.c:[0-9]+'
# A function without lines has its address in the file, which is within the function.
start=$(sed -nE 's/.*#[0-9]+ +_start \([^ ]*\+(0x[0-9a-f]+)\) \(thread start\)$/\1/p' "$dir/out" | head -1)
[ -z "$start" ] || first=0x$(nm "$corpus" | awk '$3 == "_start" { print $1 }')
[ -n "$start" ] && [ $((start)) -gt $((first)) ] && [ $((start)) -lt $((first + 64)) ] || fail "_start is not named with its place: $(cat "$dir/out")"
sleep 30 &
pid=$!
ends_with 0 "$pid"
kill "$pid"
prints '^no deadlock was found'
rm -rf "$dir"
