# SPDX-License-Identifier: MIT
# Each export format, read by a reader of its own ecosystem, against a known program.
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
# Data missing from the sums of a profile is reported, and only then.
[ ! -s "$work/err" ] || fail "counters that all have numbers: $(cat "$work/err")"
"$UPMU" record -e page-faults,cycles -o "$work/lacking" -- "$SCENE" >/dev/null 2>"$work/record" || fail "recording ended with $?"
expect 0 "$UPMU" export -f jsonl "$work/lacking"
lacking=$(grep -c '"kind":"end".*"cycles[^"]*":{"value":null' "$work/out")
expect 0 "$UPMU" export -f callgrind --of regions "$work/lacking"
[ "$lacking" -eq 0 ] || has err "$lacking counters of regions have no value"
# Without --of the program's own regions decide; the program has some.
expect 0 "$UPMU" export -f folded "$work/scene"
cmp -s "$work/out" "$work/regions.folded" || fail "auto is not regions"
expect 0 "$UPMU" export --formats
for format in $formats; do has out "$format"; done
finish
