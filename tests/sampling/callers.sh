#!/usr/bin/env bash
# callers.sh UPMU: time in a stub of the linker is its caller's, and functions without a frame have their callers, by frame pointers.
set -euo pipefail
upmu=$1
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2119
begin
[ "$(uname -m)" = x86_64 ] || skip "the top of the stack has no return address on $(uname -m)"
sampled
cat >library.c <<'C'
void library_leaf(void)
{
    for (int i = 0; i < 10; i++) /* else some CPUs have hardly a sample in it */
        __asm__ volatile("");
}
C
cat >program.c <<'C'
#include <time.h>

void library_leaf(void);

__attribute__((noinline)) void caller(void)
{
    for (int i = 0; i < 1000000; i++)
        library_leaf();
    __asm__ volatile("");
}

int main(void)
{
    struct timespec t;
    do {
        caller();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_sec < 1);
    return 0;
}
C
gcc -g -O1 -fomit-frame-pointer -fPIC -shared -o liblibrary.so library.c
gcc -g -O1 -fno-omit-frame-pointer -o program program.c -L. -llibrary -Wl,-rpath,"$work"
"$upmu" record -F 999 -o recording -- ./program 2>err || fail "$(cat err)"
"$upmu" report --samples --json recording >report.json
python3 - <<'P'
import json, sys

d = json.load(open("report.json"))
rows = {f["name"]: f for f in d["functions"]}
names = [f["name"] for f in d["functions"]]
paths = d["paths"]


def share(name):
    """Samples of a function that have caller() as their caller, of all of the function."""
    own = [p for p in paths if p.get("function") is not None and names[p["function"]] == name]
    right = [p for p in own if paths[p["parent"]].get("function") is not None and names[paths[p["parent"]]["function"]] == "caller"]
    return sum(p["samples"] for p in right), sum(p["samples"] for p in own)


wrong = []
for name in "library_leaf", "library_leaf@plt":
    right, all_ = share(name)
    print(name, right, "of", all_)
    if all_ < 20 or right < 0.95 * all_:
        wrong.append(f"{right} of {all_} samples of {name}() have its caller")
stub = rows["library_leaf@plt"]
if stub["self_samples"] or not stub["samples"]:
    wrong.append(f"the stub has {stub}")
if rows["caller"]["weight"] < 0.95 * d["weight"]:
    wrong.append(f"caller() has {rows['caller']['weight']} of {d['weight']}")
if rows["caller"]["self_weight"] < stub["weight"]:
    wrong.append(f"the stub's time {stub['weight']} is not in its caller's {rows['caller']['self_weight']}")
if wrong:
    sys.exit("FAILED: " + "; ".join(wrong))
P
