#!/usr/bin/env bash
# upmu record, report and export of functions: what the program did, also if it was killed.
#     report.sh SOURCES UPMU
set -euo pipefail
sources=$1 upmu=$2
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export DEBUGINFOD_URLS=
read -r cc _ < <(compilers) || { echo "skipped, because there is neither gcc nor clang"; exit 77; }
"$cc" -g -O2 -finstrument-functions "$sources/subject.c" -o subject -pthread -ldl

"$upmu" record --functions -o recording -- ./subject recursion >out 2>err || fail "record: $(cat err)"
grep -q 'next: upmu report --functions recording' err || fail "$(cat err)"
"$upmu" report --functions recording >text
for line in '^Functions of recording: 81895 calls of 6 functions in 1 thread, ' '^  overhead: .* ns per call, .* subtracted' \
    ' 21891 .* fib subject.c:[0-9]*$' '^  *1[0-9]*00.0 %  .*  1  main subject.c' ' odd subject.c' \
    '^    called by .* 20000  odd subject.c' '/subject$' '/subject.c$'; do
    grep -q "$line" text || fail "the text has no line '$line': $(cat text)"
done
! grep -q 'lost\|left\|without' text || fail "nothing was lost: $(cat text)"
"$upmu" report --functions --json recording >json
python3 - <<'PY'
import json
d = json.load(open("json"))
f = {x["name"]: x for x in d["functions"]}
assert {n: x["calls"] for n, x in f.items()} == {
    "main": 1, "recursion": 1, "fib": 21891, "even": 20001, "odd": 20000, "leaf": 20001}, f
assert f["fib"]["recursive"] and not f["leaf"]["recursive"] and f["main"]["file"].endswith("subject.c")
assert sum(x["exclusive_ns"] for x in f.values()) <= d["total_ns"] * 1.01 + 1000
assert f["main"]["inclusive_ns"] == d["total_ns"] > 0 and d["call_cost_ns"] > 0
names = [x["name"] for x in d["functions"]]
edges = {(e["caller"] is not None and names[e["caller"]], names[e["callee"]]): e["calls"] for e in d["edges"]}
assert edges == {(False, "main"): 1, ("main", "recursion"): 1, ("recursion", "fib"): 1, ("fib", "fib"): 21890,
                 ("recursion", "even"): 1, ("even", "leaf"): 20001, ("even", "odd"): 20000, ("odd", "even"): 20000}, edges
paths = d["paths"]
assert sum(p["calls"] for p in paths) == d["calls"] and max(p["depth"] for p in paths) == 5
assert [names[p["function"]] for p in paths if p["recursion"]].count("fib") == 1
PY

# Recording that was never started is not taken for functions that were not called.
"$upmu" record --paused --functions -o never -- ./subject recursion >out 2>err || fail "record: $(cat err)"
"$upmu" report --functions never >text
grep -q "^  recording was never started: 'upmu ctl never functions on' starts it while the program runs$" text || fail "$(cat text)"
! grep 'no instrumented function' text || fail "functions are instrumented"
"$upmu" report --functions --json never | python3 -c 'import json, sys; d = json.load(sys.stdin)
assert d["never_started"] == d["processes"] == 1 and d["calls"] == 0, d'

"$upmu" export -f folded -o folded recording
grep -q '^main;recursion;even;odd [0-9]*$' folded && grep -q '^main;recursion;fib;fib [0-9]*$' folded || fail "$(cat folded)"
"$upmu" export -f callgrind --of functions -o callgrind recording
grep -q '^events: time_ns calls$' callgrind && grep -q '^calls=21890 ' callgrind || fail "$(cat callgrind)"
"$upmu" export -f pprof -o pprof recording
grep -qa recursion pprof || fail "pprof"
"$upmu" export -f speedscope -o speedscope recording
python3 -c 'import json
p = json.load(open("speedscope"))["profiles"]
assert len(p) == 1 and p[0]["name"] == "all threads" and p[0]["endValue"] == sum(p[0]["weights"]) > 0'
"$upmu" export -f flamegraph -o svg recording
grep -q 'Time in functions, by call path' svg && grep -q '>recursion: [^<]*, 1 times<' svg || fail "flame graph"
"$upmu" export -f folded --of waits -o waits recording
! grep -q recursion waits || fail "waits have no functions"
for view in 'export -f folded --of functions -o x' 'report --functions'; do
    # shellcheck disable=SC2086 # words
    ! "$upmu" $view --from 0 --to 1 recording 2>err || fail "a stretch of sums"
    grep -q "have sums without times.*record --function-events'" err || fail "$(cat err)"
done
! "$upmu" export -f chrome --of functions -o x recording 2>err || fail "a timeline of functions"

# Killed within functions: what had returned is there, and what had not ends with the last call.
UPMU_FUNC_MODE=tree UPMU_TRACE=killed LD_PRELOAD=$(dirname "$upmu")/../../lib/libupmu_func.so.0 \
    ./subject killed >out && fail "it killed itself"
"$upmu" report --functions --json killed >json
python3 - <<'PY'
import json
d = json.load(open("json"))
f = {x["name"]: x for x in d["functions"]}
assert f["killed"]["calls"] == 1 and f["killed"]["open"] == 1 and f["leaf"]["calls"] == 1000, f
# the last return known is without the hook's part behind it
assert f["main"]["inclusive_ns"] >= f["killed"]["inclusive_ns"] >= f["leaf"]["inclusive_ns"] * 0.9 - 100, f
PY

# Few functions and call sites on many paths: each path has its own calls.
"$upmu" record --functions -o paths -- ./subject paths >/dev/null 2>&1
"$upmu" report --functions --json paths >json
python3 - <<'PY'
import json
from collections import Counter
d = json.load(open("json"))
names = [x["name"] for x in d["functions"]]
got, where = {}, []
for p in d["paths"]:
    where.append(where[p["parent"]] + (names[p["function"]],) if p["depth"] else ())
    assert bool(p["recursion"]) == (where[-1][-1:] != () and where[-1][-1] in where[-1][:-1]), p
    got[where[-1]] = p["calls"]
want = Counter({("main",): 1, ("main", "paths"): 1})
for order in range(4096):
    path = ("main", "paths")
    for level in range(6):
        name = "path_" + "abcd"[order >> 2 * level & 3]
        want[path + (name,)] += 1
        path = path[:path.index(name) + 1] if name in path else path + (name,)
assert {k: v for k, v in got.items() if k} == want, (len(got), len(want))
PY

# Less space than paths: counted, and their time is their caller's.
UPMU_FUNC_NODES=64 UPMU_FUNC_MODE=tree UPMU_TRACE=full LD_PRELOAD=$(dirname "$upmu")/../../lib/libupmu_func.so.0 \
    ./subject paths >out
"$upmu" report --functions --json full >json
python3 - <<'PY'
import json
d = json.load(open("json"))
n = int(open("out").read().split()[1])
assert d["calls"] + d["lost"]["space"] == n and d["lost"]["space"] > 0, (d["calls"], d["lost"], n)
PY

# Functions that are not selected are counted, and their time is their caller's.
UPMU_FUNC_BELOW=^even "$upmu" record --functions -o selected -- ./subject recursion >/dev/null 2>&1
"$upmu" report --functions --json selected >json
python3 - <<'PY'
import json
d = json.load(open("json"))
assert d["calls"] == 60002 and d["skipped"] == 21893, (d["calls"], d["skipped"])
PY
grep -q "not selected, whose time is their callers': 21893" < <("$upmu" report --functions selected) || fail "skipped"
UPMU_FUNC_EXCLUDE=$(printf 'x%.0s' {1..300}) UPMU_FUNC_MODE=tree LD_PRELOAD=$(dirname "$upmu")/../../lib/libupmu_func.so.0 \
    ./subject frames 2>refused >/dev/null
grep -q 'UPMU_FUNC_EXCLUDE has more than 32 patterns, or one of more' refused || fail "too long"

# Deeper than frames are kept for.
UPMU_FUNC_MODE=tree UPMU_TRACE=deep LD_PRELOAD=$(dirname "$upmu")/../../lib/libupmu_func.so.0 \
    bash -c 'ulimit -s unlimited; exec ./subject deep' >out
"$upmu" report --functions --json deep >json
python3 - <<'PY'
import json
d = json.load(open("json"))
f = {x["name"]: x for x in d["functions"]}
assert d["lost"]["depth"] > 0 and f["descend"]["calls"] + d["lost"]["depth"] == 300001, (d["lost"], f)
assert f["leaf"]["calls"] == 1 and f["main"]["calls"] == 1, f
PY

# A recording without functions, and a program without hooks.
"$upmu" record -o without -- ./subject frames >/dev/null 2>&1
! "$upmu" report --functions without 2>err || fail "there are no functions"
grep -q 'no functions were recorded in "without".*upmu record --functions' err || fail "$(cat err)"
"$upmu" record --functions -o none -- true 2>/dev/null
"$upmu" report --functions none >out
grep -q '^Functions of none: 0 calls of 0 functions in 0 threads' out || fail "no calls"
grep -q 'no instrumented function was called: build with -finstrument-functions' out && ! grep -q 'By module' out || fail "$(cat out)"

# Clang's sleds, which have no line themselves: functions have their own.
if command -v clang >/dev/null && [ "$(uname -m)" = x86_64 ]; then
    clang -g -O1 -fno-inline -fno-optimize-sibling-calls -fxray-instrument -fxray-instruction-threshold=1 -c "$sources/subject.c" -o sleds.o
    clang sleds.o -o sleds -pthread -ldl
    "$upmu" record --functions -o patched -- ./sleds recursion >/dev/null 2>err || fail "record: $(cat err)"
    "$upmu" report --functions --json patched >json
    python3 - <<'PY'
import json
f = {x["name"]: x for x in json.load(open("json"))["functions"]}
assert f["fib"]["calls"] == 21891 and f["even"]["calls"] == 20001, f
assert all(x["line"] > 0 and x["file"].endswith("subject.c") for x in f.values()), f
PY
fi

# A mistake is printed, and the program runs.
UPMU_FUNC_MODE=trees LD_PRELOAD=$(dirname "$upmu")/../../lib/libupmu_func.so.0 ./subject frames >out 2>err
grep -q '^libupmu: functions are not recorded: UPMU_FUNC_MODE=trees is not known' err && [ -s out ] || fail "$(cat err)"
