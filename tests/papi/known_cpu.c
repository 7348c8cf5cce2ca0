/* SPDX-License-Identifier: MIT */
/*
 * A preload library that makes libpfm4 treat the kernel's generic events as the PMU of an unsupported CPU.
 *
 * PAPI counts nothing, not even the kernel's own events, where libpfm4 does not support the CPU. With this, PAPI and
 * libpfm4 are the real ones otherwise, and so are their counts.
 */
#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <string.h>

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
    pfm_err_t (*real)(pfm_pmu_t, pfm_pmu_info_t *);
    void *library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, __func__) : NULL;
    if (!found)
        return PFM_ERR_NOTSUPP;
    memcpy(&real, &found, sizeof found);
    pfm_err_t rc = real(pmu, info);
    if (rc == PFM_SUCCESS && strcmp(info->name, "perf") == 0) {
        info->type = PFM_PMU_TYPE_CORE;
        info->is_dfl = 1;
    }
    return rc;
}
