/* SPDX-License-Identifier: MIT */
/*
 * PAPI presets that are not aliases in the registry.
 *
 * Stores never write to an instruction cache, so its reads are its accesses, and the writes of both kinds of caches
 * are those of the data cache. A sum is used where both of its events are exact. A preset without events here is
 * still a known name: the CPU's own table may have an event for it (arch_family_preset()), and PAPI may count it
 * (UPMU_BACKEND=papi).
 */
#include "core/names/presets.h"

#include <stddef.h>
#include <strings.h>

#include "base/text/suggest.h"

static const struct preset presets[] = {
    {"PAPI_BRU_IDL", NULL, NULL},
    {"PAPI_BR_NTK", NULL, NULL},
    {"PAPI_BR_PRC", NULL, NULL},
    {"PAPI_BR_TKN", NULL, NULL},
    {"PAPI_BR_UCN", NULL, NULL},
    {"PAPI_BTAC_M", NULL, NULL},
    {"PAPI_CA_CLN", NULL, NULL},
    {"PAPI_CA_INV", NULL, NULL},
    {"PAPI_CA_ITV", NULL, NULL},
    {"PAPI_CA_SHR", NULL, NULL},
    {"PAPI_CA_SNP", NULL, NULL},
    {"PAPI_CSR_FAL", NULL, NULL},
    {"PAPI_CSR_SUC", NULL, NULL},
    {"PAPI_CSR_TOT", NULL, NULL},
    {"PAPI_DP_OPS", NULL, NULL},
    {"PAPI_FAD_INS", NULL, NULL},
    {"PAPI_FDV_INS", NULL, NULL},
    {"PAPI_FMA_INS", NULL, NULL},
    {"PAPI_FML_INS", NULL, NULL},
    {"PAPI_FNV_INS", NULL, NULL},
    {"PAPI_FPU_IDL", NULL, NULL},
    {"PAPI_FP_STAL", NULL, NULL},
    {"PAPI_FSQ_INS", NULL, NULL},
    {"PAPI_FUL_CCY", NULL, NULL},
    {"PAPI_FUL_ICY", NULL, NULL},
    {"PAPI_FXU_IDL", NULL, NULL},
    {"PAPI_HP_OPS", NULL, NULL},
    {"PAPI_L1_DCA", "l1d-load", "l1d-store"},
    {"PAPI_L1_DCH", NULL, NULL},
    {"PAPI_L1_DCM", "l1d-load-miss", "l1d-store-miss"},
    {"PAPI_L1_ICH", NULL, NULL},
    {"PAPI_L1_ICR", "l1i-access", NULL},
    {"PAPI_L1_ICW", NULL, NULL},
    {"PAPI_L1_TCA", "l1d-access", "l1i-access"},
    {"PAPI_L1_TCH", NULL, NULL},
    {"PAPI_L1_TCM", "l1d-miss", "l1i-miss"},
    {"PAPI_L1_TCR", "l1d-load", "l1i-access"},
    {"PAPI_L1_TCW", "l1d-store", NULL},
    {"PAPI_L2_DCA", NULL, NULL},
    {"PAPI_L2_DCH", NULL, NULL},
    {"PAPI_L2_DCM", NULL, NULL},
    {"PAPI_L2_ICA", NULL, NULL},
    {"PAPI_L2_ICH", NULL, NULL},
    {"PAPI_L2_ICM", NULL, NULL},
    {"PAPI_L2_ICR", NULL, NULL},
    {"PAPI_L2_ICW", NULL, NULL},
    {"PAPI_L2_LDH", NULL, NULL},
    {"PAPI_L2_STM", NULL, NULL},
    {"PAPI_L2_TCH", NULL, NULL},
    {"PAPI_L2_TCR", NULL, NULL},
    {"PAPI_L2_TCW", "l2-store", NULL},
    {"PAPI_L3_DCA", NULL, NULL},
    {"PAPI_L3_DCH", NULL, NULL},
    {"PAPI_L3_DCM", NULL, NULL},
    {"PAPI_L3_ICA", NULL, NULL},
    {"PAPI_L3_ICH", NULL, NULL},
    {"PAPI_L3_ICM", NULL, NULL},
    {"PAPI_L3_ICR", NULL, NULL},
    {"PAPI_L3_ICW", NULL, NULL},
    {"PAPI_L3_LDH", NULL, NULL},
    {"PAPI_L3_TCH", NULL, NULL},
    {"PAPI_L3_TCR", NULL, NULL},
    {"PAPI_L3_TCW", "llc-store", NULL},
    {"PAPI_LST_INS", "loads", "stores"},
    {"PAPI_LSU_IDL", NULL, NULL},
    {"PAPI_MEM_RCY", NULL, NULL},
    {"PAPI_MEM_SCY", NULL, NULL},
    {"PAPI_MEM_WCY", NULL, NULL},
    {"PAPI_SP_OPS", NULL, NULL},
    {"PAPI_STL_CCY", NULL, NULL},
    {"PAPI_SYC_INS", NULL, NULL},
    {"PAPI_TLB_SD", NULL, NULL},
    {"PAPI_TLB_TL", "dtlb-miss", "itlb-miss"},
    {"PAPI_VEC_DP", NULL, NULL},
    {"PAPI_VEC_HP", NULL, NULL},
    {"PAPI_VEC_SP", NULL, NULL},
};

enum { N_PRESETS = sizeof presets / sizeof *presets };

const struct preset *preset_find(const char *name)
{
    for (size_t i = 0; i < N_PRESETS; i++)
        if (strcasecmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

void preset_offer(struct suggest *s)
{
    for (size_t i = 0; i < N_PRESETS; i++)
        suggest_offer(s, presets[i].name);
}
