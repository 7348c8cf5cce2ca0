#!/usr/bin/env bash
# Deadlocks between processes that are recorded together.
#
#     shared.sh UPMU PROGRAM DIR
set -euo pipefail
upmu=$1 program=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
recorder=

# end: all processes of the case, which are those of the recorder's session
end() {
    if [ "$recorder" = $$ ]; then return; fi
    kill -9 -- "-$recorder" 2>/dev/null || true
    wait "$recorder" 2>/dev/null || true
}
fail() {
    echo "FAILED: $1"
    end
    exit 1
}

# finds CASE KIND COUNT [--paused]: so many deadlocks of that kind are reported while they last; with --paused the recording
# begins after them
finds() {
    local rc=0 text=
    rm -rf "${dir:?}/$1"
    setsid "$upmu" record ${4:+"$4"} -o "$dir/$1" -- "$program" "$1" >"$dir/out" 2>&1 &
    recorder=$!
    if [ $# -eq 4 ]; then
        sleep 1
        "$upmu" ctl "$dir/$1" start >"$dir/ctl" || fail "$1: $(cat "$dir/ctl")"
        # what the recorder has found and saved is found again while it lasts
        for _ in $(seq 100); do
            if grep -q '^deadlock' "$dir/out"; then break; fi
            sleep 0.1
        done
    fi
    for _ in $(seq 100); do
        rc=0
        text=$("$upmu" deadlock "$dir/$1" 2>/dev/null) || rc=$?
        # with status 3 there may be only the orders that lead to it, so far
        if [ $rc -eq 3 ] && grep -q "^deadlock" <<<"$text"; then break; fi
        sleep 0.2
    done
    [ "$(grep -c "^deadlock \[$2\]" <<<"$text")" -eq "$3" ] || fail "$1: expected $3 x $2: $text"
    end
}
# Two recordings, a process of each: found from either of them, by the id of a process, and after their end.
recorder=$$
for i in 1 2; do
    setsid "$upmu" record -o "$dir/of$i" -- "$program" mutexes "$dir/file" >"$dir/out$i" 2>&1 &
    recorders[i]=$!
done
end_both() { kill -9 -- "-${recorders[1]}" "-${recorders[2]}" 2>/dev/null || true; }
either() {
    local rc=0 text
    text=$("$upmu" deadlock "$1" 2>&1) || rc=$?
    if [ "$rc" -eq 3 ] && grep -q '^deadlock \[cross-process\]' <<<"$text"; then return 0; fi
    return 1
}
for _ in $(seq 100); do
    if either "$dir/of1"; then break; fi
    sleep 0.2
done
for subject in "$dir/of1" "$dir/of2" "$(pgrep -P "${recorders[1]}")" "$(pgrep -P "${recorders[2]}")"; do
    either "$subject" || { end_both; fail "two recordings: not found from $subject: $("$upmu" deadlock "$subject" 2>&1)"; }
done
end_both
wait "${recorders[@]}" 2>/dev/null || true
for i in 1 2; do either "$dir/of$i" || fail "not found any more after the end: $("$upmu" deadlock "$dir/of$i" 2>&1)"; done
# Not recorded: the same from the memory of the locks, by the id of either process.
for case in mutex rwlock; do
    if [ $case = mutex ]; then setsid "$program" mutexes & else setsid "$program" rwlocks & fi
    recorder=$!
    for _ in $(seq 100); do
        subjects=$(pgrep -s "$recorder" -x deadlock_shared) || true
        found=0
        for subject in $subjects; do if either "$subject"; then found=$((found + 1)); fi; done
        if [ $found -eq 2 ]; then break; fi
        sleep 0.2
    done
    for subject in $subjects; do
        text=$("$upmu" deadlock "$subject" 2>&1) || true
        grep -Eq "waits for the $case 0x[0-9a-f]+, held by" <<<"$text" && grep -Eq '#[0-9]+ +cross' <<<"$text" ||
            fail "$case, not recorded: $text"
    done
    end
done
finds mutexes cross-process 2
finds mutexes cross-process 2 --paused
finds rwlocks cross-process 2
finds killed owner-ended 1

# A holder that sleeps.
setsid "$upmu" record -o "$dir/held" -- "$program" held >"$dir/out" 2>&1 &
recorder=$!
sleep 1.5
for _ in 1 2 3; do
    rc=0
    text=$("$upmu" deadlock "$dir/held" 2>/dev/null) || rc=$?
    [ $rc -eq 0 ] || fail "held: status $rc: $text"
done
wait "$recorder" || fail "held: $(cat "$dir/out")"
rm -rf "$dir"
