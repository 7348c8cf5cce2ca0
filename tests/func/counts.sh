#!/usr/bin/env bash
# Events are counted in calls: page faults of functions that touch pages, in threads and a child; and refusals are shown.
#     counts.sh SOURCES UPMU
set -euo pipefail
sources=$1 upmu=$2
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export DEBUGINFOD_URLS=
read -r cc _ < <(compilers) || { echo "skipped, because there is neither gcc nor clang"; exit 77; }
"$cc" -g -O2 -finstrument-functions "$sources/counted.c" -o counted -pthread

# Events that were not asked for are not mentioned.
"$upmu" record --functions -o default -- ./counted 2>/dev/null
"$upmu" report --functions default >default.txt
! grep 'not counted by function' default.txt || fail "no event was asked for: $(head -5 default.txt)"

# Without system calls page faults cannot be read: refused, with the reason, and calls are as cheap as before.
"$upmu" record --functions -e page-faults -o refused -- ./counted 2>/dev/null
"$upmu" report --functions --json refused >refused.json
"$upmu" report --functions refused >refused.txt
grep -q '^  not counted by function: page-faults: .' refused.txt || fail "$(head -5 refused.txt)"
if ! UPMU_FUNC_COUNTERS=slow "$upmu" record --functions -e page-faults -o slow -- ./counted 2>err; then
    fail "record: $(cat err)"
fi
"$upmu" report --functions --json slow >slow.json
"$upmu" export -f callgrind -o slow.callgrind slow
python3 - <<'PY'
import json, sys
d = json.load(open("refused.json"))
c = d["counters"][0]
assert c["name"].startswith("page-faults") and not c["counted"] and c["reason"], c
for f in d["functions"]:
    for v in f["counts"][0].values():
        assert v["status"] in ("refused", "unsupported") and v.get("value") is None, (f["name"], v)

d = json.load(open("slow.json"))
c = d["counters"][0]
if not c["counted"]:
    print("skipped, because page faults cannot be counted here:", c["reason"])
    sys.exit(77)
assert d["processes"] == 2 and d["threads"] == 3, (d["processes"], d["threads"])
functions = {f["name"]: f for f in d["functions"]}
faults = {n: [f["counts"][0][k] for k in ("inclusive", "exclusive")] for n, f in functions.items()}
for name, values in faults.items():
    for v in values:
        assert v["status"] == "exact" and v["without"] == 0, (name, v)
# Three times: two threads and a child. Pages of the recorder, the stack and the program may fault within, a few of them; a child copies
# those that it writes to.
want = {"touch": (312, 312), "middle": (330, 30), "recursive": (10, 5), "jumps": (7, 0), "leaves": (5, 0)}
for name, (inclusive, exclusive) in want.items():
    got = [v["value"] for v in faults[name]]
    assert 3 * inclusive <= got[0] <= 3 * inclusive + 40 and 3 * exclusive <= got[1] <= 3 * exclusive + 40, (name, got)
assert sum(v[1]["value"] for v in faults.values()) == faults["all"][0]["value"], faults
paths = [p for p in d["paths"] if p["parent"] == 0 and p["depth"] == 1]
assert sum(p["counts"][0]["inclusive"]["value"] for p in paths) == faults["all"][0]["value"], paths
edges = sum(e["counts"][0]["inclusive"]["value"] for e in d["edges"] if e["caller"] is None)
assert edges == faults["all"][0]["value"], edges
assert "page-faults" in open("slow.callgrind").read().split("events:")[1].split("\n")[0]
PY
grep -q '^Functions by page-faults' <("$upmu" report --functions slow) || fail "no table"

# As CSV, too.
UPMU_FUNC_COUNTERS=slow UPMU_FUNC_CSV=csv "$upmu" record --functions -e page-faults -o with_csv -- ./counted 2>/dev/null
python3 - <<'PY'
import csv, glob
rows = {r["name"]: r for r in csv.DictReader(open("csv.functions.csv"))}
inclusive = [k for k in rows["all"] if k.startswith("page-faults") and k.endswith("inclusive")][0]
assert 2 * 330 <= int(rows["middle"][inclusive]) <= 2 * 330 + 40, rows["middle"]
edges = list(csv.DictReader(open("csv.edges.csv")))
assert all(r[[k for k in r if k.startswith("page-faults")][0]].isdigit() for r in edges), edges
PY
UPMU_FUNC_COUNTERS=fast UPMU_FUNC_MODE=tree LD_PRELOAD=$(dirname "$upmu")/../../lib/libupmu_func.so.0 ./counted 2>err
grep -q 'UPMU_FUNC_COUNTERS=fast is not known. Use user, slow or none' err || fail "$(cat err)"

# The memory of calls that are open, deep in a recursion, is among the recorder's that is shown.
"$cc" -g -O2 -finstrument-functions "$sources/subject.c" -o subject -pthread -ldl
UPMU_FUNC_COUNTERS=slow "$upmu" record --functions -e page-faults -o deep -- ./subject recursion >out 2>&1 || fail "record: $(cat out)"
"$upmu" report --json deep >deep.json
python3 -c 'import json
p, = json.load(open("deep.json"))["processes"]
assert p["memory_bytes"] > 1 << 20, p'
