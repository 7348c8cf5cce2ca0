#!/usr/bin/env bash
# Recording of functions is stopped, started and changed while the program runs: by itself, and by upmu ctl.
#     switch.sh SOURCES UPMU INCLUDES
set -euo pipefail
sources=$1 upmu=$2 includes=$3
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export DEBUGINFOD_URLS=
libs=$(cd "$(dirname "$upmu")/../../lib" && pwd)
read -r cc _ < <(compilers) || { echo "skipped, because there is neither gcc nor clang"; exit 77; }
"$cc" -g -O2 -finstrument-functions -I"$includes" -I"$libs/../include" "$sources/switched.c" -o switched -pthread -L"$libs" -lupmu_func -lupmu \
    -Wl,-rpath,"$libs"
cat >judge.py <<'PY'
"""judge.py JSON NAME=CALLS... [KEY:VALUE...]: calls of functions by name, and totals."""
import json, sys
d = json.load(open(sys.argv[1]))
calls = {}
for f in d["functions"]:
    calls[f["name"]] = calls.get(f["name"], 0) + f["calls"]
    assert f["exclusive_ns"] <= f["inclusive_ns"] + 1000 * f["calls"], f
want = {}
for argument in sys.argv[2:]:
    if "=" in argument:
        name, n = argument.split("=")
        want[name] = int(n)
    else:
        key, n = argument.split(":")
        assert d[key] == int(n), (key, d[key], n)
assert calls == want, (calls, want)
assert d["lost"] == {"space": 0, "depth": 0, "thread": 0} and d["damages"] == 0, (d["lost"], d["damages"])
PY

# The program itself. Calls of `outer` end at the stop: they have not slept.
UPMU_TRACE=api ./switched api
"$upmu" report --functions --json api >api.json
python3 judge.py api.json outer=2 work=7 helper=26 leaf=21 stopped:2 unmatched:2 open:0
python3 - <<'PY'
import json
d = json.load(open("api.json"))
outer = [f for f in d["functions"] if f["name"] == "outer"][0]
assert outer["inclusive_ns"] < 2 * 300e6, outer  # both slept for that
PY

# Paused by a variable: nothing is recorded, and that is no error.
UPMU_FUNC_PAUSED=1 UPMU_FUNC_MODE=tree UPMU_TRACE=paused ./switched <<<5 >/dev/null
"$upmu" report --functions --json paused >paused.json
python3 -c 'import json; d = json.load(open("paused.json")); assert d["never_started"] == 1, d'
python3 judge.py paused.json
UPMU_FUNC_PAUSED=yes UPMU_FUNC_MODE=tree ./switched </dev/null 2>err >/dev/null
grep -q "UPMU_FUNC_PAUSED=yes is not 0 or 1" err || fail "$(cat err)"

# From outside.
mkfifo -m 600 requests answers
"$upmu" record --paused --function-events -o ctl -- ./switched <requests >answers 2>err &
recorder=$!
exec 8>requests 9<answers
read -r line <&9
[ "$line" = ready ] || fail "the program does not begin: $line"
calls() # LINE...: let the program do that
{
    local line
    printf '%s\n' "$*" >&8
    read -r line <&9
    [ "$line" = "done" ] || fail "the program does not answer: $line"
}
control() { "$upmu" ctl ctl functions "$@" || fail "ctl functions $*"; }
calls 1000
grep -q ', functions off, ' < <("$upmu" ctl ctl status) || fail "status: $("$upmu" ctl ctl status)"
control on
grep -q ', functions on, ' < <("$upmu" ctl ctl status) || fail "status: $("$upmu" ctl ctl status)"
calls 10 # 2 threads: work 2, helper 20, leaf 20
control off
calls 1000
control --exclude '^leaf$'
calls 1000
control on
calls 3 # work 2, helper 6
control --exclude '' --below '^helper$'
calls 4 # helper 8, leaf 8
calls child 6 # helper 6, leaf 6
control --below '' --include '^work$' --depth 1
calls 5 # work 2
control --include '' --depth 0 --min 1000000000
calls 2 # work 2, helper 4, leaf 4, without events
control off
exec 8>&-
wait $recorder || fail "record: $(cat err)"
"$upmu" report --functions --json ctl >ctl.json
python3 judge.py ctl.json work=8 helper=44 leaf=38 stopped:0 unmatched:0 open:0 events_short:10
"$upmu" export -f chrome -o ctl.chrome ctl
python3 - <<'PY'
import json
e = [x for x in json.load(open("ctl.chrome"))["traceEvents"] if x["ph"] in "BE" and x.get("cat") == "function"]
d = json.load(open("ctl.json"))
assert d["events"] == 2 * (d["calls"] - d["events_short"]), d["events"]
PY

for words in "functions" "functions maybe" "start --exclude x" "functions --depth x" "functions --exclude $(printf 'x%.0s' {1..300})"; do
    # shellcheck disable=SC2086
    ! "$upmu" ctl ctl $words 2>err || fail "'$words' is refused"
    [ -s err ] || fail "'$words' has no message"
done
"$upmu" record -o locks -- sleep 5 2>/dev/null &
recorder=$!
for _ in {1..50}; do grep -q running < <("$upmu" ctl locks status 2>/dev/null) && break; sleep 0.1; done
! "$upmu" ctl locks functions off 2>err || fail "no functions are recorded there"
grep -q 'upmu record --functions' err || fail "$(cat err)"
kill $recorder; wait $recorder 2>/dev/null || true

# Signals, and a thread that switches all the time: no call is counted twice or stays open.
UPMU_FUNC_BELOW='^work$,^on_tick$' UPMU_TRACE=storm ./switched storm >out
"$upmu" report --functions --json storm >storm.json
python3 - <<'PY'
import json
d = json.load(open("storm.json"))
calls = {f["name"]: f["calls"] for f in d["functions"]}
assert 10 <= calls["helper"] <= 300010 and calls["work"] <= 3001 + d["stopped"], calls
assert d["open"] == 0 and d["left"] == 0, (d["open"], d["left"])
for f in d["functions"]:  # each node's sums agree: no call was ended twice
    assert f["inclusive_ns"] >= 0 and f["max_ns"] < 60e9 and f["exclusive_ns"] <= f["inclusive_ns"] + 1e6, f
PY
