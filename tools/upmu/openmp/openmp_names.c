/* SPDX-License-Identifier: MIT */
/*
 * Names of constructs, as the program was written.
 *
 * Compilers make functions of the bodies of constructs, named after the function around it (main._omp_fn.0, foo.omp_outlined) or
 * after none (.omp_outlined..7 of Clang before 17): then it is that of the region around it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "openmp.h"
#include "ui/memory.h"

const struct openmp_reason openmp_reasons[] = {
    {UPMU_OMP_START, "START", "start_ns"},
    {UPMU_OMP_JOIN, "JOIN", "join_ns"},
    {UPMU_OMP_BARRIER_IMPLICIT, "IMPLICIT", "implicit_barrier_ns"},
    {UPMU_OMP_BARRIER_EXPLICIT, "EXPLICIT", "explicit_barrier_ns"},
    {UPMU_OMP_BARRIER, "BARRIER", "barrier_ns"},
    {UPMU_OMP_CRITICAL, "CRITICAL", "critical_ns"},
    {UPMU_OMP_LOCK, "LOCK", "lock_ns"},
    {UPMU_OMP_NEST_LOCK, "NESTLOCK", "nest_lock_ns"},
    {UPMU_OMP_ORDERED, "ORDERED", "ordered_ns"},
    {UPMU_OMP_ATOMIC, "ATOMIC", "atomic_ns"},
    {UPMU_OMP_REDUCTION, "REDUCTION", "reduction_ns"},
    {UPMU_OMP_COPYPRIVATE, "COPY", "copyprivate_ns"},
    {UPMU_OMP_TASKWAIT, "TASKWAIT", "taskwait_ns"},
    {UPMU_OMP_TASKGROUP, "TASKGROUP", "taskgroup_ns"},
};
const size_t openmp_n_reasons = sizeof openmp_reasons / sizeof *openmp_reasons;

static size_t names_process(const struct openmp_report *r, size_t process)
{
    struct upmu_openmp_process p = {.size = sizeof p};
    return upmu_openmp_process_at(r->openmp, process, &p) == 0 ? p.process : SIZE_MAX;
}

/* LLVM's runtime gives its own address as that of a taskloop. */
static bool names_is_runtime(const char *function)
{
    return function && strncmp(function, "__kmp", strlen("__kmp")) == 0;
}

char *openmp_host(const struct openmp_report *r, size_t process, uint64_t site, size_t region)
{
    struct upmu_symbol s = {.size = sizeof s};
    struct upmu_openmp_region around = {.size = sizeof around};
    for (size_t depth = 0; upmu_overview_symbol_at(r->overview, names_process(r, process), site, depth, &s) == 0;
         depth++) {
        size_t length = upmu_openmp_host_length(s.function);
        if (length)
            return memory_format("%.*s", (int)length, s.function);
    }
    if (region != SIZE_MAX && upmu_openmp_region_at(r->openmp, region, &around) == 0 && around.site != site)
        return openmp_host(r, around.process, around.site, around.parent);
    if (upmu_overview_symbol_at(r->overview, names_process(r, process), site, 0, &s) != 0 || !s.module)
        return memory_format("0x%" PRIx64, site);
    const char *slash = strrchr(s.module, '/');
    return memory_format("%s+0x%" PRIx64, slash ? slash + 1 : s.module, s.offset);
}

bool openmp_line(const struct openmp_report *r, size_t process, uint64_t site, struct upmu_symbol *out)
{
    *out = (struct upmu_symbol){.size = sizeof *out};
    return upmu_overview_symbol_at(r->overview, names_process(r, process), site, 0, out) == 0 &&
           !names_is_runtime(out->function) && out->file && out->line;
}

static char *names_text(const struct openmp_report *r, size_t process, uint64_t site, size_t region, const char *what)
{
    struct upmu_symbol s;
    char *host = openmp_host(r, process, site, region), *text;
    if (openmp_line(r, process, site, &s)) {
        const char *slash = strrchr(s.file, '/');
        text = memory_format("%s, OMP %s %s:%" PRIu32, host, what, slash ? slash + 1 : s.file, s.line);
    } else {
        text = memory_format("%s, OMP %s", host, what);
    }
    free(host);
    return text;
}

char *openmp_construct_name(const struct openmp_report *r, const struct upmu_openmp_construct *c)
{
    return names_text(r, c->process, c->site, c->region, upmu_trace_omp_construct_name(c->construct));
}

char *openmp_region_name(const struct openmp_report *r, const struct upmu_openmp_region *region)
{
    return names_text(r, region->process, region->site, region->parent, "parallel region");
}
