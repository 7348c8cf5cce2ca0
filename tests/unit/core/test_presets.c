/* SPDX-License-Identifier: MIT */
/* PAPI presets: all are known, and those supported count what their events count. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/names/event.h"
#include "core/formula/formula.h"
#include "core/names/presets.h"
#include "core/names/registry.h"
#include "support/region_stats.h"
#include "support/machine.h"
#include "unit/suite.h"
#include "upmu/region.h"
#include "upmu/upmu.h"

static const char *machines;

/* The presets of PAPI 5.7 to 7.3. */
static const char *const all[] = {
    "PAPI_BRU_IDL", "PAPI_BR_CN",   "PAPI_BR_INS",  "PAPI_BR_MSP",  "PAPI_BR_NTK",  "PAPI_BR_PRC",  "PAPI_BR_TKN",
    "PAPI_BR_UCN",  "PAPI_BTAC_M",  "PAPI_CA_CLN",  "PAPI_CA_INV",  "PAPI_CA_ITV",  "PAPI_CA_SHR",  "PAPI_CA_SNP",
    "PAPI_CSR_FAL", "PAPI_CSR_SUC", "PAPI_CSR_TOT", "PAPI_DP_OPS",  "PAPI_FAD_INS", "PAPI_FDV_INS", "PAPI_FMA_INS",
    "PAPI_FML_INS", "PAPI_FNV_INS", "PAPI_FPU_IDL", "PAPI_FP_INS",  "PAPI_FP_OPS",  "PAPI_FP_STAL", "PAPI_FSQ_INS",
    "PAPI_FUL_CCY", "PAPI_FUL_ICY", "PAPI_FXU_IDL", "PAPI_HP_OPS",  "PAPI_HW_INT",  "PAPI_INT_INS", "PAPI_L1_DCA",
    "PAPI_L1_DCH",  "PAPI_L1_DCM",  "PAPI_L1_DCR",  "PAPI_L1_DCW",  "PAPI_L1_ICA",  "PAPI_L1_ICH",  "PAPI_L1_ICM",
    "PAPI_L1_ICR",  "PAPI_L1_ICW",  "PAPI_L1_LDM",  "PAPI_L1_STM",  "PAPI_L1_TCA",  "PAPI_L1_TCH",  "PAPI_L1_TCM",
    "PAPI_L1_TCR",  "PAPI_L1_TCW",  "PAPI_L2_DCA",  "PAPI_L2_DCH",  "PAPI_L2_DCM",  "PAPI_L2_DCR",  "PAPI_L2_DCW",
    "PAPI_L2_ICA",  "PAPI_L2_ICH",  "PAPI_L2_ICM",  "PAPI_L2_ICR",  "PAPI_L2_ICW",  "PAPI_L2_LDH",  "PAPI_L2_LDM",
    "PAPI_L2_STM",  "PAPI_L2_TCA",  "PAPI_L2_TCH",  "PAPI_L2_TCM",  "PAPI_L2_TCR",  "PAPI_L2_TCW",  "PAPI_L3_DCA",
    "PAPI_L3_DCH",  "PAPI_L3_DCM",  "PAPI_L3_DCR",  "PAPI_L3_DCW",  "PAPI_L3_ICA",  "PAPI_L3_ICH",  "PAPI_L3_ICM",
    "PAPI_L3_ICR",  "PAPI_L3_ICW",  "PAPI_L3_LDH",  "PAPI_L3_LDM",  "PAPI_L3_STM",  "PAPI_L3_TCA",  "PAPI_L3_TCH",
    "PAPI_L3_TCM",  "PAPI_L3_TCR",  "PAPI_L3_TCW",  "PAPI_LD_INS",  "PAPI_LST_INS", "PAPI_LSU_IDL", "PAPI_MEM_RCY",
    "PAPI_MEM_SCY", "PAPI_MEM_WCY", "PAPI_PRF_DM",  "PAPI_REF_CYC", "PAPI_RES_STL", "PAPI_SP_OPS",  "PAPI_SR_INS",
    "PAPI_STL_CCY", "PAPI_STL_ICY", "PAPI_SYC_INS", "PAPI_TLB_DM",  "PAPI_TLB_IM",  "PAPI_TLB_SD",  "PAPI_TLB_TL",
    "PAPI_TOT_CYC", "PAPI_TOT_IIS", "PAPI_TOT_INS", "PAPI_VEC_DP",  "PAPI_VEC_HP",  "PAPI_VEC_INS", "PAPI_VEC_SP",
};

enum { N_PRESETS = sizeof all / sizeof *all };

static const char *const cpus[] = {
    "intel_skx",  "amd_zen3",           "loongarch_3a5000", "loongson3a1000", "loongson3a4000_mainline", "sunway_sw831",
    "kunpeng920", "phytium_ft2000plus", "riscv_generic",    "hygon_7285",     "zhaoxin_kx6780a",
};

enum { N_CPUS = sizeof cpus / sizeof *cpus };

static bool counts(const char *name)
{
    struct event e;
    return event_resolve(name, &e) == 0;
}

static bool counts_exactly(const char *name)
{
    struct event e;
    return event_resolve(name, &e) == 0 && e.match == UPMU_MATCH_EXACT;
}

/* Whether the events that the preset stands for can be had on the machine in use. */
static bool can_be_counted(const char *name)
{
    const struct registry_event *r = registry_find(name);
    const struct preset *p = preset_find(name);
    if (r && counts(r->name))
        return true;
    if (p && p->first && (p->second ? counts_exactly(p->first) && counts_exactly(p->second) : counts(p->first)))
        return true;
    const struct arch_preset *own = arch_family_preset(machine_get()->family, name);
    struct formula_term terms[FORMULA_TERMS_MAX];
    struct event e;
    int n = own ? formula_terms(machine_get(), arch_text(own->formula), terms) : 0;
    for (int i = 0; i < n; i++)
        if (event_of_table(machine_get(), terms[i].name, &e) < 0)
            return false;
    return n > 0;
}

/* Whether the preset is a sum of the CPU's own events. */
static bool is_formula(const char *name)
{
    const struct arch_preset *own = arch_family_preset(machine_get()->family, name);
    return own && !arch_family_native(machine_get()->family, arch_text(own->formula));
}

START_TEST(every_preset_is_known_and_counts_where_its_events_do)
{
    const char *cpu = cpus[_i];
    struct event e;
    size_t counted = 0;
    machine_recorded(machines, cpu);
    for (size_t i = 0; i < N_PRESETS; i++) {
        int rc = event_resolve(all[i], &e);
        if (rc < 0 || !is_formula(all[i]))
            ck_assert_msg(rc == (can_be_counted(all[i]) ? 0 : UPMU_E_UNSUPPORTED), "%s on %s: %s", all[i], cpu,
                          upmu_error());
        ck_assert_msg(e.papi != NULL && e.papi[0] == 'P', "%s on %s has no PAPI name", all[i], cpu);
        ck_assert_msg((e.match == UPMU_MATCH_ABSENT) == (rc < 0), "%s on %s: match %d", all[i], cpu, e.match);
        counted += rc == 0;
    }
    ck_assert_msg(counted >= 2, "%zu presets on %s", counted, cpu);
}
END_TEST

/* What PAPI counts by a name of the CPU's own is accepted by that name, whose code is the one of the maker's list. */
START_TEST(preset_of_no_neutral_name_is_the_cpus_own_event)
{
    static const struct {
        const char *cpu, *preset;
        uint64_t config;
        int match;
    } rows[] = {
        {"intel-haswell", "PAPI_BR_NTK", 0x10c4, UPMU_MATCH_EXACT},
        {"intel-skylake", "PAPI_BR_NTK", 0x10c4, UPMU_MATCH_EXACT},
        {"intel-icelake", "PAPI_BR_TKN", 0x01c4, UPMU_MATCH_EXACT},
        {"intel-skylake", "PAPI_L2_ICM", 0x2424, UPMU_MATCH_APPROXIMATE},
        {"intel-skylake", "PAPI_L2_ICA", 0xe424, UPMU_MATCH_APPROXIMATE},
        {"intel-skylake", "PAPI_MEM_WCY", 0x08a2, UPMU_MATCH_APPROXIMATE},
        {"intel-core2", "PAPI_L2_STM", 0x4025, UPMU_MATCH_APPROXIMATE},
        {"intel-nehalem", "PAPI_L2_ICM", 0x2024, UPMU_MATCH_EXACT},
        {"intel-haswell", "PAPI_FUL_CCY", 0x40001c2, UPMU_MATCH_APPROXIMATE},
        {"zen1", "PAPI_DP_OPS", 0xf003, UPMU_MATCH_APPROXIMATE},
        {"hygon", "PAPI_SP_OPS", 0x0f03, UPMU_MATCH_APPROXIMATE},
        {"zen5", "PAPI_BR_UCN", 0x1000000c9, UPMU_MATCH_EXACT},
        {"zen3", "PAPI_L2_ICM", 0x0164, UPMU_MATCH_APPROXIMATE},
        {"kunpeng920", "PAPI_CSR_FAL", 0x006e, UPMU_MATCH_APPROXIMATE},
        {"kunpeng920", "PAPI_L2_ICA", 0x0027, UPMU_MATCH_EXACT},
        {"ftc663", "papi_l2_stm", 0x0053, UPMU_MATCH_APPROXIMATE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        struct event e;
        ck_assert_int_eq(machine_of_cpu(rows[i].cpu, &m), 0);
        ck_assert_msg(event_resolve_on(&m, rows[i].preset, &e) == 0, "%s on %s: %s", rows[i].preset, rows[i].cpu,
                      upmu_error());
        ck_assert_msg(e.config == rows[i].config && e.type == KERNEL_TYPE_RAW && e.match == rows[i].match,
                      "%s on %s: 0x%llx, match %d", rows[i].preset, rows[i].cpu, (unsigned long long)e.config, e.match);
        ck_assert_ptr_nonnull(strstr(e.note, "native::"));
        ck_assert_str_eq(strncmp(e.name, "PAPI_", 5) == 0 ? "PAPI_" : e.name, "PAPI_");
    }
}
END_TEST

START_TEST(presets_of_the_table_are_events_of_the_registry)
{
    struct event e;
    machine_recorded(machines, "intel_skx");
    for (size_t i = 0; i < N_PRESETS; i++) {
        const struct preset *p = preset_find(all[i]);
        ck_assert_msg(p != NULL || registry_find(all[i]) != NULL, "%s is not known", all[i]);
        ck_assert_msg(!p || !p->first || registry_find(p->first) != NULL, "%s", all[i]);
        ck_assert_msg(!p || !p->second || registry_find(p->second) != NULL, "%s", all[i]);
    }
    ck_assert_int_eq(event_resolve("papi_l1_icr", &e), event_resolve("l1i-access", &e));
    ck_assert_int_eq(event_resolve("PAPI_L1_TCMM", &e), UPMU_E_NAME);
    ck_assert_msg(strstr(upmu_error(), "PAPI_L1_TCM'") != NULL, "%s", upmu_error());
    ck_assert_ptr_null(preset_find("cycles"));
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- sums */

/* A machine where PAPI_L1_TCM is a sum: the first of the list on which it is. */
static void machine_with_sum(struct event *first, struct event *second)
{
    for (size_t i = 0; i < N_CPUS; i++) {
        machine_recorded(machines, cpus[i]);
        if (!counts("l1d-miss") || !counts("PAPI_L1_TCM"))
            continue;
        ck_assert_int_eq(event_resolve("l1d-miss", first), 0);
        ck_assert_int_eq(event_resolve("l1i-miss", second), 0);
        return;
    }
    ck_abort_msg("no machine of the list has an exact l1d-miss and l1i-miss");
}

static void sample(const struct event *e, uint64_t value, uint64_t enabled, uint64_t running)
{
    scripted_counter(e->type, e->config, (struct scripted_sample[]){{value, enabled, running}}, 1);
}

static struct upmu_value count_sum(char *encoding, size_t cap)
{
    struct upmu_set *set;
    struct upmu_value v[2];
    struct upmu_event_info info = {.size = sizeof info};
    ck_assert_int_eq(upmu_event_find("PAPI_L1_TCM", &info), 0);
    snprintf(encoding, cap, "%s = %s", info.formula, info.encoding);
    ck_assert_msg(upmu_set_open(&set, "page-faults,PAPI_L1_TCM", NULL) == 0, "%s", upmu_error());
    ck_assert_uint_eq(upmu_set_event_count(set), 2);
    ck_assert_str_eq(upmu_set_name(set, 1), "PAPI_L1_TCM");
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_open_now(), 0);
    return v[1];
}

START_TEST(a_sum_counts_both_events)
{
    struct event first, second;
    char encoding[160];
    machine_with_sum(&first, &second);
    sample(&first, 30, 100, 100);
    sample(&second, 12, 100, 100);
    struct upmu_value v = count_sum(encoding, sizeof encoding);
    ck_assert_int_eq(v.status, UPMU_EXACT);
    ck_assert_uint_eq(v.value, 42);
    ck_assert_ptr_nonnull(strstr(encoding, " + l1i-miss"));
}
END_TEST

START_TEST(a_sum_is_worth_what_its_weaker_event_is)
{
    struct event first, second;
    char encoding[160];
    machine_with_sum(&first, &second);
    sample(&first, 30, 100, 100);
    scripted_open_error(second.type, second.config, EBUSY);
    struct upmu_value v = count_sum(encoding, sizeof encoding);
    ck_assert_int_eq(v.status, UPMU_REFUSED);
    ck_assert_int_eq(v.cause, UPMU_E_BUSY);
    ck_assert_uint_eq(v.value, UPMU_NO_VALUE);
    sample(&first, 30, 100, 50);
    sample(&second, 12, 100, 50);
    v = count_sum(encoding, sizeof encoding);
    ck_assert_int_eq(v.status, UPMU_SCALED);
    ck_assert_uint_eq(v.value, 84);
    sample(&first, 30, 100, 0);
    sample(&second, 12, 100, 0);
    v = count_sum(encoding, sizeof encoding);
    ck_assert_int_eq(v.status, UPMU_NOT_COUNTED);
    ck_assert_uint_eq(v.value, UPMU_NO_VALUE);
}
END_TEST

START_TEST(modes_of_a_sum_are_those_of_both)
{
    struct event first, second;
    struct upmu_set *set;
    machine_with_sum(&first, &second);
    sample(&first, 1, 1, 1);
    sample(&second, 1, 1, 1);
    ck_assert_int_eq(upmu_set_open(&set, "PAPI_L1_TCM:u", NULL), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_OPEN), 2);
    for (size_t i = 0; i < 2; i++)
        ck_assert_uint_eq(scripted_nth(SCRIPTED_OPEN, i)->req.exclude, UPMU_EXCLUDE_KERNEL);
    upmu_set_close(set);
}
END_TEST

START_TEST(regions_add_both_events_up)
{
    struct event first, second;
    /* the first reading checks the times of the group's members */
    const struct scripted_sample firsts[] = {
        {0, 500, 500}, {10, 1000, 1000}, {17, 2000, 2000}, {20, 3000, 3000}, {50, 4000, 4000}};
    const struct scripted_sample seconds[] = {
        {0, 500, 500}, {1, 1000, 1000}, {2, 2000, 2000}, {3, 3000, 3000}, {5, 4000, 4000}};
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "PAPI_L1_TCM"};
    struct test_region s;
    machine_with_sum(&first, &second);
    scripted_counter(first.type, first.config, firsts, 5);
    scripted_counter(second.type, second.config, seconds, 5);
    ck_assert_int_eq(upmu_region_setup(&opts), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(upmu_region_begin("r"), 0);
        ck_assert_int_eq(upmu_region_end("r"), 0);
    }
    ck_assert_int_eq(test_region_read("r", UPMU_ALL_THREADS, &s), 0);
    ck_assert_uint_eq(s.n_events, 1);
    ck_assert_int_eq(s.events[0].status, UPMU_EXACT);
    ck_assert_uint_eq(s.events[0].stat.sum, 7 + 1 + 30 + 2);
    ck_assert_uint_eq(s.events[0].stat.max, 32);
    ck_assert_str_eq(test_region_event(0), "PAPI_L1_TCM");
}
END_TEST

/* Sixty-four events fit into a set, and a sum is two of them. */
START_TEST(too_many_sums_are_refused_with_the_reason)
{
    struct event first, second;
    struct upmu_set *set;
    char names[2048] = "PAPI_L1_TCM";
    machine_with_sum(&first, &second);
    sample(&first, 1, 1, 1);
    sample(&second, 1, 1, 1);
    for (int i = 1; i < 64; i++)
        strcat(names, ",PAPI_L1_TCM");
    ck_assert_int_eq(upmu_set_open(&set, names, NULL), 0);
    ck_assert_ptr_nonnull(strstr(upmu_set_reason(set, 0), "sum of 2 events"));
    upmu_set_close(set);
}
END_TEST

int main(int argc, char **argv)
{
    machines = argc > 1 ? argv[1] : "tests/machines";
    TCase *cases = tcase_create("presets");
    tcase_add_loop_test(cases, every_preset_is_known_and_counts_where_its_events_do, 0, N_CPUS);
    tcase_add_test(cases, preset_of_no_neutral_name_is_the_cpus_own_event);
    tcase_add_test(cases, presets_of_the_table_are_events_of_the_registry);
    tcase_add_test(cases, a_sum_counts_both_events);
    tcase_add_test(cases, a_sum_is_worth_what_its_weaker_event_is);
    tcase_add_test(cases, modes_of_a_sum_are_those_of_both);
    tcase_add_test(cases, regions_add_both_events_up);
    tcase_add_test(cases, too_many_sums_are_refused_with_the_reason);
    tcase_set_timeout(cases, 60);
    return run_suite("presets", cases);
}
