# SPDX-License-Identifier: MIT
# The format `arrow`: read by a strict reader of the encoding, compared with JSON lines, and asked the questions of the guide.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record -e task-clock,page-faults -o "$work/scene" -- "$SCENE" </dev/null >/dev/null 2>"$work/record" || fail "recording ended with $?"
expect 0 "$UPMU" export -f arrow -o "$work/scene.arrow" "$work/scene"
expect 0 "$UPMU" export -f jsonl -o "$work/scene.jsonl" "$work/scene"
expect 0 python3 "$HERE/arrow.py" rows "$work/scene.arrow" "$work/scene.jsonl"
expect 0 python3 "$HERE/arrow.py" sql "$work/scene.arrow" "$HERE/../../docs/guide/columns.md"
# More rows than a batch has.
"$UPMU" record --mode all -e task-clock,page-faults -o "$work/many" -- "$SCENE" many 2 4500 </dev/null >/dev/null 2>"$work/record" ||
    fail "recording ended with $?"
expect 0 "$UPMU" export -f arrow -o "$work/many.arrow" "$work/many"
expect 0 "$UPMU" export -f jsonl -o "$work/many.jsonl" "$work/many"
expect 0 python3 "$HERE/arrow.py" rows "$work/many.arrow" "$work/many.jsonl"
has out "in 2 batches"
finish
