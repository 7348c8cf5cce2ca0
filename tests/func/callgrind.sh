#!/usr/bin/env bash
# Calls of a program as callgrind counts them are those that are recorded.
#     callgrind.sh SOURCES LIBRARIES
set -euo pipefail
sources=$1 libs=$2
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
command -v valgrind >/dev/null || { echo "skipped, because valgrind is not installed"; exit 77; }
read -r cc _ < <(compilers) || { echo "skipped, because there is neither gcc nor clang"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$cc" -g -O1 -finstrument-functions "$sources/callers.c" -o callers
valgrind --tool=callgrind --separate-recs=1 --callgrind-out-file=out.callgrind ./callers >expected 2>valgrind.log ||
    fail "valgrind: $(cat valgrind.log)"
UPMU_FUNC_CSV=recorded LD_PRELOAD=$libs/libupmu_func.so.0 ./callers >out
cmp out expected
python3 - <<'PY'
import csv, re
names, calls, edges = {}, {}, {}
caller = callee = None
def name(text):  # "(3) name", later "(3)"; a recursion is "name'2"
    number, rest = re.match(r"\((\d+)\) ?(.*)", text).groups()
    if rest:
        names[number] = re.sub(r"'\d+$", "", rest)
    return names[number]
for line in open("out.callgrind"):
    if line.startswith("fn="):
        caller = name(line[3:].rstrip())
    elif line.startswith("cfn="):
        callee = name(line[4:].rstrip())
    elif line.startswith("calls="):
        n = int(line[6:].split()[0])
        calls[callee] = calls.get(callee, 0) + n
        edges[caller, callee] = edges.get((caller, callee), 0) + n
mine = {r["name"]: int(r["calls"]) for r in csv.DictReader(open("recorded.functions.csv", newline=""))}
assert len(mine) >= 8 and sum(mine.values()) > 10000, mine
assert {f: calls.get(f) for f in mine} == mine, ({f: calls.get(f) for f in mine}, mine)
outside = {callee for caller, callee in edges if caller not in mine}  # qsort() calls compare()
checked = 0
for r in csv.DictReader(open("recorded.edges.csv", newline="")):
    if r["callee"] not in outside:
        checked += 1
        assert edges.get((r["caller"], r["callee"])) == int(r["count"]), (r, edges.get((r["caller"], r["callee"])))
assert checked >= 8, checked
print(len(mine), "functions with", sum(mine.values()), "calls, as callgrind has them")
PY
