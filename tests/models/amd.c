/* SPDX-License-Identifier: MIT */
/*
 * AMD family 17h and later, and Hygon: arch/x86/events/amd/core.c. Place: tests. Before it: model.c; after it: x86.c and
 * the tables below.
 *
 * One file of the kernel, several mappings. A change of March 2024 chose the mapping by a flag that Hygon's set-up code
 * does not set: since then Hygon gets that of the K7 for generic hardware ids. Kernels before it gave Zen 2 and later the
 * stall events of Zen 1, which they do not have.
 */
#include "models/rows.h"

#define EVERY_ZEN                                                                                               \
    {HW, 0x0, 0x0076}, {HW, 0x1, 0x00c0}, {HW, 0x4, 0x00c2}, {HW, 0x5, 0x00c3}, {CACHE, 0x00000, 0x0040},       \
        {CACHE, 0x10000, 0xc860}, {CACHE, 0x00200, 0xff5a}, {CACHE, 0x00001, 0x0080}, {CACHE, 0x10001, 0x0081}, \
        {CACHE, 0x00003, 0xff45}, {CACHE, 0x10003, 0xf045}, {CACHE, 0x00004, 0x0084}, {CACHE, 0x10004, 0xff85}, \
        {CACHE, 0x00005, 0x00c2},                                                                               \
    {                                                                                                           \
        CACHE, 0x10005, 0x00c3                                                                                  \
    }

static const struct model_generic map_zen1[] = {
    EVERY_ZEN, {HW, 0x2, 0xff60}, {HW, 0x3, 0x0964}, {HW, 0x7, 0x0287}, {HW, 0x8, 0x0187},
};
static const struct model_generic map_zen2[] = {
    EVERY_ZEN,
    {HW, 0x2, 0xff60},
    {HW, 0x3, 0x0964},
    {HW, 0x7, 0x00a9},
};
static const struct model_generic map_zen4[] = {
    EVERY_ZEN, {HW, 0x2, 0xff60}, {HW, 0x3, 0x0964}, {HW, 0x7, 0x00a9}, {HW, 0x9, UINT64_C(0x100000120)},
};
static const struct model_generic map_k7[] = {
    EVERY_ZEN, {HW, 0x2, 0x077d}, {HW, 0x3, 0x077e}, {HW, 0x7, 0x00d0}, {HW, 0x8, 0x00d1},
};
static const struct model_fact zen[] = {
    {"cycles", 0x0076},        {"instructions", 0x00c0},  {"branches", 0x00c2},
    {"branch-misses", 0x00c3}, {"branches-return", 0xc8}, {"branches-conditional", 0x00d1},
    {"l2-access", 0xff60},     {"dtlb-walk", 0xf045},     {"uops-retired", 0x00c1},
};
static const struct model_fact hygon[] = {
    {"cycles", 0x0076},        {"instructions", 0x00c0},         {"branches", 0x00c2},  {"branch-misses", 0x00c3},
    {"branches-return", 0xc8}, {"branches-conditional", 0x00d1}, {"l2-access", 0xff60}, {"dtlb-walk", 0xf045},
    {"uops-retired", 0x00c1},  {"l1d-access", 0x0040},
};

enum { COUNTERS = 6, FLOPS = 0x03 };
static const uint64_t even = COUNTER(0) | COUNTER(2) | COUNTER(4);

/* The floating-point event is wider than a counter: it needs an even one and the next. */
static int init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    if ((out->code & UINT64_C(0xf000000ff)) == FLOPS) {
        out->counters = even;
        out->pair = true;
    }
    return model_x86_init(driver, req, out);
}

/* Zen 1's stall events on a later core. */
static int init_since_zen2(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    out->nothing = out->code == 0x0187 || out->code == 0x0287;
    return init(driver, req, out);
}

#define AMD_DRIVER                                                                                         \
    .counters = LOWEST(COUNTERS), .width = 48, .unmapped = ENOENT, .group_check = true, .user_read = true, \
    .raw_mask = UINT64_C(0xfff84ffff), .seat = model_seat_scarce_first

const struct model_driver model_zen1 = {
    AMD_DRIVER,   .name = "zen 1",   .generic = map_zen1, .n_generic = N(map_zen1),
    .facts = zen, .n_facts = N(zen), .init = init,
};

const struct model_driver model_zen2 = {
    AMD_DRIVER,   .name = "zen 2 and 3", .generic = map_zen2,     .n_generic = N(map_zen2),
    .facts = zen, .n_facts = N(zen),     .init = init_since_zen2,
};

const struct model_driver model_zen2_before_2024 = {
    AMD_DRIVER,
    .name = "zen 2 and 3 before March 2024",
    .generic = map_zen1,
    .n_generic = N(map_zen1),
    .facts = zen,
    .n_facts = N(zen),
    .init = init_since_zen2,
};

const struct model_driver model_zen4 = {
    AMD_DRIVER,   .name = "zen 4",   .generic = map_zen4,     .n_generic = N(map_zen4),
    .facts = zen, .n_facts = N(zen), .init = init_since_zen2,
};

const struct model_driver model_hygon_before_2024 = {
    AMD_DRIVER,          .name = "hygon before March 2024",
    .generic = map_zen1, .n_generic = N(map_zen1),
    .facts = hygon,      .n_facts = N(hygon),
    .init = init,
};

const struct model_driver model_hygon_since_2024 = {
    AMD_DRIVER,        .name = "hygon since March 2024",
    .generic = map_k7, .n_generic = N(map_k7),
    .facts = hygon,    .n_facts = N(hygon),
    .init = init,
};
