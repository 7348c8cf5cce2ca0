/* SPDX-License-Identifier: MIT */
/*
 * Sets that open planned groups over the scripted kernel: twins, fillers, missing filters, requested groups.
 *
 * And codes that do not reach the hardware.
 */
#include <errno.h>
#include <string.h>

#include "core/set/counters.h"
#include "support/machine.h"
#include "unit/suite.h"

static const char *machines;

static const struct scripted_sample steady[] = {{100, 1000, 1000}};

/* A recorded machine on which every event counts 100. */
static void machine_counting(const char *name)
{
    machine_recorded(machines, name);
    scripted_counter(KERNEL_TYPE_HARDWARE, SCRIPTED_ANY, steady, 1);
    scripted_counter(KERNEL_TYPE_HW_CACHE, SCRIPTED_ANY, steady, 1);
    scripted_counter(KERNEL_TYPE_RAW, SCRIPTED_ANY, steady, 1);
    scripted_counter(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, steady, 1);
}

static int try_open(struct upmu_set **set, const char *events, uint32_t flags)
{
    struct upmu_set_opts opts = {.size = sizeof opts, .flags = flags};
    return upmu_set_open(set, events, &opts);
}

static struct upmu_set *opened(const char *events, uint32_t flags)
{
    struct upmu_set *set;
    int rc = try_open(&set, events, flags);
    ck_assert_msg(rc == 0, "%s: %s", events, upmu_error());
    return set;
}

static void refused(const char *events, uint32_t flags, int code, const char *words)
{
    struct upmu_set *set;
    int rc = try_open(&set, events, flags);
    ck_assert_msg(rc == code, "%s: %s instead of %s", events, upmu_strerror(rc), upmu_strerror(code));
    ck_assert_ptr_null(set);
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "%s", upmu_error());
    ck_assert_uint_eq(scripted_open_now(), 0);
}

/* The i-th event that was opened and stayed so. */
static const struct kernel_open *nth_open(size_t nth)
{
    const struct scripted_call *call;
    for (size_t i = 0; (call = scripted_nth(SCRIPTED_OPEN, i)) != NULL; i++)
        if (call->result >= 0 && nth-- == 0)
            return &call->req;
    return NULL;
}

static void value_is(struct upmu_set *set, size_t i, int status, uint64_t value)
{
    struct upmu_value v[PLAN_EVENTS_MAX];
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_gt(upmu_set_read(set, v, PLAN_EVENTS_MAX), (int)i);
    ck_assert_msg(v[i].status == status, "%s: %s", upmu_set_name(set, i), upmu_status_name(v[i].status));
    ck_assert_uint_eq(v[i].value, value);
}

START_TEST(an_event_asked_for_twice_is_opened_once_and_read_twice)
{
    machine_counting("intel_skx");
    struct upmu_set *set = opened("cycles,instructions,cycles", 0);
    ck_assert_uint_eq(scripted_open_now(), 2);
    value_is(set, 0, UPMU_EXACT, 100);
    value_is(set, 2, UPMU_EXACT, 100);
    ck_assert_int_eq(upmu_set_reset(set), 0);
    value_is(set, 2, UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    upmu_set_close(set);
    set = opened("cycles,cycles:u", 0); /* not the same */
    ck_assert_uint_eq(scripted_open_now(), 2);
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_misuse(), 0);
}
END_TEST

START_TEST(a_twin_of_what_is_refused_is_refused_too)
{
    machine_counting("intel_skx");
    scripted_open_error(KERNEL_TYPE_HARDWARE, 0, EBUSY);
    struct upmu_set *set = opened("cycles,cycles,instructions", 0);
    value_is(set, 0, UPMU_REFUSED, UPMU_NO_VALUE);
    value_is(set, 1, UPMU_REFUSED, UPMU_NO_VALUE);
    value_is(set, 2, UPMU_EXACT, 100);
    ck_assert_str_ne(upmu_set_reason(set, 1), "");
    upmu_set_close(set);
}
END_TEST

START_TEST(core3b_multiplexes_cycles_and_instructions_or_refuses_one_group)
{
    machine_counting("sunway_sw3231");
    scripted_rule(scripted_rule_core3b, NULL);
    scripted_place(scripted_place_core3b, NULL);
    struct upmu_set *set = opened("cycles,instructions", 0);
    ck_assert_uint_eq(upmu_set_group_count(set), 2);
    value_is(set, 0, UPMU_EXACT, 100);
    value_is(set, 1, UPMU_EXACT, 100);
    upmu_set_close(set);
    refused("cycles,instructions", UPMU_SET_TOGETHER, UPMU_E_FIT, "'cycles' and 'instructions'");
    set = opened("cycles,branch-misses,page-faults", UPMU_SET_TOGETHER);
    value_is(set, 1, UPMU_EXACT, 100);
    upmu_set_close(set);
}
END_TEST

START_TEST(core3b_groups_with_different_filters_are_filled_up)
{
    machine_counting("sunway_sw3231");
    scripted_rule(scripted_rule_core3b, NULL);
    struct upmu_set *set = opened("cycles:u,branch-misses:k", 0);
    ck_assert_uint_eq(upmu_set_group_count(set), 2);
    ck_assert_uint_eq(scripted_open_now(), 3);
    /* The group of cycles:u has counter 0; a code of counter 1 with its filter takes the other. */
    const struct kernel_open *cycles = nth_open(0), *filler = nth_open(2);
    ck_assert_uint_eq(cycles->exclude, UPMU_EXCLUDE_KERNEL);
    ck_assert_uint_eq(filler->exclude, UPMU_EXCLUDE_KERNEL);
    ck_assert_uint_eq(filler->type, KERNEL_TYPE_RAW);
    ck_assert_uint_eq(filler->config, 0x10b);
    ck_assert_int_eq(filler->group_fd, scripted_nth(SCRIPTED_OPEN, 0)->fd);
    value_is(set, 0, UPMU_EXACT, 100);
    value_is(set, 1, UPMU_EXACT, 100);
    ck_assert_uint_eq(upmu_set_event_count(set), 2);
    upmu_set_close(set);
    set = opened("cycles:u,branch-misses:u", 0); /* one filter: one group */
    ck_assert_uint_eq(scripted_open_now(), 2);
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_misuse(), 0);
}
END_TEST

START_TEST(a_group_that_could_not_be_filled_up_gives_no_number)
{
    machine_counting("sunway_sw3231");
    scripted_open_error(KERNEL_TYPE_RAW, 0x10b, EBUSY);
    struct upmu_set *set = opened("cycles:u,branch-misses:k", 0);
    value_is(set, 0, UPMU_REFUSED, UPMU_NO_VALUE);
    value_is(set, 1, UPMU_EXACT, 100);
    ck_assert_str_ne(upmu_set_reason(set, 0), "");
    upmu_set_close(set);
}
END_TEST

START_TEST(a_pmu_without_filters_counts_all_modes_and_reports_that)
{
    machine_counting("riscv_generic");
    scripted_rule(scripted_rule_no_filter, NULL);
    struct upmu_set *set = opened("cycles:u,instructions", 0);
    value_is(set, 0, UPMU_EXACT, 100);
    ck_assert_str_eq(upmu_set_name(set, 0), "cycles:uk");
    ck_assert_str_eq(upmu_set_name(set, 1), "instructions");
    upmu_set_close(set);
    refused("cycles:u", UPMU_SET_STRICT, UPMU_E_UNSUPPORTED, "no filter for user and kernel mode");
    ck_assert_uint_eq(scripted_open_now(), 0);
}
END_TEST

START_TEST(a_filter_is_not_given_up_where_the_event_is_what_is_missing)
{
    machine_counting("riscv_generic");
    scripted_open_error(KERNEL_TYPE_HARDWARE, 0, EINVAL);
    struct upmu_set *set = opened("cycles:u", 0);
    ck_assert_str_eq(upmu_set_name(set, 0), "cycles:u");
    ck_assert_str_ne(upmu_set_reason(set, 0), "");
    upmu_set_close(set);
}
END_TEST

/* Refuses a second event in a group. */
static int no_groups(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)req, (void)group, (void)arg;
    return n > 0 ? -EINVAL : 0;
}

START_TEST(together_means_that_the_kernel_agrees)
{
    machine_counting("amd_zen3");
    scripted_rule(no_groups, NULL);
    struct upmu_set *set = opened("cycles,instructions", 0);
    ck_assert_uint_eq(upmu_set_group_count(set), 2);
    upmu_set_close(set);
    refused("cycles,instructions", UPMU_SET_TOGETHER, UPMU_E_FIT, "'instructions' cannot be counted at the same time");
    ck_assert_uint_eq(scripted_misuse(), 0);
}
END_TEST

static void code_is(const char *name, int rc, const char *words)
{
    struct event e;
    ck_assert_msg(event_resolve(name, &e) == rc, "%s", name);
    ck_assert_msg(rc == 0 || strstr(upmu_error(), words) != NULL, "%s", upmu_error());
}

START_TEST(raw_codes_that_the_kernel_would_cut_are_refused)
{
    static const struct {
        const char *kernel;
        int rc;
    } kernels[] = {
        {"4.19.190-12.lnd\n", UPMU_E_UNSUPPORTED},
        {"6.1.20-1-loong64\n", UPMU_E_UNSUPPORTED},
        {"6.1.120-1-loong64\n", 0},
        {"6.2.16\n", UPMU_E_UNSUPPORTED},
        {"6.4.0-rc7\n", 0},
        {"6.12.6-loong64\n", 0},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        machine_counting("loongarch_3a5000");
        scripted_file("/proc/sys/kernel/osrelease", kernels[i].kernel);
        machine_forget();
        code_is("r1a8", kernels[i].rc, "would count 0xa8 instead of 0x1a8; newer kernels");
        code_is("ra8", 0, "");
        code_is("r1a08", UPMU_E_UNSUPPORTED, "instead of 0x1a08");
    }
    machine_counting("loongson3a1000");
    code_is("r89", 0, "");
    code_is("r189", UPMU_E_UNSUPPORTED, "would count 0x89 instead of 0x189");
    machine_counting("intel_skx");
    code_is("r15301c2", UPMU_E_UNSUPPORTED, "bits"); /* the kernel owns user, kernel and enable */
}
END_TEST

/* A kernel's version does not show whether its vendor added the table of this core: only the kernel does. */
START_TEST(an_old_kernel_is_asked_for_the_table_of_its_core)
{
    static const char *const chips[] = {"loongson3a3000_loongnix", "loongson3b4000_vendor"};
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        machine_counting(chips[i]);
        scripted_file("/proc/sys/kernel/osrelease", "4.19.0-19-loongson-3\n");
        machine_forget();
        code_is("cycles", 0, "");
        code_is("l1i-miss", 0, "");
        code_is("r81", 0, "");
        scripted_open_error(KERNEL_TYPE_HARDWARE, 3, EOPNOTSUPP);
        machine_forget();
        code_is("cycles", UPMU_E_UNSUPPORTED, "mistakes this CPU for another");
        code_is("r81", UPMU_E_UNSUPPORTED, "only the bits 0x7f");
        code_is("r01", 0, "");
        scripted_open_error(KERNEL_TYPE_HARDWARE, 3, EACCES);
        machine_forget();
        code_is("cycles", UPMU_E_UNSUPPORTED, "could not be checked (EACCES)");
        /* Newer kernels are not asked, and one without a version is believed unless it refuses. */
        scripted_file("/proc/sys/kernel/osrelease", "5.10.0\n");
        machine_forget();
        code_is("cycles", 0, "");
        scripted_file_error("/proc/sys/kernel/osrelease", ENOENT);
        machine_forget();
        code_is("cycles", 0, "");
        scripted_open_error(KERNEL_TYPE_HARDWARE, 3, EOPNOTSUPP);
        machine_forget();
        code_is("cycles", UPMU_E_UNSUPPORTED, "mistakes this CPU for another");
        ck_assert_uint_eq(scripted_open_now(), 0);
    }
}
END_TEST

START_TEST(raw_codes_are_planned_by_their_rules)
{
    machine_counting("loongson3a1000");
    struct upmu_set *set = opened("r00,r01,r80", 0); /* two of one bank, one of the other */
    ck_assert_uint_eq(upmu_set_group_count(set), 2);
    upmu_set_close(set);
    machine_counting("sunway_sw831");
    set = opened("r008,r10b,r00c", 0);
    ck_assert_uint_eq(upmu_set_group_count(set), 2);
    upmu_set_close(set);
    machine_counting("amd_zen3");
    set = opened("rf03,r803,r1003,rc0,r76", 0); /* three pairs fill it */
    ck_assert_uint_eq(upmu_set_group_count(set), 2);
    upmu_set_close(set);
}
END_TEST

static void groups_are(const char *events, size_t n)
{
    struct upmu_set *set = opened(events, 0);
    ck_assert_msg(upmu_set_group_count(set) == n, "%s: %zu groups instead of %zu", events, upmu_set_group_count(set),
                  n);
    upmu_set_close(set);
}

START_TEST(the_watchdogs_counter_is_left_to_it)
{
    machine_counting("amd_zen3");
    scripted_file("/proc/sys/kernel/nmi_watchdog", "0\n");
    groups_are("cycles,instructions,branches,branch-misses,rc1,r41", 1);
    scripted_file("/proc/sys/kernel/nmi_watchdog", "1\n");
    groups_are("cycles,instructions,branches,branch-misses,rc1,r41", 2);
    groups_are("cycles,instructions,branches,branch-misses,rc1", 1);
    machine_counting("intel_skx"); /* its cycles are on the fixed counter where that is free */
    scripted_file("/proc/sys/kernel/nmi_watchdog", "1\n");
    groups_are("instructions,branches,branch-misses,r0151,rb0", 1);
    groups_are("cycles,instructions,branches,branch-misses,r0151,rb0", 2);
}
END_TEST

START_TEST(a_guest_without_perfctr_core_has_four_counters)
{
    char text[8192], path[512];
    snprintf(path, sizeof path, "%s/amd_zen3/proc/cpuinfo", machines);
    FILE *f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    char *flag = strstr(text, "perfctr_core");
    ck_assert_ptr_nonnull(flag);
    memcpy(flag, "perfctr_gone", strlen("perfctr_core"));
    machine_counting("amd_zen3");
    groups_are("cycles,instructions,branches,branch-misses,rc1", 1);
    scripted_file("/proc/cpuinfo", text);
    machine_forget();
    groups_are("cycles,instructions,branches,branch-misses,rc1", 2);
}
END_TEST

int main(int argc, char **argv)
{
    machines = argc > 1 ? argv[1] : "tests/machines";
    TCase *cases = tcase_create("plan counts");
    tcase_add_test(cases, an_event_asked_for_twice_is_opened_once_and_read_twice);
    tcase_add_test(cases, a_twin_of_what_is_refused_is_refused_too);
    tcase_add_test(cases, core3b_multiplexes_cycles_and_instructions_or_refuses_one_group);
    tcase_add_test(cases, core3b_groups_with_different_filters_are_filled_up);
    tcase_add_test(cases, a_group_that_could_not_be_filled_up_gives_no_number);
    tcase_add_test(cases, a_pmu_without_filters_counts_all_modes_and_reports_that);
    tcase_add_test(cases, a_filter_is_not_given_up_where_the_event_is_what_is_missing);
    tcase_add_test(cases, together_means_that_the_kernel_agrees);
    tcase_add_test(cases, raw_codes_that_the_kernel_would_cut_are_refused);
    tcase_add_test(cases, an_old_kernel_is_asked_for_the_table_of_its_core);
    tcase_add_test(cases, raw_codes_are_planned_by_their_rules);
    tcase_add_test(cases, the_watchdogs_counter_is_left_to_it);
    tcase_add_test(cases, a_guest_without_perfctr_core_has_four_counters);
    return run_suite("plan_counts", cases);
}
