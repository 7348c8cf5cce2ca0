#!/usr/bin/env bash
# The guide's example: a slow matrix product is found by its hottest path, rewritten, and both recordings are compared.
#     story.sh SOURCES UPMU EXAMPLES
set -euo pipefail
sources=$1 upmu=$2 examples=$3
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export DEBUGINFOD_URLS=
read -r cc _ < <(compilers) || { echo "skipped, because there is neither gcc nor clang"; exit 77; }
cp "$examples/matrix.c" .
"$cc" -g -O3 -finstrument-functions matrix.c -o naive
"$cc" -g -O3 -finstrument-functions -DREWRITTEN matrix.c -o rewritten

# is_found: the path to the product has nearly all of the time (the rest is page faults, on some machines slow ones; 98.6 % here, and
# 99.7 % of the 19 s that a matrix of 2200 takes), and the rewrite is faster
is_found()
{
    rm -rf old new
    "$upmu" record --functions -o old -- ./naive 800 >old.out 2>err || fail "record: $(cat err)"
    "$upmu" record --functions -o new -- ./rewritten 800 >new.out 2>err || fail "record: $(cat err)"
    cmp -s old.out new.out || fail "the results differ"
    "$upmu" report --functions old >text
    "$upmu" report --functions --diff old new >difference
    sed -n '/^Hottest path/,/^$/p' text >path
    awk '/ multiply / && $1 >= 85 {found = 1} END {exit !found}' path && grep -q 'time in functions: .* times faster' difference
}
is_found || is_found || is_found || fail "neither found nor faster: $(cat path difference)"
[ "$(grep -c . path)" = 4 ] || fail "the path: $(cat path)"
grep -q ' 640000    *dot matrix.c:' path || fail "the path: $(cat path)"
for line in '^Functions of two recordings$' '^  old: old: 640005 calls of 5 functions, ' ' gone .* 640000 .* dot matrix.c:' \
    ' new .* 640000 .* add_row matrix.c:' ' 1  *1  multiply matrix.c:' '^Hottest path, new:'; do
    grep -q "$line" difference || fail "the comparison has no line '$line': $(cat difference)"
done

"$upmu" report --functions --diff --json old new >json
"$upmu" export -f flamegraph --base old -o difference.svg new
python3 - <<'PY'
import json, re
d = json.load(open("json"))
f = {x["name"]: x for x in d["functions"]}
assert d["schema"] == "upmu-functions-diff" and len(f) == 6, f
assert f["dot"]["new"] is None and f["add_row"]["old"] is None
assert f["multiply"]["old"]["calls"] == f["multiply"]["new"]["calls"] == 1
changes = [abs((x["new"] or {}).get("exclusive_ns", 0) - (x["old"] or {}).get("exclusive_ns", 0)) for x in d["functions"]]
assert changes == sorted(changes, reverse=True), changes
titles = dict(re.findall(r"<title>(\w+): ([^<]*)", open("difference.svg").read()))
assert titles["add_row"].endswith("; new") and re.search(r"; was [\d.]+ s, [-+][\d.]+ %$", titles["multiply"]), titles
was = float(re.search(r"was ([\d.]+) s", titles["multiply"])[1])
assert abs(was - f["multiply"]["old"]["inclusive_ns"] / 1e9) < 1e-5, titles
svg = open("difference.svg").read()
gone = float(re.search(r"\(([\d.]+) s in paths that are gone\)", svg)[1])
assert abs(gone - f["dot"]["old"]["inclusive_ns"] / 1e9) < 1e-5, gone
PY
# A recording and itself: white, and nothing changed.
"$upmu" export -f flamegraph --base new -o same.svg new
grep -q 'fill="#f0f0f0"' same.svg || fail "the same twice: not white"
grep -q 'was .*, +0.0 %' same.svg || fail "the same twice: changed"
! grep -q '; new' same.svg || fail "the same twice: new"
"$upmu" report --functions --diff new new >difference
! grep -q 'gone\| new  ' difference || fail "the same twice: $(cat difference)"

"$upmu" report --source matrix.c new >source
grep -q '^ .* 640000  *[0-9]*  {$' source || fail "$(cat source)"
[ "$(grep -c . source)" = "$(($(grep -c '' matrix.c) + 1))" ] || fail "not all lines: $(cat source)"
! "$upmu" report --source nothing.c new 2>err || fail "there is no such file"
grep -q 'no recorded function is in a source file "nothing.c"' err || fail "$(cat err)"
touch -d '1 hour' matrix.c
"$upmu" report --source matrix.c new 2>err >source
grep -q 'its lines may have moved' err || fail "the file is newer: $(cat err)"

for bad in "export -f folded --base old -o x new" "export -f flamegraph --base old --from 0.1 -o x new" "report --functions --diff --from 0.1 old new" \
    "report --functions --diff --source matrix.c old new" "report --samples --diff old new" \
    "report --view regions --source x old" "report --source matrix.c --json old"; do
    # shellcheck disable=SC2086 # words
    ! "$upmu" $bad 2>err || fail "$bad is no error"
    [ -s err ] || fail "$bad has no message"
done
! "$upmu" export -f flamegraph --base nowhere -o x new 2>err || fail "no such base"
