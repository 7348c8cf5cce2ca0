/* SPDX-License-Identifier: MIT */
/*
 * PAPI names of perf events.
 *
 * libpfm4 inside PAPI encodes these names as the same numbers. Modes are always written as u=1:k=0. A plain :u:k
 * adds nothing to the set's domain, which is user mode: context switches would silently read 0.
 */
#include "kernel/papi/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const hardware[] = {
    "CPU_CYCLES",    "INSTRUCTIONS", "CACHE_REFERENCES",        "CACHE_MISSES",           "BRANCH_INSTRUCTIONS",
    "BRANCH_MISSES", "BUS_CYCLES",   "STALLED_CYCLES_FRONTEND", "STALLED_CYCLES_BACKEND", "REF_CPU_CYCLES",
};

/* libpfm4 has no names for alignment and emulation faults (7, 8), nor for the dummy (9). */
static const char *const software[] = {
    "CPU_CLOCK",
    "TASK_CLOCK",
    "PAGE_FAULTS",
    "CONTEXT_SWITCHES",
    "CPU_MIGRATIONS",
    "PAGE_FAULTS_MIN",
    "PAGE_FAULTS_MAJ",
    NULL,
    NULL,
    NULL,
    NULL,
    "CGROUP_SWITCHES",
};

static const char *const caches[] = {"L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE"};
static const char *const operations[] = {"READ", "WRITE", "PREFETCH"};
static const char *const results[] = {"ACCESS", "MISS"};

static const char *papi_name_nth(const char *const *names, size_t n, uint64_t i)
{
    return i < n ? names[i] : NULL;
}

/* The name without modes. */
static int names_base(const struct kernel_open *req, char *name, size_t cap)
{
    const char *word = NULL, *operation, *result;
    switch (req->type) {
    case KERNEL_TYPE_HARDWARE:
        word = papi_name_nth(hardware, COUNT(hardware), req->config);
        snprintf(name, cap, "perf::PERF_COUNT_HW_%s", word ? word : "");
        break;
    case KERNEL_TYPE_SOFTWARE:
        word = papi_name_nth(software, COUNT(software), req->config);
        snprintf(name, cap, "perf::PERF_COUNT_SW_%s", word ? word : "");
        break;
    case KERNEL_TYPE_HW_CACHE:
        word = papi_name_nth(caches, COUNT(caches), req->config & 0xff);
        operation = papi_name_nth(operations, COUNT(operations), req->config >> 8 & 0xff);
        result = papi_name_nth(results, COUNT(results), req->config >> 16);
        word = operation && result ? word : NULL;
        snprintf(name, cap, "perf::PERF_COUNT_HW_CACHE_%s:%s:%s", word ? word : "", operation ? operation : "",
                 result ? result : "");
        break;
    case KERNEL_TYPE_RAW:
        word = "";
        snprintf(name, cap, "perf_raw::r%" PRIx64, req->config);
        break;
    default:
        break;
    }
    return word ? 0 : -ENODATA;
}

int papi_name_of(const struct kernel_open *req, char name[PAPI_NAME_MAX])
{
    char base[PAPI_NAME_MAX - 16];
    if (req->config1 != 0 || req->config2 != 0)
        return -ENODATA;
    int rc = names_base(req, base, sizeof base);
    if (rc < 0)
        return rc;
    snprintf(name, PAPI_NAME_MAX, "%s:u=%d:k=%d", base, !(req->exclude & UPMU_EXCLUDE_USER),
             !(req->exclude & UPMU_EXCLUDE_KERNEL));
    return 0;
}
