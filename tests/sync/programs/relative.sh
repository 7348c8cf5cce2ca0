#!/usr/bin/env bash
# relative.sh BIN LIB UPMU LIBRARY: locks and call sites of a library that was loaded by a relative path have their names, though the
# program has changed its working directory, and so have those of a program that was started by one.
set -euo pipefail
bin=$1 lib=$2 upmu=$3 library=$4
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

mkdir "$scratch/elsewhere" "$scratch/libraries"
cp "$library" "$scratch/libraries/relative.so"
cp "$bin/sync_relative" "$scratch/program"
cd "$scratch"
preload=$(realpath "$preload")
for depth in none 16; do
    UPMU_SYNC_STACKS=$depth record "$scratch/$depth" all ./program libraries/relative.so elsewhere
    events "$scratch/$depth" "$scratch/events"
    grep '^module' "$scratch/events" >"$scratch/modules"
    ! grep -E ' path=[^/]+/' "$scratch/modules" || fail "a path is relative"
    "$upmu" report --json "$scratch/$depth" >report.json
    got=$(python3 -c '
import json
pairs = set()
for o in json.load(open("report.json"))["objects"]:
    for site in o["sites"] if o["type"] == "mutex" else []:
        functions = site["site"]["functions"] if site["site"] else []
        pairs.add((functions[0]["function"] if functions else "?") + ":" + (o["name"] or "?"))
print(" ".join(sorted(pairs)))' 2>"$scratch/python.err") || fail "$(cat "$scratch/python.err")"
    [ "$got" = "first_taker:first_mutex first_taker:relative_mutex relative_taker:relative_mutex" ] || fail "$depth frames: '$got'"
done
