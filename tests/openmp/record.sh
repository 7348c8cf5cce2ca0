#!/usr/bin/env bash
# Recording is off unless it is asked for, leaves the locks of the runtime out, and does not disturb programs without OpenMP.
# shellcheck source=tests/openmp/lib.sh
. "$1/lib.sh"

lib=$(dirname "$(ldd "$upmu" | sed -nE 's/.*libupmu_analysis[^ ]* => ([^ ]+).*/\1/p')")/libupmu_omp.so.0
[ -e "$lib" ] || fail "there is no $lib"

"$upmu" record -o plain -- ./subject locks 2 2 >/dev/null 2>&1
! "$upmu" report --openmp plain >out 2>err || fail "a report without regions succeeds"
grep -q "record it with 'upmu record --openmp'" err || fail "no remedy: $(cat err)"

# Another tool gets its turn, and nothing is written.
cat >tool.c <<'EOF'
#include <stddef.h>
#include <unistd.h>
void *ompt_start_tool(unsigned version, const char *runtime)
{
    (void)version, (void)runtime;
    (void)!write(2, "tool asked\n", 11);
    return NULL;
}
EOF
gcc -shared -fPIC -o tool.so tool.c
mkdir quiet
(cd quiet && LD_PRELOAD=$lib OMP_TOOL_LIBRARIES=$PWD/../tool.so ../subject imbalance 2 1 >/dev/null 2>../err)
[ "$runtime" = libgomp ] || is "another tool" "tool asked" "$(cat err)"
is "files that are written without being asked for" "" "$(ls quiet)"

# The locks of the runtime are not those of the program; its threads sleep, and so use them.
record r ./subject imbalance 2 5
"$upmu" dump r >dump
is "lock events of the runtime" 0 "$(grep -cE ' (lock-(block|acquire|acquired|release)|cond-|futex-)' dump || true)"
grep -q ' omp-parallel .* threads=2$' dump || fail "dump does not have the region: $(grep omp-parallel dump)"
grep -q ' omp .* event=member number=1 region=1' dump || fail "dump does not have the member"
"$upmu" dump --json r >dump.json
grep -q '"event": "member-end"' dump.json || fail "dump --json does not have the events"
"$upmu" report r >report
! grep -q 'unknown types' report || fail "the overview does not have the events"

# A program of gcc that LLVM's runtime serves: each region is there once, the first one too, which starts the runtime.
if [ "$runtime" = libomp ] && gcc -O1 -g -fopenmp -o of_gcc "$here/subject.c" -lpthread 2>/dev/null; then
    llvm=$(ldd ./subject | sed -nE 's/.*libomp[^ ]* => ([^ ]+).*/\1/p')
    # shellcheck disable=SC2016
    record gcc sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$llvm" ./of_gcc imbalance 2 3
    "$upmu" report --openmp --json gcc >gcc.json
    python3 -c '
import json
p, = json.load(open("gcc.json"))["processes"]
assert "LLVM" in p["runtime"], p["runtime"]
assert p["regions_run"] == sum(r["count"] for r in p["regions"]) == 4, p["regions"]  # one begins the threads
assert len(p["regions"]) == 2 and p["strays"] == 0, p["regions"]' || fail "regions of gcc on libomp"
fi

# A program without OpenMP.
record r true || fail "true ended with $?"
! "$upmu" report --openmp r 2>err || fail "a report without OpenMP succeeds"
! "$upmu" report --openmp --sort wait r 2>err || fail "--sort is accepted"
