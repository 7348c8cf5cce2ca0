/* SPDX-License-Identifier: MIT */
/* Native names through libpfm4, and its encodings compared with our tables. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arch_ops.h"
#include "core/kernel_ops.h"
#include "upmu/upmu.h"
#include "unit/suite.h"

START_TEST(software_event_is_encoded_with_its_full_name)
{
    struct arch_native_code code;
    ck_assert_msg(arch_native_encode("perf::PAGE-FAULTS", &code) == 0, "%s", upmu_error());
    ck_assert_uint_eq(code.type, KERNEL_TYPE_SOFTWARE);
    ck_assert_uint_eq(code.config, KERNEL_SW_PAGE_FAULTS);
    ck_assert_uint_eq(code.config1, 0);
    ck_assert_ptr_eq(strstr(code.name, "perf::PERF_COUNT_SW_PAGE_FAULTS"), code.name);
}
END_TEST

START_TEST(name_without_a_pmu_is_searched)
{
    struct arch_native_code code;
    ck_assert_msg(arch_native_encode("CONTEXT-SWITCHES", &code) == 0, "%s", upmu_error());
    ck_assert_uint_eq(code.type, KERNEL_TYPE_SOFTWARE);
    ck_assert_uint_eq(code.config, KERNEL_SW_CONTEXT_SWITCHES);
}
END_TEST

START_TEST(unknown_name_carries_libpfm4s_reason)
{
    struct arch_native_code code;
    ck_assert_int_eq(arch_native_encode("no_such_event_anywhere", &code), UPMU_E_NAME);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "event not found"));
    ck_assert_int_eq(arch_native_encode("perf::PAGE-FAULTS:NO_SUCH_ATTRIBUTE", &code), UPMU_E_NAME);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "attribute"));
    ck_assert_int_eq(arch_native_encode("", &code), UPMU_E_NAME);
}
END_TEST

/** Such a modifier changes exclude bits, which the caller does not get: accepting it would count the wrong modes. */
START_TEST(mode_modifiers_of_libpfm4_are_refused)
{
    static const char *const names[] = {"perf::PAGE-FAULTS:u", "perf::PAGE-FAULTS:k", "perf::PAGE-FAULTS:u=1:k=0"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct arch_native_code code;
        ck_assert_msg(arch_native_encode(names[i], &code) == UPMU_E_NAME, "%s was taken", names[i]);
        ck_assert_ptr_nonnull(strstr(upmu_error(), "modifiers"));
        ck_assert_str_eq(code.name, "");
    }
}
END_TEST

#if defined(__x86_64__) || defined(__i386__) /* libpfm4 carries the cores of the architecture it is built for */
/* One event of one core: libpfm4's name and ours. */
static const struct {
    const char *libpfm4, *family, *ours;
} pairs[] = {
    {"hsw_ep::L1D:REPLACEMENT", "intel-haswell", "L1D.REPLACEMENT"},
    {"hsw_ep::L2_RQSTS:MISS", "intel-haswell", "L2_RQSTS.MISS"},
    {"hsw_ep::MEM_UOPS_RETIRED:ALL_LOADS", "intel-haswell", "MEM_UOPS_RETIRED.ALL_LOADS"},
    {"hsw::L2_RQSTS:MISS", "intel-haswell", "L2_RQSTS.MISS"}, /* the client part of the same core */
    {"hsw::RESOURCE_STALLS:ANY", "intel-haswell", "RESOURCE_STALLS.ANY"},
    {"bdw_ep::RESOURCE_STALLS:ANY", "intel-broadwell", "RESOURCE_STALLS.ANY"},
    {"bdw_ep::CYCLE_ACTIVITY:STALLS_TOTAL", "intel-broadwell", "CYCLE_ACTIVITY.STALLS_TOTAL"},
    {"skx::CYCLE_ACTIVITY:STALLS_TOTAL", "intel-skylake", "CYCLE_ACTIVITY.STALLS_TOTAL"},
    {"skx::HW_INTERRUPTS:RECEIVED", "intel-skylake", "HW_INTERRUPTS.RECEIVED"},
    {"skx::BR_INST_RETIRED:CONDITIONAL", "intel-skylake", "BR_INST_RETIRED.CONDITIONAL"},
    {"skl::L2_RQSTS:REFERENCES", "intel-skylake", "L2_RQSTS.REFERENCES"},
    {"clx::MEM_LOAD_RETIRED:L3_MISS", "intel-skylake", "MEM_LOAD_RETIRED.L3_MISS"},
    {"icx::BR_INST_RETIRED:COND", "intel-icelake", "BR_INST_RETIRED.COND"},
    {"icx::MEM_LOAD_RETIRED:L1_MISS", "intel-icelake", "MEM_LOAD_RETIRED.L1_MISS"},
    {"spr::L1D:REPLACEMENT", "intel-sapphirerapids", "L1D.REPLACEMENT"},
    {"spr::MEM_INST_RETIRED:ALL_STORES", "intel-sapphirerapids", "MEM_INST_RETIRED.ALL_STORES"},
    {"amd64_fam17h_zen1::CYCLES_NOT_IN_HALT", "zen1", "ls_not_halted_cyc"},
    {"amd64_fam17h_zen1::RETIRED_NEAR_RETURNS", "zen1", "ex_ret_near_ret"},
    {"amd64_fam17h_zen1::LS_DISPATCH:LD_DISPATCH", "zen1", "ls_dispatch.ld_dispatch"},
    {"amd64_fam17h_zen2::RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS", "zen2", "ex_ret_cond"},
    {"amd64_fam17h_zen2::LS_DISPATCH:STORE_DISPATCH", "zen2", "ls_dispatch.store_dispatch"},
    {"amd64_fam19h_zen3::INTERRUPT_TAKEN", "zen3", "ls_int_taken"},
    {"amd64_fam19h_zen3::RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", "zen3", "ex_ret_brn_misp"},
    {"amd64_fam19h_zen4::RETIRED_INSTRUCTIONS", "zen4", "ex_ret_instr"},
    {"amd64_fam19h_zen4::OPS_QUEUE_EMPTY", "zen4", "de_op_queue_empty"},
};

START_TEST(libpfm4_and_our_table_give_one_code)
{
    const struct arch_family *family = arch_family_named(pairs[_i].family);
    const struct arch_native *row = arch_family_native(family, pairs[_i].ours);
    ck_assert_msg(row != NULL, "%s has no %s", pairs[_i].family, pairs[_i].ours);
    struct arch_native_code code;
    ck_assert_msg(arch_native_encode(pairs[_i].libpfm4, &code) == 0, "%s", upmu_error());
    ck_assert_uint_eq(code.type, KERNEL_TYPE_RAW);
    ck_assert_msg(code.config == row->config, "%s is 0x%llx, ours 0x%llx", pairs[_i].libpfm4,
                  (unsigned long long)code.config, (unsigned long long)row->config);
}
END_TEST
/**
 * Both lists come from Intel's, years apart: nearly every name of libpfm4 must have our code. The few that differ
 * are unit masks Intel has changed since (L2_RQSTS of Haswell) or libpfm4 spells another way (TOPDOWN).
 */
START_TEST(libpfm4_agrees_on_nearly_every_intel_name)
{
    static const char *const cores[][2] = {
        {"hsw_ep", "intel-haswell"}, {"hsw", "intel-haswell"},        {"bdw_ep", "intel-broadwell"},
        {"bdw", "intel-broadwell"},  {"skx", "intel-skylake"},        {"skl", "intel-skylake"},
        {"icx", "intel-icelake"},    {"spr", "intel-sapphirerapids"},
    };
    const struct arch_family *f = arch_family_named(cores[_i][1]);
    int same = 0, different = 0;
    const struct arch_native *row;
    for (size_t at = 0; (row = arch_family_native_next(f, &at)) != NULL;) {
        char name[256];
        struct arch_native_code code;
        snprintf(name, sizeof(name), "%s::%s", cores[_i][0], arch_text(row->name));
        if (arch_native_encode(name, &code) == 0)
            *(code.config == row->config ? &same : &different) += 1;
    }
    ck_assert_msg(same >= 200 && different <= 10, "%s: %d names have one code, %d have two", cores[_i][0], same,
                  different);
}
END_TEST
#endif

enum { THREADS = 8, ROUNDS = 50 };

static void *encode_often(void *failures)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct arch_native_code code;
        bool right = arch_native_encode("perf::PAGE-FAULTS", &code) == 0 && code.config == KERNEL_SW_PAGE_FAULTS &&
                     arch_native_encode("no_such_event_anywhere", &code) == UPMU_E_NAME;
        *(int *)failures += !right;
    }
    return NULL;
}

START_TEST(first_use_by_many_threads_at_once)
{
    pthread_t threads[THREADS];
    int failures[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, encode_often, &failures[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(failures[i], 0);
    }
}
END_TEST

int main(void)
{
    void *libpfm4 = dlopen("libpfm.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (!libpfm4) {
        printf("skipped, because libpfm4 is not installed (apt-get install libpfm4)\n");
        return 77;
    }
    dlclose(libpfm4);
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* any CPU's names on any CPU */

    TCase *t = tcase_create("libpfm4");
    tcase_add_test(t, software_event_is_encoded_with_its_full_name);
    tcase_add_test(t, name_without_a_pmu_is_searched);
    tcase_add_test(t, unknown_name_carries_libpfm4s_reason);
    tcase_add_test(t, mode_modifiers_of_libpfm4_are_refused);
    tcase_add_test(t, first_use_by_many_threads_at_once);
#if defined(__x86_64__) || defined(__i386__)
    tcase_add_loop_test(t, libpfm4_and_our_table_give_one_code, 0, (int)(sizeof(pairs) / sizeof(pairs[0])));
    tcase_add_loop_test(t, libpfm4_agrees_on_nearly_every_intel_name, 0, 8);
#else
    printf("left out, because libpfm4 of this architecture does not support x86: comparison with the x86 tables\n");
#endif
    return run_suite("arch.libpfm4", t);
}
