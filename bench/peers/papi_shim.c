/* SPDX-License-Identifier: MIT */
/*
 * For comparisons only: makes PAPI count software events on CPUs that are unknown to its libpfm4, where it counts nothing at all.
 *
 * PAPI disables its perf component unless libpfm4 names exactly one core PMU. Preloaded, this lets libpfm4 name the
 * kernel's generic one if it has none. Hardware events stay unknown.
 */
#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <string.h>

enum { COUNTERS = 4 };

typedef pfm_err_t get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info);

static int cpu_is_known(get_pmu_info *next)
{
    for (pfm_pmu_t pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
        pfm_pmu_info_t info = {.size = sizeof info};
        if (next(pmu, &info) == PFM_SUCCESS && info.type == PFM_PMU_TYPE_CORE && info.is_present)
            return 1;
    }
    return 0;
}

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
    get_pmu_info *next;
    void *found = dlsym(RTLD_NEXT, "pfm_get_pmu_info");
    memcpy(&next, &found, sizeof next); /* ISO C has no cast from an object pointer to a function pointer */
    pfm_err_t rc = next ? next(pmu, info) : PFM_ERR_NOTSUPP;
    if (rc == PFM_SUCCESS && pmu == PFM_PMU_PERF_EVENT && !cpu_is_known(next)) {
        info->type = PFM_PMU_TYPE_CORE;
        info->num_cntrs = COUNTERS;
        info->is_present = 1;
        info->is_dfl = 1;
    }
    return rc;
}
