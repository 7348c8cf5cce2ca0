#!/usr/bin/env bash
# While nothing is recorded a wrapper of libgomp's regions is one jump: the region's body has no frame of libupmu_omp in its stack.
# shellcheck source=tests/openmp/lib.sh
. "$1/lib.sh"
cat >off.c <<'C'
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>

/* The files in the stack of the calling function. */
static __attribute__((noinline)) void print_files(const char *region)
{
    void *at[64];
    Dl_info info;
    int n = backtrace(at, 64);
    printf("%s:", region);
    for (int i = 0; i < n; i++)
        printf(" %s", dladdr(at[i], &info) ? info.dli_fname : "?");
    puts("");
}

static void regions(void)
{
    long sum = 0;
#pragma omp parallel num_threads(1)
    print_files("parallel");
#pragma omp parallel for num_threads(1) schedule(nonmonotonic : dynamic, 4)
    for (int i = 0; i < 4; i++)
        if (i == 3)
            print_files("loop");
#pragma omp parallel sections num_threads(1)
    {
        print_files("sections");
#pragma omp section
        (void)0;
    }
#pragma omp parallel num_threads(1) reduction(task, + : sum)
    {
        sum++;
        print_files("reduction");
    }
    printf("sum %ld\n", sum);
}

int main(void)
{
    regions(); /* the first call of each looks the runtime's function up */
    puts("again");
    regions();
    return 0;
}
C
"$compiler" -D_GNU_SOURCE -O1 -g -rdynamic -fopenmp -o off off.c
record where sh -c 'tr "\0" "\n" </proc/self/environ'
preloaded=$(sed -n 's/^LD_PRELOAD=//p' where.out)
LD_PRELOAD=$preloaded ./off >out || fail "it ended with $?"
sed '1,/^again$/d' out >again
is "its lines" 5 "$(wc -l <again)"
is "regions run by libgomp" 4 "$(grep -c '/libgomp\.so' again)"
grep -q '^sum 1$' again || fail "$(cat again)"
! grep libupmu_omp again || fail "the wrapper has a frame"
# Recorded, it has one.
record r ./off
[ "$(sed '1,/^again$/d' r.out | grep -c libupmu_omp)" = 4 ] || fail "$(cat r.out)"
is "regions" 8 "$("$upmu" report --openmp --json r | python3 -c 'import json, sys; print(*(p["regions_run"] for p in json.load(sys.stdin)["processes"]))')"
