/* SPDX-License-Identifier: MIT */
/*
 * The models follow the documented rules of the drivers: what opens, what is refused, fits, counts.
 *
 * The models are called as the library would call a kernel. No part of the library is involved.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "models/machines.h"
#include "unit/suite.h"

static const char *recordings;

enum { RAW = KERNEL_TYPE_RAW, HW = KERNEL_TYPE_HARDWARE, CACHE = KERNEL_TYPE_HW_CACHE, SOFT = KERNEL_TYPE_SOFTWARE };
enum { CYCLES = 0, INSTRUCTIONS = 1, REFERENCES = 2, MISSES = 3, BRANCHES = 4, BRANCH_MISSES = 5, BUS = 6, REF = 9 };
enum { USER_ONLY = UPMU_EXCLUDE_KERNEL, NOTHING_LEFT = UPMU_EXCLUDE_KERNEL | UPMU_EXCLUDE_USER };
enum { ALONE = -1, MS = 1000 };

static void on(const char *name)
{
    for (size_t i = 0; i < model_n_machines; i++)
        if (strcmp(model_machines[i].name, name) == 0) {
            model_begin(&model_machines[i], recordings, MODEL_STEADY);
            return;
        }
    ck_abort_msg("no machine '%s'", name);
}

static int open_with(uint32_t type, uint64_t config, uint64_t config1, uint32_t exclude, int leader)
{
    const struct kernel_open req = {
        .type = type,
        .config = config,
        .config1 = config1,
        .exclude = exclude,
        .cpu = -1,
        .group_fd = leader,
    };
    return model_kernel()->open(&req);
}

static int open_event(uint32_t type, uint64_t config, uint32_t exclude, int leader)
{
    return open_with(type, config, 0, exclude, leader);
}

static int opened(uint32_t type, uint64_t config, int leader)
{
    int fd = open_event(type, config, 0, leader);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static void refused(uint32_t type, uint64_t config, int leader, int err)
{
    ck_assert_int_eq(open_event(type, config, 0, leader), -err);
}

struct one {
    uint64_t value, enabled, running, id;
};

static struct one read_one(int fd)
{
    struct one now;
    ck_assert_int_eq(model_kernel()->read(fd, &now, sizeof now), sizeof now);
    return now;
}

static void counts(int fd, uint64_t code, unsigned modes)
{
    struct one now = read_one(fd);
    ck_assert_uint_eq(now.value, load_count(MODEL_STEADY, code, modes, model_now()));
    ck_assert_uint_eq(now.running, now.enabled);
    ck_assert_uint_eq(now.enabled, model_now() * 1000);
}

static void never_runs(int fd)
{
    struct one now = read_one(fd);
    ck_assert_uint_eq(now.value, 0);
    ck_assert_uint_eq(now.running, 0);
    ck_assert_uint_eq(now.enabled, model_now() * 1000);
}

/* Healthy times and a 0. */
static void counts_zero(int fd)
{
    struct one now = read_one(fd);
    ck_assert_uint_eq(now.value, 0);
    ck_assert_uint_eq(now.running, model_now() * 1000);
}

/* What is counted for an event alone is this machine event. */
static void becomes(uint32_t type, uint64_t config, uint64_t code)
{
    model_rewind(MODEL_STEADY);
    int fd = opened(type, config, ALONE);
    model_run(10 * MS, 0);
    counts(fd, code, MODEL_ALL_MODES);
    model_kernel()->close(fd);
    model_rewind(MODEL_STEADY);
}

/* `n` events of a code each fill a group; one more does not get in. */
static void group_of_at_most(unsigned n, uint32_t type, uint64_t first)
{
    int leader = opened(type, first, ALONE);
    for (unsigned i = 1; i < n; i++)
        opened(type, first + i, leader);
    refused(type, first + n, leader, EINVAL);
}

/* ------------------------------------------------------------------------------------------------ Loongson */

START_TEST(gs464_has_an_even_and_an_odd_bank)
{
    on("3A1000, vendor kernel");
    becomes(HW, INSTRUCTIONS, 0x80);
    becomes(RAW, 0x1ac, 0xac);
    refused(HW, MISSES, ALONE, EOPNOTSUPP);
    int cycles = opened(HW, CYCLES, ALONE);
    refused(HW, BRANCHES, cycles, EINVAL);
    int instructions = opened(HW, INSTRUCTIONS, cycles);
    model_run(10 * MS, 0);
    counts(cycles, 0x00, MODEL_ALL_MODES);
    counts(instructions, 0x80, MODEL_ALL_MODES);
}
END_TEST

START_TEST(gs464e_has_its_raw_codes)
{
    on("3A3000");
    becomes(HW, CYCLES, 0x80);
    becomes(RAW, 0x156, 0x156);
    becomes(RAW, 0x556, 0x156); /* eleven bits: the uppermost is dropped */
    refused(RAW, 0, ALONE, EOPNOTSUPP);
    refused(RAW, 28, ALONE, EOPNOTSUPP);
    refused(RAW, 574, ALONE, EOPNOTSUPP);
    refused(HW, REFERENCES, ALONE, EOPNOTSUPP);
    refused(CACHE, 0x10000, ALONE, EOPNOTSUPP);
    group_of_at_most(4, RAW, 1);
}
END_TEST

START_TEST(mips_group_check_chokes_on_software_siblings)
{
    on("3A4000");
    int software = opened(SOFT, KERNEL_SW_TASK_CLOCK, ALONE);
    refused(HW, CYCLES, software, EINVAL);
    int cycles = opened(HW, CYCLES, ALONE);
    opened(SOFT, KERNEL_SW_PAGE_FAULTS, cycles); /* the driver is not asked */
    refused(HW, INSTRUCTIONS, cycles, EINVAL);
}
END_TEST

START_TEST(kernels_with_seven_bits_and_a_bank_count_something_else)
{
    on("3A3000, 7+1 bits");
    becomes(HW, CYCLES, 0x00);
    becomes(HW, INSTRUCTIONS, 0x00);
    becomes(RAW, 0x156, 0x56);
    becomes(RAW, 0x81, 0x01);
    int even = opened(RAW, 0x01, ALONE);
    opened(RAW, 0x02, even);
    refused(RAW, 0x03, even, EINVAL);
    opened(RAW, 0x83, even);
}
END_TEST

START_TEST(loongson_2k_opens_raw_events_and_never_counts_them)
{
    on("2K1000");
    int raw = opened(RAW, 0x01, ALONE);
    refused(RAW, 0x02, raw, EINVAL);
    model_run(50 * MS, 0);
    never_runs(raw);
    ck_assert_uint_eq(model_oopses(), 0);
    ck_assert_int_lt(open_event(HW, CYCLES, 0, ALONE), 0);
    ck_assert_uint_eq(model_oopses(), 1);
}
END_TEST

START_TEST(loongarch_kept_eight_bits_and_counted_software_siblings)
{
    on("3A5000");
    becomes(RAW, 0x1bb, 0x1bb);
    becomes(CACHE, 0x10003, 0x3c);
    refused(HW, BUS, ALONE, EOPNOTSUPP);
    int leader = opened(SOFT, KERNEL_SW_TASK_CLOCK, ALONE);
    for (unsigned i = 0; i < 4; i++)
        opened(RAW, i, leader);
    refused(RAW, 4, leader, EINVAL);

    on("3A5000, vendor kernel");
    becomes(RAW, 0x1bb, 0xbb);
    leader = opened(SOFT, KERNEL_SW_TASK_CLOCK, ALONE);
    for (unsigned i = 0; i < 3; i++)
        opened(RAW, i, leader);
    refused(RAW, 3, leader, EINVAL);
}
END_TEST

/* -------------------------------------------------------------------------------------------------- Sunway */

START_TEST(core3b_opens_groups_that_never_run)
{
    on("SW3231");
    int cycles = opened(HW, CYCLES, ALONE);
    int instructions = opened(HW, INSTRUCTIONS, cycles);
    int misses = opened(HW, BRANCH_MISSES, ALONE);
    model_run(100 * MS, 0);
    never_runs(cycles);
    never_runs(instructions);
    /* The impossible group is first every other turn, and bars those after it. */
    struct one now = read_one(misses);
    ck_assert_uint_gt(now.running, 0);
    ck_assert_uint_lt(now.running, now.enabled);
}
END_TEST

START_TEST(core3b_checks_codes_and_modes)
{
    on("SW3231");
    becomes(HW, MISSES, 0x110);
    becomes(RAW, 0x13d, 0x13d);
    refused(RAW, 0x010, ALONE, EINVAL);
    refused(RAW, 0x13e, ALONE, EINVAL);
    refused(HW, BUS, ALONE, EINVAL);
    refused(CACHE, 0x00002, ALONE, ENOENT);
    ck_assert_int_eq(open_event(HW, CYCLES, UPMU_EXCLUDE_HV, ALONE), -EINVAL);
    ck_assert_int_eq(open_event(HW, CYCLES, NOTHING_LEFT, ALONE), -EOPNOTSUPP);
    on("SW831, older openEuler");
    int fd = open_event(HW, CYCLES, NOTHING_LEFT, ALONE);
    model_run(10 * MS, 0);
    counts(fd, 0x008, MODEL_USER);
}
END_TEST

START_TEST(core3b_counts_all_in_the_modes_of_the_last_event)
{
    on("SW3231");
    int all = opened(HW, CYCLES, ALONE);
    model_run(10 * MS, 0);
    counts(all, 0x008, MODEL_ALL_MODES);
    int user = open_event(HW, BRANCH_MISSES, USER_ONLY, ALONE);
    uint64_t before = read_one(all).value;
    model_run(10 * MS, 0);
    ck_assert_uint_eq(read_one(all).value - before, load_count(MODEL_STEADY, 0x008, MODEL_USER, 10 * MS));
    ck_assert_uint_eq(read_one(user).value, load_count(MODEL_STEADY, 0x10b, MODEL_USER, 10 * MS));
}
END_TEST

START_TEST(core4_ignores_modes_and_has_five_slots)
{
    on("Sunway C4");
    becomes(RAW, 0x431, 0x31);
    refused(RAW, 0x531, ALONE, EINVAL);
    refused(RAW, 0x8e, ALONE, EINVAL);
    ck_assert_int_eq(open_event(HW, CYCLES, UPMU_EXCLUDE_HV, ALONE), -EINVAL);
    int leader = open_event(HW, CYCLES, USER_ONLY, ALONE);
    for (unsigned i = 0; i < 5; i++)
        opened(RAW, 0x10 + i, leader); /* one too many, without an error */
    model_run(10 * MS, 0);
    never_runs(leader);
    model_kernel()->close(leader + 5);
    model_run(10 * MS, 0);
    ck_assert_uint_eq(read_one(leader).value, load_count(MODEL_STEADY, 0x30, MODEL_ALL_MODES, 10 * MS));
}
END_TEST

START_TEST(core4_has_one_register_for_instructions)
{
    on("Sunway C4");
    int one = opened(HW, INSTRUCTIONS, ALONE), other = opened(RAW, 0x03, ALONE);
    model_run(10 * MS, 0);
    uint64_t truth = load_count(MODEL_STEADY, 0x03, MODEL_ALL_MODES, model_now());
    ck_assert_uint_ne(read_one(one).value, truth);
    ck_assert_uint_ne(read_one(other).value, truth);
}
END_TEST

/* ----------------------------------------------------------------------------------------------------- Arm */

START_TEST(armv8_checks_generic_ids_and_not_raw_codes)
{
    on("D2000, required events");
    becomes(HW, CYCLES, 0x11);
    becomes(8, 0x11, 0x11);
    becomes(RAW, 0x08, 0x08);
    refused(HW, BRANCHES, ALONE, ENOENT);
    refused(CACHE, 0x10003, ALONE, ENOENT);
    int absent = opened(8, 0x05, ALONE);
    model_run(10 * MS, 0);
    counts_zero(absent);
    on("D3000");
    becomes(HW, BRANCHES, 0x21);
}
END_TEST

START_TEST(armv8_has_six_counters_and_one_for_cycles)
{
    on("D3000");
    int leader = opened(HW, CYCLES, ALONE);
    for (unsigned i = 1; i <= 6; i++)
        opened(8, i, leader);
    refused(8, 7, leader, EINVAL);
    on("D3000");
    group_of_at_most(6, 8, 1);
}
END_TEST

START_TEST(armv8_grants_user_reads_on_request)
{
    on("D3000");
    struct kernel_page_count now;
    const void *page;
    int plain = opened(8, 0x08, ALONE), asking = open_with(8, 0x08, 2, 0, ALONE);
    ck_assert_int_eq(open_with(8, 0x08, 3, 0, ALONE), -EOPNOTSUPP);
    ck_assert_int_eq(model_kernel()->map(plain, &page), 0);
    model_run(1000 * MS, 0);
    ck_assert_int_eq(model_kernel()->page_read(page, NULL, &now), -EAGAIN);
    model_kernel()->unmap(page);
    ck_assert_int_eq(model_kernel()->map(asking, &page), 0);
    ck_assert_int_eq(model_kernel()->page_read(page, NULL, &now), 0);
    ck_assert_uint_eq(now.value, read_one(asking).value);
    model_kernel()->unmap(page);
}
END_TEST

static int on_apple(uint64_t code, int leader)
{
    return open_event(RAW, code, UPMU_EXCLUDE_GUEST, leader);
}

START_TEST(apple_gives_each_code_the_lowest_of_its_own_counters)
{
    on("Apple M2, the fast cores");
    refused(HW, CYCLES, ALONE, EOPNOTSUPP); /* guests are not left out */
    ck_assert_int_eq(open_event(HW, BRANCHES, UPMU_EXCLUDE_GUEST, ALONE), -ENOENT);
    ck_assert_int_eq(open_event(CACHE, 0x0, UPMU_EXCLUDE_GUEST, ALONE), -ENOENT);
    int branches = on_apple(0x8d, ALONE);
    ck_assert_int_ge(on_apple(0xcb, branches), 0);
    ck_assert_int_ge(on_apple(0x94, branches), 0);
    ck_assert_int_eq(on_apple(0x8f, branches), -EINVAL); /* counters 5 to 7 are taken */
    ck_assert_int_eq(on_apple(0x97, branches), -EINVAL); /* counter 7 alone */
    ck_assert_int_ge(on_apple(0x8c, branches), 0);       /* counter 1 */
    ck_assert_int_ge(on_apple(0x02, branches), 0);       /* counter 0 */
    int any = on_apple(0xa0, ALONE);
    for (uint64_t code = 0xa1; code < 0xa4; code++)
        ck_assert_int_ge(on_apple(code, any), 0);
    ck_assert_int_ge(on_apple(0xbf, any), 0); /* counters 2 to 5 are taken: 6, */
    ck_assert_int_ge(on_apple(0xc0, any), 0); /* and 7 */
    ck_assert_int_eq(on_apple(0xc1, any), -EINVAL);
    ck_assert_int_ge(on_apple(0xa8, any), 0); /* 8 and 9 are free */
    ck_assert_int_ge(on_apple(0xb1, any), 0);
    ck_assert_int_eq(on_apple(0xb2, any), -EINVAL);
}
END_TEST

START_TEST(each_kind_of_core_has_a_pmu_of_its_own)
{
    on("E2000Q");
    int little = opened(8, 0x11, ALONE), big = opened(9, 0x11, ALONE);
    refused(9, 0x08, little, EINVAL);
    model_run(10 * MS, 1);
    never_runs(little);
    counts(big, 0x11, MODEL_ALL_MODES);
    model_run(10 * MS, 0);
    ck_assert_uint_eq(read_one(little).running, 10 * MS * 1000);
    ck_assert_uint_eq(read_one(big).running, 10 * MS * 1000);
}
END_TEST

/* ----------------------------------------------------------------------------------------------------- x86 */

START_TEST(intel_has_fixed_counters_and_two_extra_registers)
{
    on("Skylake");
    becomes(HW, REF, 0x0300);
    becomes(RAW, 0x4100c5, 0x00c5); /* the bits that are the kernel's own */
    refused(HW, 7, ALONE, ENOENT);
    refused(HW, 10, ALONE, EINVAL);
    int leader = opened(HW, REF, ALONE);
    refused(HW, REF, leader, EINVAL);
    const uint32_t more[] = {CYCLES, INSTRUCTIONS, BRANCHES, BRANCH_MISSES, MISSES, REFERENCES};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        opened(HW, more[i], leader);
    refused(HW, BUS, leader, EINVAL);
    leader = opened(CACHE, 0x00002, ALONE);
    opened(CACHE, 0x10002, leader);
    opened(CACHE, 0x10002, leader); /* the same request */
    refused(CACHE, 0x00102, leader, EINVAL);
}
END_TEST

/* The same code in a group as often as it fits, then once more. */
static void fits(uint32_t type, uint64_t config, unsigned times)
{
    int leader = opened(type, config, ALONE);
    for (unsigned i = 1; i < times; i++)
        opened(type, config, leader);
    refused(type, config, leader, EINVAL);
}

START_TEST(intel_performance_cores_have_eight_counters_and_four_for_memory)
{
    on("Granite Rapids");
    becomes(CACHE, 0x10003, 0x0e12);
    refused(CACHE, 0x00001, ALONE, ENOENT);
    fits(RAW, 0x01b1, 8);
    fits(RAW, 0x412e, 8);
    fits(RAW, 0x00c0, 9);
    fits(RAW, 0x003c, 9);
    fits(RAW, 0x81d0, 4);
    fits(RAW, 0x0151, 4);
    fits(RAW, 0x01a3, 4);
    fits(RAW, 0x04a3, 8);
    fits(RAW, 0x0300, 1);
    fits(RAW, 0x0400, 1);
    int leader = open_with(RAW, 0x012a, 0x10001, 0, ALONE);
    ck_assert_int_ge(open_with(RAW, 0x012b, 0x3fbfc00001, 0, leader), 0);
    ck_assert_int_eq(open_with(RAW, 0x012a, 0x10002, 0, leader), -EINVAL);
    ck_assert_int_eq(open_with(RAW, 0x012a, UINT64_C(0x9e7fa000001), 0, ALONE), -EINVAL);
}
END_TEST

START_TEST(intel_hybrids_have_a_pmu_for_each_core_type)
{
    enum { ATOM = 10 };
    on("Alder Lake");
    fits(RAW, 0x81d0, 4);
    fits(ATOM, 0x81d0, 6);
    fits(ATOM, 0x003c, 7);
    int leader = opened(RAW, 0x00c0, ALONE);
    refused(ATOM, 0x00c0, leader, EINVAL);
    opened(HW, UINT64_C(10) << 32, ALONE);
    refused(HW, UINT64_C(11) << 32, ALONE, ENOENT);
    on("Lunar Lake");
    fits(RAW, 0x0151, 10);
    fits(RAW, 0x81d0, 4);
    fits(RAW, 0x01b1, 1);
    fits(ATOM, 0x019c, 9);
    fits(ATOM, 0x00c5, 8);
    ck_assert_int_ge(open_with(RAW, 0x012a, UINT64_C(0x9e7fa000001), 0, ALONE), 0);
    ck_assert_int_ge(open_with(ATOM, 0x01b7, UINT64_C(0x13fbfc00001), 0, ALONE), 0);
}
END_TEST

START_TEST(the_watchdog_has_its_counter_first)
{
    on("Zen 3, watchdog");
    int leader = opened(RAW, 0xc0, ALONE);
    for (unsigned i = 1; i < 6; i++)
        opened(RAW, 0xc0 + i, leader); /* all six counters, and the group check accepts them */
    model_run(10 * MS, 0);
    never_runs(leader);
    model_kernel()->close(leader + 5);
    uint64_t lost = read_one(leader).enabled;
    model_run(10 * MS, 0);
    ck_assert_uint_eq(read_one(leader).running, read_one(leader).enabled - lost);
}
END_TEST

START_TEST(zen_counts_flops_on_pairs_of_counters)
{
    on("Zen 3");
    int leader = opened(RAW, 0xff03, ALONE);
    opened(RAW, 0x8003, leader);
    opened(HW, CYCLES, leader);
    opened(HW, INSTRUCTIONS, leader);
    refused(HW, BRANCHES, leader, EINVAL);
    refused(RAW, 0x4003, leader, EINVAL);
    group_of_at_most(6, RAW, 0xc0);
    group_of_at_most(6, RAW, UINT64_C(0x100000003)); /* another event, with 3 as its lower byte */
}
END_TEST

START_TEST(zen_maps_stalls_by_the_kernel)
{
    on("Zen 3");
    becomes(HW, 7, 0xa9);
    refused(HW, 8, ALONE, ENOENT);
    refused(HW, REF, ALONE, ENOENT);
    on("Zen 3, older kernel");
    int stalls = opened(HW, 8, ALONE);
    model_run(10 * MS, 0);
    counts_zero(stalls);
    on("Zen 4");
    becomes(HW, REF, UINT64_C(0x100000120));
}
END_TEST

START_TEST(hygon_lost_its_generic_events)
{
    on("Hygon, older kernel");
    becomes(HW, MISSES, 0x0964);
    on("Hygon");
    becomes(HW, CYCLES, 0x76);
    becomes(HW, MISSES, 0x077e);
    becomes(HW, 8, 0xd1);
    becomes(RAW, 0x0964, 0x0964);
}
END_TEST

START_TEST(zhaoxin_differs_by_model)
{
    on("ZX-C");
    becomes(HW, CYCLES, 0x82);
    refused(HW, INSTRUCTIONS, ALONE, ENOENT);
    on("ZX-D");
    becomes(HW, BRANCHES, 0x0700);
    on("ZX-E");
    becomes(HW, BRANCHES, 0x28);
    becomes(HW, REFERENCES, 0x0515);
    on("KX-7000");
    becomes(HW, REFERENCES, 0x051a);
    refused(HW, MISSES, ALONE, ENOENT);
    int leader = opened(HW, CYCLES, ALONE);
    const uint32_t more[] = {INSTRUCTIONS, BUS, REFERENCES, BRANCHES, BRANCH_MISSES, 7};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        opened(HW, more[i], leader);
    refused(HW, 8, leader, EINVAL);
}
END_TEST

/* -------------------------------------------------------------------------------------------------- RISC-V */

START_TEST(riscv_counts_an_index_once)
{
    on("RISC-V");
    int first = opened(HW, INSTRUCTIONS, ALONE), second = opened(HW, INSTRUCTIONS, ALONE);
    refused(HW, BRANCHES, ALONE, ENOENT);
    model_run(10 * MS, 0);
    counts(first, 0x2, MODEL_ALL_MODES);
    counts_zero(second);
}
END_TEST

START_TEST(riscv_without_sscofpmf_takes_no_exclude_bit)
{
    on("RISC-V, no filter");
    for (uint32_t bit = 1; bit <= UPMU_EXCLUDE_HV; bit <<= 1)
        ck_assert_int_eq(open_event(HW, CYCLES, bit, ALONE), -EINVAL);
    becomes(HW, CYCLES, 0x1);
    becomes(CACHE, 0x10003, 0x10019);
    on("RISC-V, legacy");
    refused(CACHE, 0x10003, ALONE, EOPNOTSUPP);
    ck_assert_int_eq(open_event(HW, CYCLES, USER_ONLY, ALONE), -EINVAL);
    int first = opened(HW, CYCLES, ALONE), second = opened(HW, CYCLES, ALONE);
    model_run(10 * MS, 0);
    counts(first, 0x1, MODEL_ALL_MODES);
    counts(second, 0x1, MODEL_ALL_MODES);
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- time */

START_TEST(groups_are_multiplexed)
{
    enum { EVENTS = 8, COUNTERS = 4, RUN = 80 * MS };
    int fd[EVENTS];
    on("3A5000");
    for (unsigned i = 0; i < EVENTS; i++)
        fd[i] = opened(RAW, i, ALONE);
    int software = opened(SOFT, KERNEL_SW_TASK_CLOCK, ALONE);
    model_run(RUN, 0);
    uint64_t together = 0;
    for (unsigned i = 0; i < EVENTS; i++) {
        struct one now = read_one(fd[i]);
        ck_assert_uint_gt(now.running, 0);
        ck_assert_uint_eq(now.value, load_count(MODEL_STEADY, i, MODEL_ALL_MODES, now.running / 1000));
        together += now.running;
    }
    ck_assert_uint_eq(together, (uint64_t)COUNTERS * RUN * 1000);
    ck_assert_uint_eq(read_one(software).value, (uint64_t)RUN * 1000);
}
END_TEST

START_TEST(counters_run_over_and_nothing_is_lost)
{
    enum { TEN_SECONDS = 10000 * MS };
    const char *const machines[] = {"3A4000", "3A3000", "3A5000", "D3000"}; /* 32, 48, 64 and 32 bits */
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct model_code code;
        on(machines[i]);
        int fd = opened(HW, INSTRUCTIONS, ALONE);
        model_run(TEN_SECONDS, 0);
        for (size_t m = 0; m < model_n_machines; m++)
            if (strcmp(model_machines[m].name, machines[i]) == 0)
                ck_assert_int_eq(model_decode(&model_machines[m].pmus[0],
                                              &(struct kernel_open){.type = HW, .config = INSTRUCTIONS}, &code),
                                 0);
        counts(fd, code.code, MODEL_ALL_MODES);
        ck_assert_uint_gt(read_one(fd).value, UINT32_MAX);
    }
}
END_TEST

START_TEST(an_unwatched_counter_begins_again)
{
    static const struct model_driver narrow = {
        .name = "narrow", .counters = 1, .width = 32, .raw_mask = UINT64_MAX, .no_interrupt = true};
    static const struct model_machine machine = {
        .name = "narrow", .cpuinfo = "processor\t: 0\n", .release = "1", .pmus = {{"cpu", RAW, &narrow}}};
    model_begin(&machine, recordings, MODEL_STEADY);
    int fd = opened(RAW, 1, ALONE);
    model_run(10000 * MS, 0);
    uint64_t truth = load_count(MODEL_STEADY, 1, MODEL_ALL_MODES, model_now());
    ck_assert_uint_gt(truth, UINT32_MAX);
    ck_assert_uint_eq(read_one(fd).value, truth & UINT32_MAX);
}
END_TEST

START_TEST(children_count_for_an_inheriting_set)
{
    on("3A5000");
    struct kernel_open req = {.type = HW, .config = CYCLES, .cpu = -1, .group_fd = -1, .inherit = true};
    int heir = model_kernel()->open(&req), own = opened(HW, CYCLES, ALONE);
    model_run(10 * MS, 0);
    model_run_child(5 * MS, 0);
    ck_assert_uint_eq(read_one(own).value, load_count(MODEL_STEADY, 0, MODEL_ALL_MODES, 10 * MS));
    ck_assert_uint_eq(read_one(heir).value, load_count(MODEL_STEADY, 0, MODEL_ALL_MODES, 10 * MS) +
                                                load_count(MODEL_STEADY, 0, MODEL_ALL_MODES, 5 * MS));
    ck_assert_uint_eq(read_one(heir).enabled, 15 * MS * 1000);
}
END_TEST

START_TEST(stopped_events_do_not_advance)
{
    on("3A5000");
    int fd = opened(HW, CYCLES, ALONE);
    model_run(10 * MS, 0);
    struct one before = read_one(fd);
    ck_assert_int_eq(model_kernel()->control(fd, KERNEL_DISABLE), 0);
    model_run(10 * MS, 0);
    struct one after = read_one(fd);
    ck_assert_uint_eq(after.value, before.value);
    ck_assert_uint_eq(after.enabled, before.enabled);
    ck_assert_int_eq(model_kernel()->control(fd, KERNEL_ENABLE), 0);
    model_run(10 * MS, 0);
    ck_assert_uint_eq(read_one(fd).enabled, 2 * before.enabled);
}
END_TEST

START_TEST(different_codes_have_different_truths)
{
    for (uint64_t code = 0; code < 0x400; code++)
        ck_assert_uint_ne(load_count(MODEL_STEADY, code, MODEL_USER, 1) + 0,
                          load_count(MODEL_STEADY, code, MODEL_ALL_MODES, 1));
    ck_assert_uint_ne(load_count(MODEL_STEADY, 0x80, MODEL_USER, 1), load_count(MODEL_STEADY, 0x81, MODEL_USER, 1));
    ck_assert_uint_eq(load_count(MODEL_PHASES, 7, MODEL_USER, 37000 * 3),
                      6 * load_count(MODEL_STEADY, 7, MODEL_USER, 37000));
}
END_TEST

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s RECORDINGS\n", argv[0]);
        return EXIT_FAILURE;
    }
    recordings = argv[1];
    TCase *cases = tcase_create("rules");
    tcase_add_test(cases, gs464_has_an_even_and_an_odd_bank);
    tcase_add_test(cases, gs464e_has_its_raw_codes);
    tcase_add_test(cases, mips_group_check_chokes_on_software_siblings);
    tcase_add_test(cases, kernels_with_seven_bits_and_a_bank_count_something_else);
    tcase_add_test(cases, loongson_2k_opens_raw_events_and_never_counts_them);
    tcase_add_test(cases, loongarch_kept_eight_bits_and_counted_software_siblings);
    tcase_add_test(cases, core3b_opens_groups_that_never_run);
    tcase_add_test(cases, core3b_checks_codes_and_modes);
    tcase_add_test(cases, core3b_counts_all_in_the_modes_of_the_last_event);
    tcase_add_test(cases, core4_ignores_modes_and_has_five_slots);
    tcase_add_test(cases, core4_has_one_register_for_instructions);
    tcase_add_test(cases, armv8_checks_generic_ids_and_not_raw_codes);
    tcase_add_test(cases, armv8_has_six_counters_and_one_for_cycles);
    tcase_add_test(cases, armv8_grants_user_reads_on_request);
    tcase_add_test(cases, apple_gives_each_code_the_lowest_of_its_own_counters);
    tcase_add_test(cases, each_kind_of_core_has_a_pmu_of_its_own);
    tcase_add_test(cases, intel_has_fixed_counters_and_two_extra_registers);
    tcase_add_test(cases, intel_performance_cores_have_eight_counters_and_four_for_memory);
    tcase_add_test(cases, intel_hybrids_have_a_pmu_for_each_core_type);
    tcase_add_test(cases, the_watchdog_has_its_counter_first);
    tcase_add_test(cases, zen_counts_flops_on_pairs_of_counters);
    tcase_add_test(cases, zen_maps_stalls_by_the_kernel);
    tcase_add_test(cases, hygon_lost_its_generic_events);
    tcase_add_test(cases, zhaoxin_differs_by_model);
    tcase_add_test(cases, riscv_counts_an_index_once);
    tcase_add_test(cases, riscv_without_sscofpmf_takes_no_exclude_bit);
    tcase_add_test(cases, groups_are_multiplexed);
    tcase_add_test(cases, counters_run_over_and_nothing_is_lost);
    tcase_add_test(cases, an_unwatched_counter_begins_again);
    tcase_add_test(cases, children_count_for_an_inheriting_set);
    tcase_add_test(cases, stopped_events_do_not_advance);
    tcase_add_test(cases, different_codes_have_different_truths);
    return run_suite("driver rules", cases);
}
