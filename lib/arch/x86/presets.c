/* SPDX-License-Identifier: MIT */
/**
 * @file
 * PAPI's presets that are events of Intel's and AMD's own lists and of no vendor-neutral name. Room: arch/x86, data only;
 * before it families.c looks presets up for core, after it the native tables, whose codes these are.
 *
 * Of two rows for a preset the first one counts whose event the core has.
 */
#include "arch/row.h"
#include "arch/x86/presets.h"

#define DEMAND "demand requests only"
#define CODE "code reads, speculative ones included"
#define OWNERSHIP "requests for ownership, prefetched ones included"
#define FLOPS "operations, of which an instruction may do several"

/* clang-format off */
const struct arch_preset arch_intel_presets[INTEL_PRESETS] = {
    {"PAPI_BR_NTK", "BR_INST_RETIRED.COND_NTAKEN", EXACT, ""},
    {"PAPI_BR_NTK", "BR_INST_RETIRED.NOT_TAKEN", EXACT, ""},
    {"PAPI_BR_TKN", "BR_INST_RETIRED.COND_TAKEN", EXACT, ""},
    {"PAPI_CA_CLN", "OFFCORE_REQUESTS.DEMAND_RFO", APPROX, "requests for ownership, whatever the line's state is"},
    {"PAPI_L1_STM", "L2_RQSTS.ALL_RFO", APPROX, OWNERSHIP},
    {"PAPI_L2_DCA", "L2_RQSTS.ALL_DEMAND_REFERENCES", APPROX, "demand requests, those for code included"},
    {"PAPI_L2_DCR", "L2_RQSTS.ALL_DEMAND_DATA_RD", APPROX, DEMAND},
    {"PAPI_L2_DCW", "L2_RQSTS.ALL_RFO", APPROX, OWNERSHIP},
    {"PAPI_L2_ICA", "L2_RQSTS.ALL_CODE_RD", APPROX, CODE},
    {"PAPI_L2_ICH", "L2_RQSTS.CODE_RD_HIT", APPROX, CODE},
    {"PAPI_L2_ICM", "L2_RQSTS.CODE_RD_MISS", APPROX, CODE},
    {"PAPI_L2_ICR", "L2_RQSTS.ALL_CODE_RD", APPROX, CODE},
    {"PAPI_L2_LDH", "L2_RQSTS.DEMAND_DATA_RD_HIT", APPROX, DEMAND},
    {"PAPI_L2_STM", "L2_RQSTS.RFO_MISS", APPROX, OWNERSHIP},
    {"PAPI_L2_TCW", "L2_RQSTS.ALL_RFO", APPROX, OWNERSHIP},
    {"PAPI_L3_ICA", "L2_RQSTS.CODE_RD_MISS", APPROX, "code reads that missed L2"},
    {"PAPI_L3_ICR", "L2_RQSTS.CODE_RD_MISS", APPROX, "code reads that missed L2"},
    {"PAPI_L3_LDH", "MEM_LOAD_RETIRED.L3_HIT", APPROX, "retired loads"},
    {"PAPI_L3_LDH", "MEM_LOAD_UOPS_RETIRED.L3_HIT", APPROX, "retired loads"},
    {"PAPI_MEM_WCY", "RESOURCE_STALLS.SB", APPROX, "cycles in which the store buffer was full"},
    {"PAPI_PRF_DM", "L2_RQSTS.PF_MISS", APPROX, "hardware prefetches that missed L2"},
    {"PAPI_PRF_DM", "L2_RQSTS.L2_PF_MISS", APPROX, "hardware prefetches that missed L2"},
    {"PAPI_STL_CCY", "UOPS_RETIRED.STALL_CYCLES", APPROX, "cycles in which no micro-operation retired"},
};

const struct arch_preset arch_amd_presets[AMD_PRESETS] = {
    {"PAPI_BR_TKN", "ex_ret_brn_tkn", APPROX, "taken branches of all kinds, not conditional ones alone"},
    {"PAPI_BR_UCN", "ex_ret_uncond_brnch_instr", EXACT, ""},
    {"PAPI_FAD_INS", "fp_ret_sse_avx_ops.add_sub_flops", APPROX, FLOPS},
    {"PAPI_FDV_INS", "fp_ret_sse_avx_ops.div_flops", APPROX, "square roots included; " FLOPS},
    {"PAPI_FML_INS", "fp_ret_sse_avx_ops.mult_flops", APPROX, FLOPS},
    {"PAPI_L2_DCA", "l2_cache_req_stat.dc_access_in_l2", APPROX, "prefetches of the hardware not included"},
    {"PAPI_L2_DCH", "l2_cache_req_stat.dc_hit_in_l2", APPROX, "prefetches of the hardware not included"},
    {"PAPI_L2_DCM", "l2_cache_req_stat.ls_rd_blk_c", APPROX, "prefetches of the hardware not included"},
    {"PAPI_L2_DCR", "l2_request_g1.rd_blk_l", APPROX, "reads, prefetched ones included"},
    {"PAPI_L2_ICA", "l2_request_g1.cacheable_ic_read", APPROX, CODE},
    {"PAPI_L2_ICH", "l2_cache_req_stat.ic_hit_in_l2", APPROX, CODE},
    {"PAPI_L2_ICM", "l2_cache_req_stat.ic_fill_miss", APPROX, CODE},
    {"PAPI_L2_ICR", "l2_request_g1.cacheable_ic_read", APPROX, CODE},
    {"PAPI_STL_ICY", "ic_fetch_stall.ic_stall_any", APPROX, "cycles in which the fetching of instructions stood still"},
};
/* clang-format on */
