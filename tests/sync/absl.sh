#!/usr/bin/env bash
# absl.sh BIN LIB UPMU TABLE recorded|deadlocks [PROGRAM]: locks of Abseil are recorded as what they are.
#
# recorded: every wrapped function is in the table of the documentation; waits, holds and releases of each kind.
# deadlocks: cycles are found while the program lives, and after it was killed.
set -euo pipefail
bin=$1 lib=$2 upmu=$3 table=$4 part=$5 program=${6:-}
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/library_locks.sh"
if [ -z "$program" ]; then
    echo "skipped, because Abseil is not installed (libabsl-dev)"
    exit 77
fi

recorded()
{
    nm -D --defined-only "$preload" | sed -n 's/.* T _ZN4absl7debian3//p' | sort >"$scratch/exported"
    sed -n 's/^| .* | `_ZN4absl7debian3\([^`]*\)` |$/\1/p' "$table" | sort >"$scratch/listed"
    diff "$scratch/listed" "$scratch/exported" >"$scratch/diff" || fail "$table and the library differ:
$(cat "$scratch/diff")"
    record_modes "absl: all done"
    record_events "lock-block .* absl::Mutex=" "lock-block .* absl::Mutex=.* reader" "lock-block .* absl::Mutex=.* held-by-reader" \
        "lock-acquired .* absl::Mutex=" "lock-release .* absl::Mutex=" "lock-destroy .* absl::Mutex=" "cond-wait .* timed" \
        "cond-wake .* result=110" "cond-broadcast"
    for mode in all holders contended; do
        # What Abseil uses inside of its locks is a part of them.
        ! grep " futex-wait " "$scratch/dump-$mode" || fail "mode $mode: a lock is a futex"
    done
    python3 - "$scratch/holders.json" <<'EOF2' || fail "the report: see above"
import json, sys
objects = {}
for o in json.load(open(sys.argv[1]))["objects"]:
    objects.setdefault((o["name"] or "").split("::")[-1], o)
for name, kind in (("gate", "absl::Mutex"), ("shared_lock", "absl::Mutex"), ("changed", "condition variable")):
    assert objects[name]["type"] == kind, objects[name]
    assert objects[name]["waits"]["count"] >= 1, objects[name]
for name in ("gate", "shared_lock"):
    longest = objects[name]["longest"]
    assert longest["holder"] > 0 and longest["hold_ns"] > 0, longest
# Each uncontended pair is counted.
assert objects["gate"]["acquisitions"] > 1000, objects["gate"]
EOF2
}

deadlocks()
{
    deadlock mutex '^deadlock \[cycle\].* 2 threads' 'absl::Mutex .*left' 'absl::Mutex .*right'
    deadlock reader '^deadlock \[cycle\].* 2 threads' 'absl::Mutex .*left' 'absl::Mutex .*right'
}

"$part"
echo "Abseil: $part"
