# SPDX-License-Identifier: MIT
# --from and --to: each export has what lies in the time window, cut at its ends; a window outside the recording is an error
# in every command; the page's chart counts the threads that are blocked in the window, and nothing outside.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record -m all -e page-faults -o "$work/scene" -- "$SCENE" >/dev/null 2>"$work/record" || fail "recording ended with $?"
expect 0 "$UPMU" report --view timeline --json "$work/scene"
cp "$work/out" "$work/rows"
python3 "$HERE/window.py" "$UPMU" "$work/scene" "$work/rows" || fail "a time window is wrong"

for format in $formats; do
    expect 0 "$UPMU" export -f "$format" --from 0.001 --to 0.01 "$work/scene"
    expect 1 "$UPMU" export -f "$format" --from 1000 "$work/scene"
    has err "after the end of the recording"
done
expect 1 "$UPMU" report --html "$work/no.html" --from 1000 --to 1001 "$work/scene"
has err "after the end of the recording"
[ ! -e "$work/no.html" ] || fail "a failed report left a page"
expect 1 "$UPMU" report --view timeline --from 1000 "$work/scene"
has err "after the end of the recording"
for view in overview regions; do
    expect 0 "$UPMU" report --view "$view" --from 0.01 "$work/scene"
    expect 1 "$UPMU" report --view "$view" --from 1000 "$work/scene"
    has err "after the end of the recording"
done
expect 2 "$UPMU" report --view deadlock --from 0.01 "$work/scene"
has err "the whole recording"
expect 2 "$UPMU" export -f csv --from x "$work/scene"
expect 2 "$UPMU" export -f csv --from . "$work/scene"
expect 2 "$UPMU" export -f csv --to 0 "$work/scene"
expect 2 "$UPMU" export -f csv --from 2 --to 1 "$work/scene"
has err "--to is before --from"
finish
