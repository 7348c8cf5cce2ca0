#!/usr/bin/env bash
# inlined.sh DIR UPMU RUNTIME: a region and its constructs are one row each, however often the compiler has copied the function.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cat >copies.c <<'C'
#include <omp.h>

static volatile int sink[64];

static inline __attribute__((always_inline)) void copied(int n)
{
#pragma omp parallel
    {
#pragma omp barrier
        sink[omp_get_thread_num()] = n;
    }
}

__attribute__((noinline)) static void first(void)
{
    copied(1);
    copied(2);
}

__attribute__((noinline)) static void second(void)
{
    for (int i = 0; i < 5; i++)
        copied(3);
}

int main(void)
{
    omp_set_num_threads(2);
    first();
    second();
#pragma omp parallel
    sink[omp_get_thread_num()] = 4;
    return 0;
}
C
"$compiler" -O2 -g -fopenmp -o copies copies.c
record R ./copies
"$upmu" report --openmp --json R >report.json
"$upmu" report --openmp R
python3 - <<'P'
import json, sys

d = json.load(open("report.json"))
process = d["processes"][0]
rows = sorted(r["count"] for r in process["regions"])
if rows != [1, 7]:
    sys.exit(f"FAIL: regions of {rows} runs instead of 1 and 7")
barriers = [c["count"] for c in process["constructs"] if "barrier" in c["construct"]]
if barriers != [14]:
    sys.exit(f"FAIL: barriers of {barriers} waits instead of 14: {process['constructs']}")
P
