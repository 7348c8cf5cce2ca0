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
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/library_locks.sh"
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
    nm -D --defined-only "$preload" | awk '$2 == "T" && $3 ~ /^_Z/ && $3 !~ /^_ZN4absl/ { sub("@+", " ", $3); print $3 }' | sort >"$scratch/exported"
    sed -n 's/^| .* | `\(_Z[^`]*\)` | \(Qt_[^|]*\) |$/\1 \2/p' "$table" |
        awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort >"$scratch/listed"
    diff "$scratch/listed" "$scratch/exported" >"$scratch/diff" || fail "$table and the library differ:
$(cat "$scratch/diff")"
    record_modes "qt: all done"
    record_events "lock-block .* QMutex=" "lock-block .* QReadWriteLock=.* reader" \
        "lock-block .* QReadWriteLock=.* held-by-reader" "lock-acquired .* QMutex=" "lock-failed .* QMutex=.* timed" \
        "lock-release .* QMutex=" "cond-wait .* timed" "cond-wake .* result=110"
    for mode in all holders contended; do
        # What Qt uses inside of its locks is a part of them.
        ! grep -E " futex-wait .* futex=($(lock_addresses "$scratch/dump-$mode")) " "$scratch/dump-$mode" || fail "mode $mode: a lock is a futex"
    done
    python3 - "$scratch/holders.json" "$version" <<'EOF' || fail "the report: see above"
import json, sys
objects = {}
for o in json.load(open(sys.argv[1]))["objects"]:
    objects.setdefault((o["name"] or "").split("::")[-1], o)  # locks of Qt's own have an address only
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
