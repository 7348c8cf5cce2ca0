/* SPDX-License-Identifier: MIT */
/* PAPI's high-level regions, opened with RTLD_LOCAL. */
#include "region.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The names under which Debian and PAPI's own installation have it. */
static void *open_library(void)
{
    static const char *const names[] = {"libpapi.so", "libpapi.so.7.3", "libpapi.so.7.2", "libpapi.so.7.1",
                                        "libpapi.so.7.0"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool resolve(void *library, const char *name, void *function, size_t size)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, size); /* ISO C has no cast from an object pointer to a function pointer */
    return found != NULL;
}

bool papi_open(struct papi *papi, char *why, size_t cap)
{
    void *library = open_library();
    if (!library) {
        snprintf(why, cap, "libpapi is not installed (Debian: libpapi-dev)");
        return false;
    }
    if (!resolve(library, "PAPI_hl_region_begin", &papi->begin, sizeof papi->begin) ||
        !resolve(library, "PAPI_hl_region_end", &papi->end, sizeof papi->end)) {
        snprintf(why, cap, "this libpapi has no high-level regions");
        return false;
    }
    setenv("PAPI_EVENTS", "perf::TASK-CLOCK,perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES,perf::CPU-MIGRATIONS", 1);
    /* The part ends with _exit(), before PAPI would write its report; should it write one, then not into the tree. */
    setenv("PAPI_OUTPUT_DIRECTORY", "/tmp", 1);
    int begin = papi->begin("pair"), end = papi->end("pair");
    if (begin < 0 || end < 0)
        snprintf(why, cap,
                 "PAPI cannot count these events on this CPU (begin returned %d, end %d; PAPI_HL_VERBOSE=1 prints why)",
                 begin, end);
    return begin == 0 && end == 0;
}

void papi_pairs(void *arg, size_t n)
{
    const struct papi *papi = arg;
    int bad = 0;
    for (size_t i = 0; i < n; i++) {
        bad |= papi->begin("pair");
        bench_barrier();
        bad |= papi->end("pair");
    }
    if (bad) {
        fprintf(stderr, "bench: PAPI stopped measuring\n");
        _exit(2);
    }
}
