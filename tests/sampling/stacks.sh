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

"$upmu" record -F 999 -o fp -- ./subject deep 1000 2>err || fail "$(cat err)"
judge fp
case $(uname -m) in
x86_64 | aarch64)
    gcc -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls "$here/subject.c" -o subject -pthread
    "$upmu" record -F 999 --call-graph dwarf -o dwarf -- ./subject deep 1000 2>err || fail "$(cat err)"
    judge dwarf
    ;;
esac
# The code that the kernel maps into processes has names, too, and callers in copied stacks.
cat >clock.c <<'C'
#include <time.h>
static __attribute__((noinline)) long reads(long n)
{
    struct timespec t;
    long sum = 0;
    for (long i = 0; i < n; i++, sum += t.tv_nsec)
        clock_gettime(CLOCK_MONOTONIC, &t);
    return sum;
}
int main(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        if (reads(10000) == 1)
            return 1;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 600000000);
    return 0;
}
C
gcc -O2 -g clock.c -o clock
if [ "$(uname -m)" = x86_64 ]; then
    for how in fp dwarf; do
        "$upmu" record -F 999 --call-graph $how -o "clock-$how" -- ./clock 2>err || fail "$(cat err)"
        "$upmu" report --samples --json "clock-$how" >json
        python3 - $how <<'PY'
import json, sys
d = json.load(open("json"))
vdso = [f for f in d["functions"] if f["module"] == "[vdso]"]
weight = sum(f["self_weight"] for f in vdso)
below = [f for f in d["functions"] if f["name"] == "reads"]
if weight > 0.1 * d["weight"]:
    # Only what it exports has a name: a function that it calls has not.
    assert max(f["weight"] for f in vdso if "clock_gettime" in (f["name"] or "")) > 0.8 * weight, vdso
    assert sys.argv[1] == "fp" or below and below[0]["weight"] > 0.8 * d["weight"], (below, d["weight"])
PY
    done
fi
# Without frame pointers the register is the program's own, here a number: no caller is made of it.
cat >number.c <<'C'
int main(void)
{
    register unsigned long n __asm__("FRAME") = 0x10438b4800047fd3;
    for (unsigned i = 0; i < 200000000; i++)
        __asm__ volatile("" : "+r"(n));
    return 0;
}
C
case $(uname -m) in x86_64) frame=rbp ;; aarch64) frame=x29 ;; *) frame= ;; esac
if [ -n "$frame" ]; then
    sed -i "s/FRAME/$frame/" number.c
    gcc -O1 -fomit-frame-pointer number.c -o number
    "$upmu" record -F 999 -o number.samples -- ./number 2>err || fail "$(cat err)"
    "$upmu" report --samples --json number.samples >json
    # During exec the kernel still has an address of the program before: below the kernel's function, and below nothing else.
    python3 -c 'import json
d = json.load(open("json"))
functions, paths = d["functions"], d["paths"]
function = lambda p: functions[p["function"]] if p["function"] is not None else None
for p in paths:
    above = function(paths[p["parent"]]) if function(p) else None
    if above and not above["module"] and above["name"] != "[kernel]":
        assert function(p)["name"] == "[kernel]", (above, function(p))
assert d["samples"] > 20
assert not any(f["self_samples"] for f in functions if not f["module"] and f["name"] != "[kernel]"), functions
' || fail "a caller that is no code"
fi
# Samples alone, as of a process that ran already, are no trace: the message names the command that shows them.
mkdir alone
cp fp/samples alone
"$upmu" report alone 2>err && fail "a report of a recording without a trace"
grep -q "upmu report --samples" err || fail "$(cat err)"
rc=0
"$upmu" record -F 99 -e task-clock,page-faults -o wrong -- ./subject deep 1 2>err || rc=$?
[ $rc -eq 2 ] && grep -q 'the one event that is sampled' err || fail "$rc: $(cat err)"
"$upmu" record -F 999 --call-graph none -o none -- ./subject deep 100 2>err || fail "$(cat err)"
"$upmu" report --samples none >text
grep -q 'call stacks: not recorded' text && grep -q 'deep25' text || fail "$(cat text)"
