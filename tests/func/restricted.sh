#!/usr/bin/env bash
# A program that restricts its system calls or time stamps runs on as without a recording, and its functions before that are kept. Threads that
# are canceled while they compute end as without one.
#     restricted.sh SOURCES UPMU
set -euo pipefail
sources=$1 upmu=$2
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export DEBUGINFOD_URLS=
read -r cc _ < <(compilers) || { echo "skipped, because there is neither gcc nor clang"; exit 77; }
"$cc" -g -O1 -finstrument-functions "$sources/restricted.c" -o restricted -pthread

"$cc" -g -O1 -finstrument-functions "$sources/canceled.c" -o canceled -pthread
./canceled >bare
for how in functions function-events; do
    "$upmu" record --$how -o "canceled.$how" -- ./canceled >out 2>err || fail "canceled threads, $how: status $?, $(cat err)"
    cmp bare out || fail "canceled threads, $how: $(cat out)"
done

tried=0
for kind in kill tsc; do
    bare=0
    ./restricted $kind >bare || bare=$?
    if [ $bare -eq 77 ]; then
        echo "$kind: not supported here"
        continue
    fi
    [ $bare -eq 0 ] || fail "$kind, bare: status $bare"
    for how in functions function-events; do
        status=0
        "$upmu" record --$how -o "$kind.$how" -- ./restricted $kind >out 2>err || status=$?
        [ $status -eq 0 ] || fail "$kind, $how: status $status, $(cat err)"
        cmp bare out || fail "$kind, $how: another output"
        "$upmu" report --functions --json "$kind.$how" >json || fail "$kind, $how: the recording cannot be read"
        python3 - <<'PY' || fail "$kind, $how: other functions"
import json
calls = {f["name"]: f["calls"] for f in json.load(open("json"))["functions"]}
assert calls == {"main": 1, "before": 1000}, calls
PY
        grep -q 'the program restricted its system calls' < <("$upmu" report "$kind.$how") || fail "$kind, $how: no reason in the report"
    done
    tried=1
done
[ $tried -eq 1 ] || { echo "skipped, because neither seccomp filters nor PR_SET_TSC are supported here"; exit 77; }
