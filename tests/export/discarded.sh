# SPDX-License-Identifier: MIT
# Regions that have no end, since they were discarded by a pause or open at their thread's end, end there in each export and in the
# timeline: of a trace of regions alone, and beside waits.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
UPMU_TRACE="$work/regions" "$DISCARDED" || fail "the program ended with $?"
"$UPMU" record -o "$work/waits" -- "$DISCARDED" >/dev/null 2>"$work/record" || fail "recording ended with $?"
"$UPMU" record -e page-faults -o "$work/lives" -- "$DISCARDED" >/dev/null 2>"$work/record" || fail "recording ended with $?"
for trace in regions waits lives; do
    expect 0 "$UPMU" report --json "$work/$trace"
    cp "$work/out" "$work/report.json"
    expect 0 "$UPMU" report --view timeline --json "$work/$trace"
    cp "$work/out" "$work/rows"
    python3 "$HERE/discarded.py" "$UPMU" "$work/$trace" "$work/report.json" "$work/rows" "$HERE" $trace || fail "$trace: a region has another end"
done
expect 0 "$UPMU" dump "$work/regions"
[ "$(grep -c regions-discarded "$work/out")" = 3 ] || fail "events of a thread's end, a pause and a resume: $(grep regions-d "$work/out")"
finish
