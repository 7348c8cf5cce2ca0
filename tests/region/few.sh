# SPDX-License-Identifier: MIT
# few.sh PROGRAM [UPMU]: with few descriptors the program behaves as without counters: same output, same status, for
# limits from 4 to 64 set before the start and by the program itself, and 1 to 8 events.
set -u
program=$1 upmu=${2-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

all=task-clock,page-faults,context-switches,cpu-migrations,minor-faults,major-faults,cpu-clock,page-faults:u

command -v prlimit >/dev/null || { echo "skipped, because prlimit (util-linux) is not installed"; exit 77; }

# run LIMIT OUTPUT WORDS...: under a hard limit of that many descriptors.
run() {
    local limit=$1 output=$2
    shift 2
    # CTest has descriptors of its own.
    prlimit --nofile="$limit" "$@" >"$output" 2>"$work/err" </dev/null \
        3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    echo "status $?" >>"$output"
}

compare() { # LIMIT WHAT
    cmp -s "$work/bare" "$work/measured" && return
    echo "FAIL: limit $1, $2:" >&2
    diff "$work/bare" "$work/measured" >&2
    cat "$work/err" >&2
    failures=$((failures + 1))
}

for limit in $(seq 4 16) 20 24 32 40 48 56 63 64; do
    run "$limit" "$work/bare" "$program" "$limit" 3
    if ! grep -q 'thread 2' "$work/bare" || ! grep -q 'status 0' "$work/bare"; then
        [ -n "${SANITIZED:-}" ] && [ "$limit" -lt 16 ] && continue # a sanitizer needs some of its own
        echo "FAIL: the bare program does not run at $limit" >&2
        exit 1
    fi
    for n in 1 2 5 8; do
        events=$(cut -d, -f"1-$n" <<<"$all")
        run "$limit" "$work/measured" env UPMU_EVENTS="$events" UPMU_REPORT=text "$program" "$limit" 3
        compare "$limit" "$n events"
    done
    run "$limit" "$work/measured" env UPMU_EVENTS="$all" UPMU_TRACE="$work/trace$limit" "$program" "$limit" 3
    compare "$limit" "a trace"
    # The recorder, from where the command that starts it has enough; a sanitized library cannot be preloaded.
    if [ -n "$upmu" ] && [ -z "${SANITIZED:-}" ] && [ "$limit" -ge 6 ]; then
        run "$limit" "$work/measured" "$upmu" record -o "$work/record$limit" -e page-faults,task-clock -- "$program" "$limit" 3
        compare "$limit" "recorded"
    fi
    # The limit is lowered after the start: what the library holds by then leaves the program its own.
    run 1024 "$work/bare" "$program" "$limit" 3
    run 1024 "$work/measured" env UPMU_EVENTS="$all" UPMU_REPORT=text "$program" "$limit" 3
    compare "$limit" "8 events, limit lowered by the program"
done
[ "$failures" -eq 0 ]
