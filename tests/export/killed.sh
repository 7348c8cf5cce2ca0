# SPDX-License-Identifier: MIT
# Regions that a killed process left open end with it in each export, not with the recording; a window after its end has none of them.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record -m all -o "$work/killed" -- "$KILLED" >/dev/null 2>"$work/record" || fail "recording ended with $?"
expect 0 "$UPMU" report --json "$work/killed"
cp "$work/out" "$work/killed.json"
expect 0 "$UPMU" report --view timeline --json "$work/killed"
cp "$work/out" "$work/rows"
python3 "$HERE/killed.py" "$UPMU" "$work/killed" "$work/killed.json" "$work/rows" "$HERE" || fail "a region outlasts its process"
finish
