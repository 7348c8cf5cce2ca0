#!/usr/bin/env bash
# qt.sh BIN LIB UPMU TABLE VERSION recorded|deadlocks [PROGRAM]: locks of Qt are recorded as what they are, in a program that is
# bound to Qt's own functions.
#
# recorded: every wrapped function is in the table of the documentation; waits, holds and releases of each kind of lock.
# deadlocks: cycles of Qt's locks are found while the program lives, and after it was killed. Of a QMutex of Qt 6 that was
# acquired without a wait the holder is unknown: then the process is found to have stalled.
set -euo pipefail
bin=$1 lib=$2 upmu=$3 table=$4 version=$5 part=$6 program=${7:-}
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if [ -z "$program" ]; then
    echo "skipped, because Qt $version is not installed"
    exit 77
fi

lock_addresses()
{
    grep -oE ' (QMutex|QReadWriteLock)=0x[0-9a-f]+' "$1" | sed 's/.*=//' | sort -u | paste -sd '|'
}

recorded()
{
    nm -D --defined-only "$preload" | awk '$2 == "T" && $3 ~ /^_Z/ { sub("@+", " ", $3); print $3 }' | sort >"$scratch/exported"
    sed -n 's/^| .* | `\(_Z[^`]*\)` | \(Qt_[^|]*\) |$/\1 \2/p' "$table" |
        awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort >"$scratch/listed"
    diff "$scratch/listed" "$scratch/exported" >"$scratch/diff" || fail "$table and the library differ:
$(cat "$scratch/diff")"
    [ "$("$program")" = "qt: all done" ] || fail "it does not run by itself"
    for mode in all holders contended counts; do
        record "$scratch/$mode" "$mode" "$program" >"$scratch/out" || fail "mode $mode: status $?"
        [ "$(cat "$scratch/out")" = "qt: all done" ] || fail "mode $mode: it printed $(cat "$scratch/out")"
        "$upmu" report --json "$scratch/$mode" >"$scratch/$mode.json" || fail "mode $mode: the report: status $?"
        grep -q '"unmatched": 0' "$scratch/$mode.json" || fail "mode $mode: $(grep -m1 unmatched "$scratch/$mode.json")"
        ! grep -E '"lost": [1-9]' "$scratch/$mode.json" || fail "mode $mode: events were lost"
    done
    for mode in all holders contended; do
        "$upmu" dump "$scratch/$mode" >"$scratch/dump" || fail "mode $mode: the trace cannot be read"
        for event in "lock-block .* QMutex=" "lock-block .* QReadWriteLock=.* reader" \
            "lock-block .* QReadWriteLock=.* held-by-reader" "lock-acquired .* QMutex=" "lock-failed .* QMutex=.* timed" \
            "lock-release .* QMutex=" "cond-wait .* timed" "cond-wake .* result=110"; do
            grep -qE " $event" "$scratch/dump" || fail "mode $mode: no event $event"
        done
        # What Qt uses inside of its locks is a part of them.
        ! grep -E " futex-wait .* futex=($(lock_addresses "$scratch/dump")) " "$scratch/dump" || fail "mode $mode: a lock is a futex"
    done
    python3 - "$scratch/holders.json" "$version" <<'EOF' || fail "the report: see above"
import json, sys
objects = {}
for o in json.load(open(sys.argv[1]))["objects"]:
    objects.setdefault(o["name"].split("::")[-1], o)
for name, kind in (("gate", "QMutex"), ("recursive", "QMutex"), ("rwlock", "QReadWriteLock"), ("changed", "condition variable")):
    assert objects[name]["type"] == kind, objects[name]
for name in ("gate", "recursive", "rwlock"):
    assert objects[name]["waits"]["count"] >= 1, objects[name]
# An uncontended QMutex of Qt 6 is acquired by inlined code.
for name in ("rwlock", "recursive") + (("gate",) if sys.argv[2] == "5" else ()):
    longest = objects[name]["longest"]
    assert longest["holder"] > 0 and longest["hold_ns"] > 0, longest
EOF
}

# Waits until a command succeeds.
until_true()
{
    for _ in $(seq 1200); do
        if "$@"; then return; fi
        sleep 0.05
    done
    fail "it never came true: $* (last: $(cat "$scratch/found"))"
}

# finds FINDING DIR: a line of the output matches. Output without one is kept in "found".
finds()
{
    "$upmu" deadlock "$2" >"$scratch/found" 2>&1 || true # 3: a deadlock was found; 1: there is no recording yet
    grep -q "$1" "$scratch/found"
}

# deadlock NAME FINDING LOCK...: PROGRAM NAME is found to have FINDING, whose threads wait for each LOCK
deadlock()
{
    local name=$1 finding=$2 lock when
    shift 2
    env UPMU_TRACE="$scratch/$name" UPMU_SYNC=holders LD_PRELOAD="$preload" "$program" "$name" >/dev/null &
    pid=$!
    trap 'kill -9 $pid; rm -rf "$scratch"' EXIT
    until_true finds "$finding" "$scratch/$name"
    for when in "while it lives" "after it was killed"; do
        for lock in "$@"; do
            grep -qE "waits for $lock" "$scratch/found" || fail "$name, $when: no thread waits for $lock: $(cat "$scratch/found")"
        done
        [ "$when" = "while it lives" ] || break
        kill -9 $pid
        wait $pid || true
        trap 'rm -rf "$scratch"' EXIT
        finds "$finding" "$scratch/$name" || fail "$name, after it was killed: $(cat "$scratch/found")"
    done
}

deadlocks()
{
    if [ "$version" = 5 ]; then
        deadlock mutex '^deadlock \[cycle\].* 2 threads' 'QMutex .*left' 'QMutex .*right'
    else
        deadlock mutex '^stalled ' 'QMutex .*left' 'QMutex .*right'
    fi
    deadlock waited '^deadlock \[cycle\].* 2 threads' 'QMutex .*left' 'QMutex .*right'
    deadlock rwlock '^deadlock \[cycle\].* 2 threads' 'QReadWriteLock .*::rwlock' 'QReadWriteLock .*::other_rwlock'
    deadlock recursive '^deadlock \[cycle\].* 2 threads' 'QMutex .*recursive' 'QReadWriteLock .*::rwlock'
}

"$part"
echo "Qt $version: $part"
