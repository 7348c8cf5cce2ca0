# SPDX-License-Identifier: MIT
# An export that fails has a message and leaves no partial file.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record -o "$work/scene" -- "$SCENE" >/dev/null 2>"$work/record" || fail "recording ended with $?"

expect 1 "$UPMU" export -f crome "$work/scene"
has err "did you mean 'chrome'"
expect 2 "$UPMU" export "$work/scene"
has err "--format is missing"
expect 2 "$UPMU" export -f csv
has err "DIR is missing"
expect 2 "$UPMU" export -f csv --of nothing "$work/scene"
expect 1 "$UPMU" export -f csv "$work/nowhere"
has err "No such file"
expect 1 "$UPMU" export -f csv -o "$work/no/such/folder" "$work/scene"
has err "cannot write"

echo "as it was" >"$work/kept"
expect 1 "$UPMU" export -f csv -o "$work/kept" "$work/nowhere"
[ "$(cat "$work/kept")" = "as it was" ] || fail "a failed export changed its file"
[ -z "$(find "$work" -name '*upmu-*')" ] || fail "a failed export left a file behind"
expect 1 "$UPMU" export -f csv -o /dev/full "$work/scene"
has err "No space left"
[ -c /dev/full ] || fail "a device was replaced by a file"
ln -s kept "$work/link"
expect 0 "$UPMU" export -f folded -o "$work/link" "$work/scene"
[ -L "$work/link" ] && [ "$(cat "$work/kept")" != "as it was" ] || fail "a link was replaced by a file"

# A damaged stream is exported up to the damage, the other streams in full; the exit status is 1.
damaged=$work/damaged
cp -r "$work/scene" "$damaged"
stream=$(find "$damaged" -name 'stream_0001')
truncate -s -100 "$stream"
expect 1 "$UPMU" export -f jsonl "$damaged"
has err "damage"
[ "$(wc -l <"$work/out")" -gt 3 ] || fail "nothing of the whole streams was exported"
cp "$work/out" "$work/rest"
expect 1 "$UPMU" export -f jsonl -o "$work/damaged.jsonl" "$damaged"
cmp -s "$work/rest" "$work/damaged.jsonl" || fail "with -o there is something else, or nothing"
expect 1 "$UPMU" report --html "$work/damaged.html" "$damaged"
has err "damage"
grep -q '</html>' "$work/damaged.html" || fail "no page of what can be read"
finish
