#!/usr/bin/env bash
# Call stacks say what they are: threads' beginnings, signals, tail calls, code made at run time, modules without debug
# information, names of C++ and Rust, and where they end too early.
#
#     stacks.sh UPMU STACKS BARE_LIBRARY OBJCOPY DIR
set -euo pipefail
upmu=$1 stacks=$2 bare=$3 objcopy=$4 dir=$5

fail() {
    echo "FAILED: $1"
    exit 1
}

says() { grep -Eq -- "$1" "$dir/out" || fail "$sort: not found: $1 in: $(cat "$dir/out")"; }
says_not() { ! grep -Eq -- "$1" "$dir/out" || fail "$sort: found: $1 in: $(cat "$dir/out")"; }

# The frames of the first stack, in the order of their numbers: what is said of number $1.
frame() { grep -E "^ *#$1 " "$dir/out" | head -1; }
frame_says() { frame "$1" | grep -Eq -- "$2" || fail "$sort: frame $1 is not $2: $(cat "$dir/out")"; }

# Records one sort until it stands, ends it, and puts the report into $dir/out.
record() {
    sort=$1
    local recorder rc=0
    rm -rf "$dir/rec"
    "$upmu" record -o "$dir/rec" -- "$stacks" "$@" >"$dir/said" 2>"$dir/err" &
    recorder=$!
    for _ in $(seq 1200); do
        if grep -q '^deadlock \[self\]' "$dir/err"; then break; fi
        kill -0 $recorder 2>/dev/null || break
        sleep 0.05
    done
    pid=$(sed -n 's/^deadlock \[self\] in process \([0-9]*\):.*/\1/p' "$dir/err" | head -1)
    if [ -z "$pid" ]; then
        grep -q '^skipped' "$dir/said" && return 1
        fail "$sort: it did not stand: $(cat "$dir/err" "$dir/said")"
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

rm -rf "$dir"
mkdir -p "$dir"

record thread
frame_says 0 'stand at .*/stacks\.c:[0-9]+'
frame_says 1 'stand_in_thread at '
says '#[0-9]+ .* \(thread start\)$'
says_not 'did not get further|not kept'

record deep
frame_says 15 'dig at '
says '\(deeper frames were not recorded\)'
says_not 'thread start'

record signal
frame_says 1 'on_signal at '
frame_says 2 '\(signal frame\)$'
says 'is_interrupted at .*/stacks\.c:[0-9]+'
says 'thread start'

if record stub; then
    frame_says 1 'on_step at '
    frame_says 2 '\(signal frame\)$'
    frame_says 3 'getppid@plt \(.*stacks\+0x[0-9a-f]+\) \(PLT stub\)$'
    frame_says 4 'calls_by_stub at .*/stacks\.c:[0-9]+'
else
    cat "$dir/said" # the rest is tried
fi

record tail
grep -A1 -E '#[0-9]+ +tail_inner' "$dir/out" | grep -Eq '^ +tail_middle left by a tail call, at .*/stacks\.c:[0-9]+$' ||
    fail "tail: $(cat "$dir/out")"
grep -A1 'left by a tail call' "$dir/out" | grep -Eq '#[0-9]+ +tail_outer at ' || fail "tail: $(cat "$dir/out")"

record names
frame_says 1 '<mycrate::bank::Account<usize>>::withdraw at '
frame_says 2 'mycrate::bank::Account<T>::withdraw at '
frame_says 3 'bank::Account<int>::withdraw\(int, std::.*string.* const&\) at '

record bare "$bare"
frame_says 1 'libbare\.so\+0x[0-9a-f]+ \(no symbol; 0x[0-9a-f]+ after bare_(first|entry)\)$'
frame_says 2 'bare_entry \(.*libbare\.so\+0x[0-9a-f]+\)$'
says 'thread start'

# Debug information in a file of its own, which the stripped program names with a checksum.
whole=$stacks
"$objcopy" --only-keep-debug "$whole" "$dir/linked.debug"
"$objcopy" --strip-all --remove-section=.note.gnu.build-id --add-gnu-debuglink="$dir/linked.debug" "$whole" "$dir/linked"
stacks=$dir/linked
record thread
frame_says 0 'stand at .*/stacks\.c:[0-9]+'
frame_says 1 'stand_in_thread at '
# One that is another program's is not believed, and then the module and the offset are all that is known.
printf x >>"$dir/linked.debug"
report
frame_says 0 'linked\+0x[0-9a-f]+'
says_not 'stand_in_thread|stacks\.c'
stacks=$whole

# Names of code made at run time are kept with the recording.
if record jit; then
    map=/tmp/perf-$pid.map
    kept=$(find "$dir/rec" -name jit.map)
    [ -n "$kept" ] || fail "the map was not kept"
    rm -f "$map"
    report
    frame_says 1 'Stacks\.compiled:7 \(line 12\) \(.*/jit\.map\+0x[0-9a-f]+\) \(generated at run time\)$'
    says 'run_made at '
    says 'thread start'
    # Without it the one in /tmp is read, if it can be trusted.
    mv "$kept" "$map"
    report
    frame_says 1 'Stacks\.compiled:7'
    touch -d '2 days ago' "$map" # another process's of that number
    report
    frame_says 1 '0x[0-9a-f]+ \(in no module'
    mv "$map" "$dir/map"
    touch "$dir/map"
    ln -s "$dir/map" "$map"
    report
    says_not 'Stacks'
    rm -f "$map"
    mkfifo "$map"
    report
    says_not 'Stacks'
    rm -f "$map"
    if [ "$(id -u)" -eq 0 ]; then
        cp "$dir/map" "$map"
        chown 65534 "$map"
        report
        says_not 'Stacks'
        rm -f "$map"
    fi
    record lost
    frame_says 1 'Stacks\.compiled:7'
    says '\(callers unknown: the unwinder stopped here\)'
    rm -f "/tmp/perf-$pid.map"
else
    cat "$dir/said" # the rest was tried
fi
rm -rf "$dir"
