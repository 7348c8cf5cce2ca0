#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Call stacks of 25 functions: by frame pointers, and by copies in a program without frame pointers.
#     stacks.sh UPMU
set -euo pipefail
upmu=$1
# shellcheck source=tests/sampling/lib.sh
. "$(dirname "$0")/lib.sh"
begin
sampled

# judge HOW: the hottest path has main() and all functions in order, in nearly all samples
judge()
{
    "$upmu" report --samples --json "$1" >json
    METHOD=$1 python3 - <<'PY'
import json, os
d = json.load(open("json"))
names = [x["name"] for x in d["functions"]]
want = ["main"] + ["deep%d" % i for i in range(1, 26)]
good = 0
for p in d["paths"]:
    if p["self_samples"] == 0:
        continue
    way, at = [], p
    while at["function"] is not None:
        way.append(names[at["function"]])
        at = d["paths"][at["parent"]]
    way = [w for w in reversed(way) if w in want]
    if way == want:
        good += p["self_samples"]
assert d["stacks"]["method"] == os.environ["METHOD"]
assert d["samples"] > 100 and good > 0.9 * d["samples"], (good, d["samples"], d["stacks"])
assert d["stacks"]["whole"] > 0.9 * d["samples"], d["stacks"]
PY
}

"$upmu" record -F 999 -o fp -- ./subject deep 400 2>err || fail "$(cat err)"
judge fp
case $(uname -m) in
x86_64 | aarch64)
    gcc -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls "$here/subject.c" -o subject -pthread
    "$upmu" record -F 999 --call-graph dwarf -o dwarf -- ./subject deep 400 2>err || fail "$(cat err)"
    judge dwarf
    ;;
esac
"$upmu" record -F 999 --call-graph none -o none -- ./subject deep 100 2>err || fail "$(cat err)"
"$upmu" report --samples none >text
grep -q 'call stacks: not recorded' text && grep -q 'deep25' text || fail "$(cat text)"
