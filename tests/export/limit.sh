# SPDX-License-Identifier: MIT
# A timeline of a long recording has the longest 262144 regions, as many marks and readings, and the command reports what is left
# out; an export of a part of the recording is complete.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record -e page-faults -o "$work/long" -- "$LONG" >/dev/null 2>"$work/record" || fail "recording ended with $?"
expect 0 "$UPMU" export -f csv -o "$work/long.csv" "$work/long"
for format in chrome perfetto firefox; do
    expect 0 "$UPMU" export -f "$format" -o "$work/long.$format" "$work/long"
    has err "were left out"
    has err "--from and --to"
done
python3 "$HERE/limit.py" "$work/long" || fail "the limit is wrong"
half=$(cat "$work/long.half")
for format in chrome perfetto; do
    expect 0 "$UPMU" export -f "$format" --from "$half" -o "$work/part.$format" "$work/long"
    empty err
done
finish
