# SPDX-License-Identifier: MIT
# What is true of the file without a browser: one document, in which nothing of the recording stands as text; the same from
# `upmu export`; malformed options are refused; a failed write leaves no file.
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
python3 - "$HERE" "$page" <<'PYTHON' || fail "the data of the page cannot be read"
import sys
sys.path.insert(0, sys.argv[1])
from data import Page
page = Page(sys.argv[2])
assert page.facts["threads"] and page.facts["processes"][0]["command"].endswith("export_nasty"), page.facts["processes"]
assert any(r["name"] == "'); drop(\"x\"); //" for r in page.facts["regions"])
assert len(page.facts["marks"]) == 7
assert len(page.spans("regions")) == 9, page.spans("regions")
PYTHON
for option in --json --top=3 --sort=hold --view=timeline --thread=x --page=1; do
    expect 2 "$UPMU" report --html "$work/no.html" "$option" "$work/nasty"
    has err "the page sorts and filters itself"
done
expect 2 "$UPMU" report --html "$work/no.html" --from 2 --to 1 "$work/nasty"
# A stretch of time: less in the timeline, the same in the tables.
expect 0 "$UPMU" report --html "$work/window.html" --from 0 --to 0.000000001 "$work/nasty"
python3 - "$HERE" "$work/window.html" <<'PYTHON' || fail "the stretch of time is wrong"
import sys
sys.path.insert(0, sys.argv[1])
from data import Page
page = Page(sys.argv[2])
assert page.spans("regions") == [] and page.spans("holds") == []
assert page.facts["window"] == [0, 1] and len(page.facts["regions"]) == 9, page.facts["window"]
PYTHON
# Of two recordings: the tables of the older one beside all of the newer one.
expect 0 "$UPMU" report --html "$work/both.html" --diff "$work/nasty" "$work/nasty"
expect 0 "$UPMU" export -f html --base "$work/nasty" "$work/nasty"
cmp -s "$work/out" "$work/both.html" || fail "upmu export -f html --base writes another page"
python3 - "$HERE" "$work/both.html" <<'PYTHON' || fail "the page of two recordings is wrong"
import json, sys
sys.path.insert(0, sys.argv[1])
from data import Page
page = Page(sys.argv[2])
assert json.loads(page.sections["base"][1]) == page.facts
PYTHON
for option in --from=0 --thread=main --json --functions; do
    expect 2 "$UPMU" report --html "$work/no.html" "$option" --diff "$work/nasty" "$work/nasty"
done
expect 1 "$UPMU" export -f html --from 0 --to 1 --base "$work/nasty" -o "$work/no.html" "$work/nasty"
has err "'upmu report --diff' compares a stretch of both"
expect 1 "$UPMU" report --html "$work/no.html" --diff "$work/nothing-here" "$work/nasty"
expect 1 "$UPMU" report --html "$work/no.html" "$work/nothing-here"
expect 1 "$UPMU" report --html "$work/no/such/folder.html" "$work/nasty"
has err "cannot write"
[ ! -e "$work/no.html" ] || fail "a failed report left a file"
finish
