# shellcheck shell=bash
# What the tests of this folder share. Sourced; the caller has set -euo pipefail, bin (programs) and lib (libraries).
# Who reads this file has set lib and bin.
# shellcheck disable=SC2154

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
preload=$lib/libupmu_sync.so.0

# Not grep -q: it would leave before nm has written all, and pipefail would take that for "no".
if nm -D --undefined-only "$preload" | grep -E '__(asan|tsan)_init' >/dev/null; then
    echo "skipped, because a library built with a sanitizer cannot be preloaded into programs built without"
    exit 77
fi

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# record DIR MODE COMMAND...: run it with the library preloaded
record()
{
    local dir=$1 mode=$2
    shift 2
    env UPMU_TRACE="$dir" UPMU_SYNC="$mode" LD_PRELOAD="$preload" "$@"
}

# events DIR FILE: the recording as text; no stack that is named may be missing, nothing may be lost
events()
{
    "$bin/sync_dump" "$1" >"$2" || fail "the trace $1 cannot be read"
    ! grep -q 'frames=4294967295' "$2" || fail "a stack is named before it is written: $(grep -m1 'frames=4294967295' "$2")"
    ! grep '^process' "$2" | grep -v -q 'lost=0$' || fail "events were lost: $(grep '^process' "$2")"
}

# count FILE PATTERN: lines that match
count()
{
    grep -c -E "$2" "$1" || true
}

# expect FILE N PATTERN: exactly N lines match
expect()
{
    local n
    n=$(count "$1" "$3")
    [ "$n" -eq "$2" ] || fail "$n instead of $2 lines match '$3' in:
$(grep -v '^module' "$1")"
}
