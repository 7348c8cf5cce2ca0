# SPDX-License-Identifier: MIT
# Each format is read by a reader of its own ecosystem (or of its language), and tells the truth about a known program.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record -e task-clock,page-faults,context-switches -o "$work/scene" -- "$SCENE" >/dev/null 2>"$work/record" ||
    fail "recording ended with $?"
export_all "$work/scene" "$work/waits" --of waits
export_all "$work/scene" "$work/regions" --of regions
decode "$work/waits"
decode "$work/regions"
PYTHONDONTWRITEBYTECODE=1 python3 "$HERE/scene.py" "$work/waits" "$work/regions" || fail "an export is wrong"
# Without --of the program's own regions decide; the program has some.
expect 0 "$UPMU" export -f folded "$work/scene"
cmp -s "$work/out" "$work/regions.folded" || fail "auto is not regions"
expect 0 "$UPMU" export --formats
for format in $formats; do has out "$format"; done
finish
