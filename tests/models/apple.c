/* SPDX-License-Identifier: MIT */
/*
 * Apple M1 and M2: drivers/perf/apple_m1_cpu_pmu.c at v6.12.
 *
 * Each code has its own set of counters, and an event gets the lowest free one. Events must leave guests out.
 */
#include "models/rows.h"

enum {
    COUNTERS = 10,
    BY_5_6_7 = COUNTER(5) | COUNTER(6) | COUNTER(7),
    BY_2_4_6 = COUNTER(2) | COUNTER(4) | COUNTER(6),
    BY_2_TO_9 = LOWEST(10) & ~LOWEST(2),
};

static const struct model_generic apple_generic[] = {{HW, 0x0, 0x02}, {HW, 0x1, 0x8c}};

static const struct model_fact apple_facts[] = {
    {"cycles", 0x02},
    {"instructions", 0x8c},
    {"branches", 0x8d},
    {"branch-misses", 0xcb},
    {"dtlb-walk", 0x08},
    {"itlb-walk", 0x07},
    {"l1d-load-miss", 0xbf},
    {"l1d-store-miss", 0xc0},
    {"l1d-writeback", 0xa8},
    {"branches-return", 0x8f},
    {"branches-conditional", 0x94},
    {"l1i-miss", 0xdb},
    {"loads-stores", 0x9b},
    {"uops-retired", 0x01},
};

/* Codes that not all of counters 2 to 9 can count. */
static const struct {
    uint8_t first, last;
    uint64_t counters;
} affinity[] = {
    {0x01, 0x01, COUNTER(7)},
    {0x02, 0x02, BY_2_TO_9 | COUNTER(0)},
    {0x8c, 0x8c, COUNTER(7) | COUNTER(1)},
    {0x8d, 0x90, BY_5_6_7},
    {0x93, 0x95, BY_5_6_7},
    {0x96, 0x97, COUNTER(7)},
    {0x98, 0x98, BY_5_6_7},
    {0x99, 0x9b, COUNTER(7)},
    {0x9c, 0x9c, BY_5_6_7},
    {0x9f, 0x9f, COUNTER(7)},
    {0xbf, 0xc1, BY_5_6_7},
    {0xc4, 0xc6, BY_5_6_7},
    {0xc8, 0xc8, BY_5_6_7},
    {0xca, 0xcb, BY_5_6_7},
    {0xf5, 0xf7, BY_2_4_6},
    {0xf8, 0xf8, LOWEST(8) & ~LOWEST(2)},
    {0xfd, 0xfd, BY_2_4_6},
};

static int apple_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    if (!(req->exclude & UPMU_EXCLUDE_GUEST))
        return -EOPNOTSUPP;
    out->counters = BY_2_TO_9;
    for (size_t i = 0; i < N(affinity); i++)
        if (out->code >= affinity[i].first && out->code <= affinity[i].last)
            out->counters = affinity[i].counters;
    return 0;
}

#define APPLE_DRIVER                                                                                              \
    .counters = LOWEST(COUNTERS), .unmapped = ENOENT, .group_check = true, .raw_mask = 0xff, .raw_meaning = 0xff, \
    .generic = apple_generic, .n_generic = N(apple_generic), .facts = apple_facts, .n_facts = N(apple_facts),     \
    .init = apple_init, .seat = model_seat_low

const struct model_driver model_apple_m1 = {APPLE_DRIVER, .name = "apple m1", .width = 47};
const struct model_driver model_apple_m2 = {APPLE_DRIVER, .name = "apple m2", .width = 63};
