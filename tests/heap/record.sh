#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Allocations recorded by upmu record --heap, against what the program prints of itself.
#     record.sh UPMU
set -euo pipefail
upmu=$1
export LC_ALL=C DEBUGINFOD_URLS=
here=$(cd "$(dirname "$0")" && pwd)
unset "${!UPMU_@}" LD_PRELOAD

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

command -v gcc >/dev/null || { echo "skipped, because gcc is not installed"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
gcc -O1 -g -fno-builtin -fno-optimize-sibling-calls -Wno-alloc-size-larger-than "$here/subject.c" -o subject -pthread || fail "the subject cannot be built"

# Every block: all numbers are exact.
"$upmu" record --heap-period 1 -o exact -- ./subject all >truth 2>err || fail "record: $(cat err)"
"$upmu" report --heap --json exact >json || fail "report"
"$upmu" report --heap exact >text || fail "report"
grep -qE '^ +8 MiB .* at_peak subject.c:[0-9]+$' text || fail "no line of at_peak: $(cat text)"
grep -qE '^  at_peak .*subject.c:[0-9]+$' text || fail "no call stack of the first one: $(cat text)"
grep -q 'heap-alloc .*bytes=8388608 weight=8388608 period=1' < <("$upmu" dump exact) || fail "no event of the largest block"
python3 - <<'PY'
import json
processes = sorted(json.load(open("json"))["processes"], key=lambda p: -p["allocated_bytes"])


def fold(process):
    """The sites of each function together."""
    sums = "allocated_bytes", "allocated_blocks", "live_bytes", "peak_bytes"
    out = {}
    for s in process["sites"]:
        of = out.setdefault(s["function"], dict(s, **{k: 0 for k in sums}))
        for k in sums:
            of[k] += s[k]
    return out


sites = fold(processes[0])
for line in open("truth"):
    name, allocated, blocks, live = line.split()
    s = sites[name]
    got = s["allocated_bytes"], s["allocated_blocks"], s["live_bytes"]
    assert got == (int(allocated), int(blocks), int(live)), (name, got, line)
    assert s["stack"][0]["function"] == name and s["file"].endswith("subject.c"), s
assert sites["at_peak"]["peak_bytes"] == 8 << 20
assert sites["by_malloc"]["peak_bytes"] == 5000 and sites["by_threads"]["peak_bytes"] == 0, sites
p = processes[0]
assert p["period"] == 1 and p["strays"] == 0, p
assert p["peak_bytes"] == sum(s["peak_bytes"] for s in p["sites"]) > 8 << 20
assert p["live_bytes"] == sum(s["live_bytes"] for s in p["sites"])
child = fold(processes[1])["in_child"]
assert (child["allocated_bytes"], child["live_bytes"]) == (2000, 1000), child
assert processes[1]["strays"] == 0, processes[1]
PY

# A forked child is recorded from its first sampled allocation on, also one that never waits, and its own children.
cat >forks.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *kept[3];
__attribute__((noinline)) static void keep(int i, size_t bytes)
{
    pthread_mutex_lock(&lock);
    kept[i] = malloc(bytes);
    pthread_mutex_unlock(&lock);
}
int main(void)
{
    keep(0, 7000000);
    if (fork() == 0) {
        keep(1, 5000000);
        free(kept[0]);
        if (fork() == 0) {
            keep(2, 300000);
            _exit(0);
        }
        _exit(wait(NULL) < 0);
    }
    return wait(NULL) < 0;
}
C
gcc -O1 -g -fno-builtin forks.c -o forks -pthread
"$upmu" record --heap-period 1 -o forked -- ./forks 2>err || fail "record: $(cat err)"
"$upmu" report --heap --json forked >json
python3 - <<'PY' || fail "what forked children allocate"
import json
p = [s for p in json.load(open("json"))["processes"] for s in p["sites"] if s["function"] == "keep"]
assert sorted((s["allocated_bytes"], s["live_bytes"]) for s in p) == [(300000, 300000), (5000000, 5000000), (7000000, 7000000)], p
PY
"$upmu" report --heap forked >forked.text
! grep -q 'is missing' forked.text || fail "all children are recorded: $(cat forked.text)"

python3 "$here/stretch.py" "$upmu" exact || fail "a stretch is wrong"
"$upmu" report --heap --from 0.001 exact >text || fail "report of a stretch"
grep -q '^Heap of exact from 0.001 to [0-9.]* s, process' text || fail "a stretch is not named: $(head -1 text)"
! "$upmu" report --heap --to 0.000001 exact >text 2>&1 || fail "report of a stretch without a process"
grep -q 'runs in this stretch of exact$' text || fail "the stretch is not the cause: $(cat text)"

# Samples of 16 KiB: 2000 of them, a standard deviation of 2.2 %.
"$upmu" record --heap-period 16K -o sampled -- ./subject many >truth 2>err || fail "record: $(cat err)"
"$upmu" report --heap --json sampled >json
python3 - <<'PY'
import json
p = json.load(open("json"))["processes"][0]
s = {s["function"]: s for s in p["sites"]}["many"]
_, allocated, blocks, live = open("truth").read().split()
for got, want, part in ((s["allocated_bytes"], int(allocated), 0.15), (s["allocated_blocks"], int(blocks), 0.15), (s["live_bytes"], int(live), 0.3)):
    assert abs(got - want) < part * want, (got, want)
assert 1600 < s["samples"] < 2400 and p["period"] == 16384, s
PY

# What C++ allocates belongs to the function around operator new.
if command -v g++ >/dev/null; then
    printf '%s\n' '#include <vector>' '__attribute__((noinline)) int fill(int n) { std::vector<int> v(n, 1); return v[n / 2]; }' \
        'int main() { return fill(1 << 20) - 1; }' >vector.cpp
    g++ -O1 -g vector.cpp -o vector
    "$upmu" record --heap-period 1 -o vectors -- ./vector 2>err || fail "record: $(cat err)"
    "$upmu" report --heap vectors >text
    grep -qE '^ +4 MiB .* (fill|main)(\(int\))? vector.cpp:[23]$' text || fail "no line of fill(): $(cat text)"
fi

# Without samples, and wrong values.
"$upmu" record -o without -- ./subject all >truth 2>err || fail "record: $(cat err)"
"$upmu" report --heap without >text 2>err && fail "a heap that was not recorded"
grep -q "record it with 'upmu record --heap'" err || fail "$(cat err)"
"$upmu" record --heap-period 0 -- true 2>err && fail "a period of 0"
UPMU_HEAP=often LD_PRELOAD=$("$upmu" record --heap -o where -- sh -c "tr '\\0' '\\n' </proc/self/environ" 2>/dev/null | sed -n 's/^LD_PRELOAD=\([^:]*\).*/\1/p') ./subject all >text 2>err ||
    fail "the program fails with a wrong UPMU_HEAP: $(cat err)"
grep -q 'the heap is not recorded: UPMU_HEAP is not a number' err || fail "$(cat err)"
