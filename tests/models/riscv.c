/* SPDX-License-Identifier: MIT */
/*
 * Model of RISC-V: drivers/perf/riscv_pmu_sbi.c and riscv_pmu_legacy.c.
 *
 * A perf generic event becomes an index of the SBI's; the firmware decides whether it is countable. Here, as measured on
 * an emulated machine: five events, each on its own counter, so that a second event of the same index looks healthy and
 * counts nothing. Without Sscofpmf there is no interrupt and no filter.
 */
#include "models/rows.h"

enum { CYCLES = 0x1, INSTRUCTIONS = 0x2, CYCLE_CSR = 0, INSTRET_CSR = 2, FIRST_CSR = 3, CSRS = 16 };
#define CACHE_INDEX(cache, op, result) (0x10000 | (cache) << 3 | (op) << 1 | (result))
#define PROGRAMMABLE (LOWEST(CSRS) << FIRST_CSR)

static const uint64_t countable[] = {
    CYCLES, INSTRUCTIONS, CACHE_INDEX(3, 0, 1), CACHE_INDEX(3, 1, 1), CACHE_INDEX(4, 0, 1),
};
static const struct model_fact facts[] = {
    {"instructions", INSTRUCTIONS},
    {"dtlb-load-miss", CACHE_INDEX(3, 0, 1)},
    {"dtlb-store-miss", CACHE_INDEX(3, 1, 1)},
    {"itlb-miss", CACHE_INDEX(4, 0, 1)},
};

static uint64_t index_of(const struct kernel_open *req)
{
    uint64_t id = req->config;
    if (req->type == KERNEL_TYPE_HARDWARE)
        return id + 1;
    return CACHE_INDEX(id & 0xff, id >> 8 & 0xff, id >> 16 & 0xff);
}

static bool is_countable(uint64_t code)
{
    for (size_t i = 0; i < N(countable); i++)
        if (countable[i] == code)
            return true;
    return false;
}

static int init_filtering(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    if (req->type == KERNEL_TYPE_RAW)
        return -ENOENT; /* this firmware has no raw events */
    out->code = index_of(req);
    if (!is_countable(out->code))
        return -ENOENT;
    out->counters = PROGRAMMABLE;
    if (out->code == CYCLES)
        out->counters = COUNTER(CYCLE_CSR);
    if (out->code == INSTRUCTIONS)
        out->counters = COUNTER(INSTRET_CSR);
    return 0;
}

static int init_unfiltered(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    int rc = init_filtering(driver, req, out);
    return rc == 0 && req->exclude ? -EINVAL : rc;
}

/* One counter for each index; a second event of the index appears to have it too. */
static bool seat(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                 struct model_seat *seats)
{
    uint64_t taken = ~driver->counters;
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (events[first]->code != events[i]->code)
            first++;
        if (first < i) {
            seats[i] = (struct model_seat){.counter = seats[first].counter, .mute = true};
            continue;
        }
        uint64_t free = events[i]->counters & ~taken;
        if (free == 0)
            return false;
        seats[i] = (struct model_seat){.counter = (unsigned)__builtin_ctzll(free)};
        taken |= free & -free;
    }
    return true;
}

/* Two free-running registers; any number of events may look at them. */
static int init_legacy(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    if (req->type != KERNEL_TYPE_HARDWARE || req->config > 1)
        return -EOPNOTSUPP;
    out->code = index_of(req);
    out->counters = out->code == CYCLES ? COUNTER(CYCLE_CSR) : COUNTER(INSTRET_CSR);
    return req->exclude ? -EINVAL : 0;
}

static bool seat_legacy(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                        struct model_seat *seats)
{
    (void)driver;
    for (size_t i = 0; i < n; i++)
        seats[i] = (struct model_seat){.counter = (unsigned)__builtin_ctzll(events[i]->counters)};
    return true;
}

#define RISCV_DRIVER                                                                                       \
    .counters = COUNTER(CYCLE_CSR) | COUNTER(INSTRET_CSR) | PROGRAMMABLE, .width = 64, .unmapped = ENOENT, \
    .raw_mask = UINT64_MAX, .facts = facts

const struct model_driver model_riscv_filtering = {
    RISCV_DRIVER, .name = "riscv sbi with sscofpmf", .n_facts = N(facts), .user_read = true, .init = init_filtering,
    .seat = seat,
};

const struct model_driver model_riscv_unfiltered = {
    RISCV_DRIVER,         .name = "riscv sbi without sscofpmf",
    .n_facts = N(facts),  .user_read = true,
    .no_interrupt = true, .init = init_unfiltered,
    .seat = seat,
};

const struct model_driver model_riscv_legacy = {
    RISCV_DRIVER,         .name = "riscv legacy", .n_facts = 1,        .user_read = true,
    .no_interrupt = true, .init = init_legacy,    .seat = seat_legacy,
};
