/* SPDX-License-Identifier: MIT */
/*
 * For comparisons only: makes PAPI count software events on CPUs that are unknown to its libpfm4, where it counts nothing at all.
 *
 * PAPI disables its perf component unless libpfm4 names the CPU's default PMU. Preloaded, this lets libpfm4 name the
 * kernel's generic one. Hardware events stay unknown.
 */
#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <string.h>

enum { COUNTERS = 4 };

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
    pfm_err_t (*next)(pfm_pmu_t, pfm_pmu_info_t *);
    void *found = dlsym(RTLD_NEXT, "pfm_get_pmu_info");
    memcpy(&next, &found, sizeof next); /* ISO C has no cast from an object pointer to a function pointer */
    pfm_err_t rc = next ? next(pmu, info) : PFM_ERR_NOTSUPP;
    if (rc == PFM_SUCCESS && pmu == PFM_PMU_PERF_EVENT) {
        info->type = PFM_PMU_TYPE_CORE;
        info->num_cntrs = COUNTERS;
        info->is_present = 1;
        info->is_dfl = 1;
    }
    return rc;
}
