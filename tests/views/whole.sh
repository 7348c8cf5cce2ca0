# SPDX-License-Identifier: MIT
# What is true of the file without a browser: one document, in which nothing of the recording stands as text; the same from
# `upmu export`; options that make no sense are refused; a file that cannot be written leaves nothing.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
record nasty -m all -- "$NASTY"
page=$work/nasty.html
grep -q '^<!doctype html>' "$page" || fail "no document"
! grep -q 'drop("x")' "$page" || fail "a name stands in the page as it is"
[ "$(grep -c '</script>' "$page")" -eq 2 ] || fail "the page has other scripts than its own"
! grep -nE '(src|href)=|https?://[^w]|@import|url\([^#]' "$page" || fail "the page asks for something outside"
expect 0 "$UPMU" export -f html "$work/nasty"
cmp -s "$work/out" "$page" || fail "upmu export -f html writes another page"
python3 - "$page" <<'PYTHON' || fail "the data of the page cannot be read"
import base64, json, re, sys, zlib
text = open(sys.argv[1], encoding="ascii").read()
data = zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', text).group(1)))
at, found = 0, {}
while at < len(data):
    n = data[at]
    name = data[at + 1:at + 1 + n].decode()
    count, length = (int.from_bytes(data[at + 1 + n + k:at + 5 + n + k], "little") for k in (0, 4))
    at += 9 + n
    found[name] = (count, data[at:at + length])
    at += length
facts = json.loads(found["facts"][1])
assert facts["threads"] and facts["processes"][0]["command"].endswith("export_nasty"), facts["processes"]
assert any(r["name"] == "'); drop(\"x\"); //" for r in facts["regions"])
assert len(facts["marks"]) == 7
regions = sum(1 for byte in found["regions.begin"][1] if byte < 128)
assert found["regions.begin"][0] == regions == 9, (found["regions.begin"][0], regions)
PYTHON
for option in --json --top=3 --sort=hold --view=timeline --thread=x --page=1; do
    expect 2 "$UPMU" report --html "$work/no.html" "$option" "$work/nasty"
    has err "the page sorts and filters itself"
done
expect 2 "$UPMU" report --html "$work/no.html" --from 2 --to 1 "$work/nasty"
# A stretch of time: less in the timeline, the same in the tables.
expect 0 "$UPMU" report --html "$work/window.html" --from 1000 "$work/nasty"
python3 - "$work/window.html" <<'PYTHON' || fail "the stretch of time is wrong"
import base64, json, re, sys, zlib
data = zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', open(sys.argv[1]).read()).group(1)))
at = data.index(b"\x0dregions.begin") + 14
assert int.from_bytes(data[at:at + 4], "little") == 0
facts = json.loads(data[data.index(b'{"version"'):])
assert facts["window"] == [1000 * 10**9, 0] and len(facts["regions"]) == 9, facts["window"]
PYTHON
expect 1 "$UPMU" report --html "$work/no.html" "$work/nothing-here"
expect 1 "$UPMU" report --html "$work/no/such/folder.html" "$work/nasty"
has err "cannot be written"
[ ! -e "$work/no.html" ] || fail "a failed report left a file"
finish
