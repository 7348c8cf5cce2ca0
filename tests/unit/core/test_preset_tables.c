/* SPDX-License-Identifier: MIT */
/* PAPI presets in the tables: complete for x86 CPUs, with the codes of the vendor's list. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arch_ops.h"
#include "core/names/presets.h"
#include "core/names/registry.h"
#include "unit/suite.h"
#include "upmu/upmu.h"

/* ----------------------------------------------------------------------------------------------- what there is */

static void append(char *text, size_t cap, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, cap - used, "%s", more);
}

/* The code of an event of a family, by its own name for it or by the neutral one; of a neutral one that is no raw code its
 * name, of one that is a sum the sum. */
static bool code_of(const struct arch_family *family, const char *name, char *text, size_t cap)
{
    const struct arch_native *native = arch_family_native(family, name);
    const struct arch_event *row = native ? NULL : arch_family_event(family, name);
    if (native)
        snprintf(text, cap, "0x%04" PRIx64, native->config);
    else if (row && row->kind == ARCH_CODE_RAW)
        snprintf(text, cap, "0x%04" PRIx64, row->config);
    else
        snprintf(text, cap, "%s", row && row->kind == ARCH_CODE_FORMULA ? arch_text(row->formula) : name);
    return native || (row && row->kind != ARCH_CODE_NONE);
}

/* A formula with codes for its names. @return whether the family has all its events */
static bool codes_of(const struct arch_family *family, const char *formula, char *text, size_t cap)
{
    char terms[500], code[400];
    bool all = true;
    text[0] = '\0';
    snprintf(terms, sizeof terms, "%s", formula);
    for (char *rest, *term = strtok_r(terms, " ", &rest); term; term = strtok_r(NULL, " ", &rest)) {
        char *star = strchr(term, '*');
        bool is_sign = strcmp(term, "+") == 0 || strcmp(term, "-") == 0;
        append(text, cap, text[0] ? " " : "");
        if (star)
            *star = '\0';
        if (is_sign || star)
            append(text, cap, term);
        if (is_sign)
            continue;
        append(text, cap, star ? "*" : "");
        all = code_of(family, star ? star + 1 : term, code, sizeof code) && all;
        append(text, cap, code);
    }
    return all && text[0];
}

static bool is_exact(const struct arch_family *family, const char *name)
{
    const struct arch_event *row = arch_family_event(family, name);
    return row && row->kind != ARCH_CODE_NONE && row->match == UPMU_MATCH_EXACT;
}

/* What a preset is on a family, in codes: as event.c takes it, from the registry, from the common presets, from the family's
 * own. @return whether it is anything */
static bool preset_codes(const struct arch_family *family, const char *papi, char *text, size_t cap)
{
    const struct registry_event *r = registry_find(papi);
    const struct preset *p = preset_find(papi);
    const struct arch_preset *own = arch_family_preset(family, papi);
    char second[400];
    if (r && code_of(family, r->name, text, cap))
        return true;
    if (p && p->first && !p->second && code_of(family, p->first, text, cap))
        return true;
    if (p && p->second && is_exact(family, p->first) && is_exact(family, p->second)) {
        (void)code_of(family, p->first, text, cap);
        (void)code_of(family, p->second, second, sizeof second);
        append(text, cap, " + ");
        append(text, cap, second);
        return true;
    }
    return own && codes_of(family, arch_text(own->formula), text, cap);
}

/* ------------------------------------------------------------------------------------------------ PAPI's file */

/* The presets that PAPI 7.2 defines for the CPU, in its papi_events.csv: what a program that moves from PAPI may use. Of a
 * family of a hybrid those of Golden Cove are asked, the only one there. */
/* clang-format off */
static const struct papi_has {
    const char *families, *presets;
} papi_has[] = {
    {"intel-core2",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN CA_CLN CA_ITV CA_SHR DP_OPS FDV_INS FML_INS FP_INS FP_OPS "
     "HW_INT L1_DCA L1_DCH L1_DCM L1_ICA L1_ICH L1_ICM L1_LDM L1_STM L1_TCA L1_TCM L2_DCA L2_DCM L2_DCR "
     "L2_DCW L2_ICA L2_ICH L2_ICM L2_LDM L2_STM L2_TCA L2_TCH L2_TCM L2_TCR L2_TCW LD_INS REF_CYC RES_STL "
     "SP_OPS SR_INS TLB_DM TLB_IM TOT_CYC TOT_IIS TOT_INS VEC_DP VEC_INS VEC_SP"},
    {"intel-nehalem",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN DP_OPS FP_INS FP_OPS L1_DCA L1_DCH L1_DCM L1_DCR "
     "L1_DCW L1_ICA L1_ICH L1_ICM L1_ICR L1_LDM L1_STM L1_TCA L1_TCM L1_TCR L2_DCA L2_DCH L2_DCM L2_DCR "
     "L2_DCW L2_ICA L2_ICH L2_ICM L2_ICR L2_LDM L2_STM L2_TCA L2_TCH L2_TCM L2_TCR L2_TCW L3_DCA L3_DCR "
     "L3_DCW L3_ICA L3_ICR L3_LDM L3_TCA L3_TCM L3_TCR L3_TCW LD_INS LST_INS REF_CYC RES_STL SP_OPS SR_INS "
     "TLB_DM TLB_IM TLB_TL TOT_CYC TOT_IIS TOT_INS VEC_DP VEC_SP"},
    {"intel-westmere",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN DP_OPS FP_INS FP_OPS L1_DCM L1_ICA L1_ICH L1_ICM "
     "L1_ICR L1_LDM L1_STM L1_TCM L2_DCA L2_DCH L2_DCM L2_DCR L2_DCW L2_ICA L2_ICH L2_ICM L2_ICR L2_LDM "
     "L2_STM L2_TCA L2_TCH L2_TCM L2_TCR L2_TCW L3_DCA L3_DCR L3_DCW L3_ICA L3_ICR L3_LDM L3_TCA L3_TCM "
     "L3_TCR L3_TCW LD_INS LST_INS REF_CYC RES_STL SP_OPS SR_INS TLB_DM TLB_IM TLB_TL TOT_CYC TOT_IIS "
     "TOT_INS VEC_DP VEC_SP"},
    {"intel-sandybridge intel-ivybridge",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN DP_OPS FDV_INS FP_INS FP_OPS L1_DCM L1_ICM L1_LDM "
     "L1_STM L1_TCM L2_DCA L2_DCH L2_DCM L2_DCR L2_DCW L2_ICA L2_ICH L2_ICM L2_ICR L2_STM L2_TCA L2_TCM "
     "L2_TCR L2_TCW L3_DCA L3_DCR L3_DCW L3_ICA L3_ICR L3_TCA L3_TCM L3_TCR L3_TCW LD_INS REF_CYC SP_OPS "
     "SR_INS STL_ICY TLB_DM TLB_IM TOT_CYC TOT_INS VEC_DP VEC_SP"},
    {"intel-haswell",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN CA_CLN CA_INV CA_ITV CA_SHR CA_SNP FUL_CCY FUL_ICY "
     "L1_DCM L1_ICM L1_LDM L1_STM L1_TCM L2_DCA L2_DCM L2_DCR L2_DCW L2_ICA L2_ICH L2_ICM L2_ICR L2_LDM "
     "L2_STM L2_TCA L2_TCM L2_TCR L2_TCW L3_DCA L3_DCR L3_DCW L3_ICA L3_ICR L3_LDM L3_TCA L3_TCM L3_TCR "
     "L3_TCW LD_INS LST_INS MEM_WCY PRF_DM REF_CYC RES_STL SR_INS STL_CCY STL_ICY TLB_DM TLB_IM TOT_CYC "
     "TOT_INS"},
    {"intel-broadwell",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN CA_CLN CA_INV CA_ITV CA_SHR CA_SNP DP_OPS FUL_CCY "
     "FUL_ICY L1_DCM L1_ICM L1_LDM L1_STM L1_TCM L2_DCA L2_DCM L2_DCR L2_DCW L2_ICA L2_ICH L2_ICM L2_ICR "
     "L2_LDM L2_STM L2_TCA L2_TCM L2_TCR L2_TCW L3_DCA L3_DCR L3_DCW L3_ICA L3_ICR L3_LDM L3_TCA L3_TCM "
     "L3_TCR L3_TCW LD_INS LST_INS MEM_WCY PRF_DM REF_CYC RES_STL SP_OPS SR_INS STL_CCY STL_ICY TLB_DM "
     "TLB_IM TOT_CYC TOT_INS VEC_DP VEC_SP"},
    {"intel-skylake",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN CA_CLN CA_ITV CA_SHR CA_SNP DP_OPS FUL_CCY FUL_ICY "
     "L1_DCM L1_ICM L1_LDM L1_STM L1_TCM L2_DCA L2_DCM L2_DCR L2_DCW L2_ICA L2_ICH L2_ICM L2_ICR L2_LDM "
     "L2_STM L2_TCA L2_TCM L2_TCR L2_TCW L3_DCA L3_DCR L3_DCW L3_ICA L3_ICR L3_LDM L3_TCA L3_TCM L3_TCR "
     "L3_TCW LD_INS LST_INS MEM_WCY PRF_DM REF_CYC RES_STL SP_OPS SR_INS STL_CCY STL_ICY TLB_DM TLB_IM "
     "TOT_CYC TOT_INS VEC_DP VEC_SP"},
    {"intel-icelake",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN CA_SHR DP_OPS FP_INS FP_OPS L1_DCM L1_ICM L1_TCM "
     "L2_DCA L2_DCM L2_DCR L2_ICA L2_ICH L2_ICM L2_ICR L2_LDM L2_TCA L2_TCM L2_TCR L3_DCA L3_DCR L3_ICA "
     "L3_ICR L3_LDM L3_TCA L3_TCM LD_INS LST_INS REF_CYC SP_OPS SR_INS TOT_CYC TOT_INS VEC_DP VEC_INS "
     "VEC_SP"},
    {"intel-sapphirerapids intel-graniterapids",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN CA_SHR DP_OPS FP_INS HP_OPS L1_DCM L1_ICM L1_TCM "
     "L2_DCA L2_DCM L2_DCR L2_ICA L2_ICH L2_ICM L2_ICR L2_LDM L2_TCA L2_TCM L2_TCR L3_DCA L3_DCR L3_ICA "
     "L3_ICR L3_LDM L3_TCA L3_TCM LD_INS LST_INS REF_CYC SP_OPS SR_INS TOT_CYC TOT_INS VEC_DP VEC_HP "
     "VEC_INS VEC_SP"},
    {"intel-goldencove intel-redwoodcove intel-lioncove",
     "DP_OPS FP_INS FP_OPS LD_INS LST_INS REF_CYC SP_OPS SR_INS TOT_CYC TOT_INS"},
    {"zen1 hygon",
     "BR_INS BR_MSP BR_TKN DP_OPS FAD_INS FDV_INS FML_INS FP_INS FP_OPS FSQ_INS L1_DCA L1_ICM L2_DCH "
     "L2_DCM L2_DCR L2_ICA SP_OPS STL_ICY TLB_DM TLB_IM TOT_CYC TOT_INS VEC_INS"},
    {"zen2",
     "BR_INS BR_MSP BR_TKN FP_INS FP_OPS L1_DCA L1_ICM L2_DCH L2_DCM L2_DCR L2_ICH L2_ICM L2_ICR TLB_DM "
     "TLB_IM TOT_CYC TOT_INS"},
    {"zen3",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN FAD_INS FDV_INS FML_INS FP_INS FP_OPS FSQ_INS L1_DCA "
     "L1_DCM L2_DCH L2_DCM L2_DCR L2_ICA L2_ICH L2_ICM L2_ICR TLB_DM TLB_IM TOT_CYC TOT_INS VEC_INS"},
    {"zen4 zen5",
     "BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN FAD_INS FDV_INS FMA_INS FML_INS FP_INS FP_OPS "
     "FSQ_INS L1_DCA L1_DCM L2_DCH L2_DCM L2_DCR L2_ICA L2_ICH L2_ICM L2_ICR L2_TCH L2_TCM TLB_DM TLB_IM "
     "TOT_CYC TOT_INS VEC_INS"},
    {"intel-core",
     "BR_INS BR_MSP"},
};

/* The codes by hand, from the makers' lists (Intel's SDM of Core 2 and perfmon files, AMD's PPRs), not from data/events. */
static const struct golden_preset {
    const char *families, *preset, *codes;
} golden[] = {
    {"intel-core2", "PAPI_BR_NTK", "0x01c4 + 0x02c4"},
    {"intel-core2", "PAPI_DP_OPS", "0x08ca + 2*0x04ca"},
    {"intel-core2", "PAPI_L2_DCA", "0x7f29 + 0x4f2a"},
    {"intel-core2", "PAPI_L2_ICA", "0x4f28"},
    {"intel-core2", "PAPI_LD_INS", "0x01c0"},
    {"intel-nehalem intel-westmere", "PAPI_L1_ICH", "0x0180"},
    {"intel-nehalem intel-westmere", "PAPI_L2_DCA", "0x0324 + 0x0c24"},
    {"intel-nehalem intel-westmere", "PAPI_L2_ICM", "0x2024"},
    {"intel-nehalem intel-westmere", "PAPI_DP_OPS", "0x8010 + 0x1010"},
    {"intel-nehalem intel-westmere", "PAPI_TLB_TL", "0x0185 + 0x0149"},
    {"intel-sandybridge intel-ivybridge", "PAPI_L2_DCM", "0x0324 - 0x0124 + 0x0824"},
    {"intel-sandybridge intel-ivybridge", "PAPI_DP_OPS", "0x8010 + 2*0x1010 + 4*0x0211"},
    {"intel-haswell intel-broadwell intel-skylake", "PAPI_BR_NTK", "0x10c4"},
    {"intel-haswell intel-broadwell intel-skylake", "PAPI_BR_PRC", "0x01c4 - 0x01c5"},
    {"intel-haswell intel-broadwell intel-skylake", "PAPI_BR_TKN", "0x01c4 - 0x10c4"},
    {"intel-haswell intel-broadwell intel-skylake", "PAPI_L2_TCR", "0xe124 + 0xe424"},
    {"intel-haswell", "PAPI_FUL_CCY", "0x40001c2"},
    {"intel-broadwell", "PAPI_DP_OPS", "0x01c7 + 2*0x04c7 + 4*0x10c7"},
    {"intel-skylake", "PAPI_DP_OPS", "0x01c7 + 2*0x04c7 + 4*0x10c7 + 8*0x40c7"},
    {"intel-skylake", "PAPI_SP_OPS", "0x02c7 + 4*0x08c7 + 8*0x20c7 + 16*0x80c7"},
    {"intel-skylake", "PAPI_VEC_SP", "0x08c7 + 0x20c7 + 0x80c7"},
    {"intel-skylake", "PAPI_FUL_ICY", "0x4001879 + 0x4002479"},
    {"intel-icelake intel-sapphirerapids intel-graniterapids", "PAPI_BR_PRC", "0x11c4 - 0x11c5"},
    {"intel-icelake intel-sapphirerapids intel-goldencove", "PAPI_BR_TKN", "0x01c4"},
    {"intel-sapphirerapids intel-graniterapids", "PAPI_HP_OPS", "0x01cf + 8*0x04cf + 16*0x08cf + 32*0x10cf"},
    {"intel-gracemont intel-crestmont intel-sierraforest", "PAPI_BR_NTK", "0x7ec4 - 0xfec4"},
    {"zen1 hygon", "PAPI_DP_OPS", "0xf003"},
    {"zen1 hygon", "PAPI_L2_DCH", "0x8064 + 0x4064 + 0x2064 + 0x1064"},
    {"zen1 hygon zen3", "PAPI_BR_TKN", "0x00c4 - 0x00c2 + 0x00d1"},
    {"zen1 zen2 zen3 zen4", "PAPI_BR_NTK", "0x00c2 - 0x00c4"},
    {"zen2", "PAPI_BR_PRC", "0x00d1 - 0x00d2"},
    {"zen3 zen4 zen5", "PAPI_BR_PRC", "0x00d1 - 0x00c3"},
    {"zen4 zen5", "PAPI_FAD_INS", "0x100a + 0x010a"},
    {"zen4 zen5", "PAPI_FMA_INS", "0x400a + 0x040a"},
    {"zen4 zen5", "PAPI_FSQ_INS", "0x600a + 0x060a"},
};
/* clang-format on */

enum { N_LISTED = sizeof papi_has / sizeof *papi_has, N_GOLDEN = sizeof golden / sizeof *golden };

START_TEST(presets_of_papi_are_there)
{
    char families[120], presets[1200], codes[800], papi[40];
    snprintf(families, sizeof families, "%s", papi_has[_i].families);
    for (char *more, *name = strtok_r(families, " ", &more); name; name = strtok_r(NULL, " ", &more)) {
        const struct arch_family *family = arch_family_named(name);
        ck_assert_msg(family != NULL, "%s", name);
        snprintf(presets, sizeof presets, "%s", papi_has[_i].presets);
        for (char *rest, *p = strtok_r(presets, " ", &rest); p; p = strtok_r(NULL, " ", &rest)) {
            snprintf(papi, sizeof papi, "PAPI_%s", p);
            ck_assert_msg(preset_codes(family, papi, codes, sizeof codes), "%s lacks %s", name, papi);
        }
    }
}
END_TEST

START_TEST(preset_has_the_codes_of_the_makers_list)
{
    char families[120], codes[800] = "";
    snprintf(families, sizeof families, "%s", golden[_i].families);
    for (char *more, *name = strtok_r(families, " ", &more); name; name = strtok_r(NULL, " ", &more)) {
        const struct arch_family *family = arch_family_named(name);
        ck_assert_msg(family && preset_codes(family, golden[_i].preset, codes, sizeof codes) &&
                          strcmp(codes, golden[_i].codes) == 0,
                      "%s on %s: %s, not %s", golden[_i].preset, name, codes, golden[_i].codes);
    }
}
END_TEST

/* A preset must be one of PAPI's, and its events such that the family has. */
START_TEST(own_presets_are_presets_and_events)
{
    const struct arch_family *family = upmu_arch_families[_i];
    const struct arch_preset *own;
    char codes[800];
    for (size_t i = 0; (own = arch_family_preset_at(family, i)) != NULL; i++) {
        const char *papi = arch_text(own->papi), *formula = arch_text(own->formula);
        ck_assert_msg(registry_find(papi) || preset_find(papi), "%s is no preset", papi);
        ck_assert_msg(codes_of(family, formula, codes, sizeof codes), "%s: %s, %s", family->name, papi, formula);
        ck_assert_msg((own->match == UPMU_MATCH_EXACT) == !own->why, "%s", papi);
    }
}
END_TEST

int main(void)
{
    int n = 0;
    while (upmu_arch_families[n])
        n++;
    TCase *cases = tcase_create("preset_tables");
    tcase_add_loop_test(cases, presets_of_papi_are_there, 0, N_LISTED);
    tcase_add_loop_test(cases, preset_has_the_codes_of_the_makers_list, 0, N_GOLDEN);
    tcase_add_loop_test(cases, own_presets_are_presets_and_events, 0, n);
    return run_suite("preset_tables", cases);
}
