#!/usr/bin/env bash
# Call stacks in reports of upmu deadlock.
#
# Thread starts, signal frames, tail calls, code generated at run time, modules without debug information, names of C++ and
# Rust, and truncated stacks.
#
#     stacks.sh UPMU STACKS BARE_LIBRARY OBJCOPY DIR
set -euo pipefail
upmu=$1 stacks=$2 bare=$3 objcopy=$4 dir=$5

fail() {
    echo "FAILED: $1"
    exit 1
}

prints() { grep -Eq -- "$1" "$dir/out" || fail "$sort: not found: $1 in: $(cat "$dir/out")"; }
prints_not() { ! grep -Eq -- "$1" "$dir/out" || fail "$sort: found: $1 in: $(cat "$dir/out")"; }

# Prints frame number $1 of the first stack.
frame() { grep -E "^ *#$1 " "$dir/out" | head -1; }
frame_is() { grep -Eq -- "$2" < <(frame "$1") || fail "$sort: frame $1 is not $2: $(cat "$dir/out")"; }

# Records one sort until it is deadlocked, kills it, and puts the report into $dir/out.
record() {
    sort=$1
    local recorder rc=0
    rm -rf "$dir/rec" "$dir/printed" "$dir/err"
    "$upmu" record -o "$dir/rec" -- "$stacks" "$@" >"$dir/printed" 2>"$dir/err" &
    recorder=$!
    for _ in $(seq 1200); do
        if grep -q '^deadlock \[self\]' "$dir/err"; then break; fi
        kill -0 $recorder 2>/dev/null || break
        sleep 0.05
    done
    pid=$(sed -n 's/^deadlock \[self\] in process \([0-9]*\):.*/\1/p' "$dir/err" | head -1)
    if [ -z "$pid" ]; then
        grep -q '^skipped' "$dir/printed" && return 1
        fail "$sort: no deadlock was reported: $(cat "$dir/err" "$dir/printed")"
    fi
    kill -9 "$pid"
    wait $recorder || true
    report
}

report() {
    local rc=0
    "$upmu" deadlock "$dir/rec" >"$dir/out" 2>"$dir/err" || rc=$?
    [ $rc -eq 3 ] || fail "$sort: upmu deadlock: $rc: $(cat "$dir/out" "$dir/err")"
}

# The label $1 is in every export of a stack, and in the JSON of the reports as kind $2.
exported_with() {
    local format
    for format in folded flamegraph callgrind pprof speedscope csv jsonl; do
        grep -aqF -- "$1" < <("$upmu" export -f "$format" "$dir/rec" 2>>"$dir/err") || fail "$sort: no '$1' in $format"
    done
    "$upmu" report --json "$dir/rec" >"$dir/json" 2>>"$dir/err" || fail "$sort: upmu report: $(cat "$dir/err")"
    grep -qE "\"kind\": ?\"$2\"" "$dir/json" || fail "$sort: no $2 in upmu report"
    "$upmu" deadlock --json "$dir/rec" >"$dir/json" 2>>"$dir/err" || true # it reports a deadlock
    grep -qE "\"kind\": ?\"$2\"" "$dir/json" || fail "$sort: no $2 in upmu deadlock"
}

rm -rf "$dir"
mkdir -p "$dir"

record thread
frame_is 0 'self_deadlock at .*/stacks\.c:[0-9]+'
frame_is 1 'deadlock_in_thread at '
prints '#[0-9]+ .* \(thread start\)$'
prints_not 'did not get further|not kept'

record deep
frame_is 15 'dig at '
prints '\(deeper frames were not recorded\)'
prints_not 'thread start'
exported_with 'deeper frames were not recorded' truncated

record signal
frame_is 1 'on_signal at '
frame_is 2 '\(signal frame\)$'
prints 'is_interrupted at .*/stacks\.c:[0-9]+'
prints 'thread start'
exported_with 'signal frame' signal
exported_with 'thread start' root

if record stub; then
    frame_is 1 'on_step at '
    frame_is 2 '\(signal frame\)$'
    frame_is 3 'getppid@plt \(.*stacks\+0x[0-9a-f]+\) \(PLT stub\)$'
    frame_is 4 'calls_by_stub at .*/stacks\.c:[0-9]+'
else
    cat "$dir/printed" # the rest is tried
fi

record tail
grep -Eq '^ +tail_middle at .*/stacks\.c:[0-9]+ \(left by a tail call\)$' < <(grep -A1 -E '#[0-9]+ +tail_inner' "$dir/out") ||
    fail "tail: $(cat "$dir/out")"
grep -Eq '#[0-9]+ +tail_outer at ' < <(grep -A1 'left by a tail call' "$dir/out") || fail "tail: $(cat "$dir/out")"
exported_with 'left by a tail call' tail-call

record names
frame_is 1 '<mycrate::bank::Account<usize>>::withdraw at '
frame_is 2 'mycrate::bank::Account<T>::withdraw at '
frame_is 3 'bank::Account<int>::withdraw\(int, std::.*string.* const&\) at '

record bare "$bare"
frame_is 1 'libbare\.so\+0x[0-9a-f]+ \(no symbol; 0x[0-9a-f]+ after bare_(first|entry)\)$'
frame_is 2 'bare_entry \(.*libbare\.so\+0x[0-9a-f]+\)$'
prints 'thread start'

# Debug information in a file of its own, which the stripped program names with a checksum.
whole=$stacks
"$objcopy" --only-keep-debug "$whole" "$dir/linked.debug"
"$objcopy" --strip-all --remove-section=.note.gnu.build-id --add-gnu-debuglink="$dir/linked.debug" "$whole" "$dir/linked"
stacks=$dir/linked
record thread
frame_is 0 'self_deadlock at .*/stacks\.c:[0-9]+'
frame_is 1 'deadlock_in_thread at '
# The same in a folder of debug files.
mkdir -p "$dir/debug$dir"
mv "$dir/linked.debug" "$dir/debug$dir"
report
frame_is 0 'linked\+0x[0-9a-f]+'
UPMU_DEBUG_DIR=$dir/debug report
frame_is 0 'self_deadlock at .*/stacks\.c:[0-9]+'
mv "$dir/debug$dir/linked.debug" "$dir"
# Debug information of another program is ignored; module and offset remain.
printf x >>"$dir/linked.debug"
report
frame_is 0 'linked\+0x[0-9a-f]+'
prints_not 'deadlock_in_thread|stacks\.c'
stacks=$whole

# Names of code made at run time are kept with the recording.
if record jit; then
    map=/tmp/perf-$pid.map
    kept=$(find "$dir/rec" -name jit.map)
    [ -n "$kept" ] || fail "the map was not kept"
    rm -f "$map"
    report
    frame_is 1 'Stacks\.compiled:7 \(line 12\) \(.*/jit\.map\+0x[0-9a-f]+\) \(generated at run time\)$'
    prints 'run_made at '
    prints 'thread start'
    # Without it the one in /tmp is read, if it can be trusted.
    mv "$kept" "$map"
    report
    frame_is 1 'Stacks\.compiled:7'
    touch -d '2 days ago' "$map" # another process's of that number
    report
    frame_is 1 '0x[0-9a-f]+ \(in no module'
    mv "$map" "$dir/map"
    touch "$dir/map"
    ln -s "$dir/map" "$map"
    report
    prints_not 'Stacks'
    rm -f "$map"
    mkfifo "$map"
    report
    prints_not 'Stacks'
    rm -f "$map"
    if [ "$(id -u)" -eq 0 ]; then
        cp "$dir/map" "$map"
        chown 65534 "$map"
        report
        prints_not 'Stacks'
        rm -f "$map"
    fi
    record lost
    frame_is 1 'Stacks\.compiled:7'
    prints '\(callers unknown: the unwinder stopped here\)'
    rm -f "/tmp/perf-$pid.map"
else
    cat "$dir/printed" # the rest was tried
fi

# Without a recorder the files of the process are opened: not a FIFO that has the name of one that is gone.
cp "$stacks" "$dir/subject"
"$dir/subject" thread >"$dir/printed" &
subject=$!
finds() { rc=0; timeout 30 "$upmu" deadlock $subject >"$dir/out" 2>"$dir/err" || rc=$?; }
for _ in $(seq 300); do
    finds
    if [ $rc -eq 3 ]; then break; fi
    sleep 0.1
done
rm "$dir/subject"
mkfifo "$dir/subject (deleted)"
finds
kill -9 $subject
[ $rc -eq 3 ] || fail "a FIFO in the place of the program: status $rc: $(cat "$dir/out" "$dir/err")"
rm -rf "$dir"
