/* SPDX-License-Identifier: MIT */
/*
 * Armv8 PMUv3: drivers/perf/arm_pmuv3.c. Place: tests. Before it: model.c; after it: the tables below.
 *
 * A generic id is accepted if the CPU advertises the event behind it (PMCEID, and with it the events folder of sysfs); a
 * raw code is not looked at, and one that the CPU lacks counts 0 with healthy times.
 */
#include "models/rows.h"

enum { CYCLE_COUNTER = 31, GENERAL = 6, CPU_CYCLES = 0x11, CHAIN = 0x1e };
/* Bits of config1. */
enum { LONG = 1, USER_READ = 2 };

#define ARM_GENERIC                                                                                               \
    {HW, 0x0, 0x11}, {HW, 0x1, 0x08}, {HW, 0x2, 0x04}, {HW, 0x3, 0x03}, {HW, 0x5, 0x10}, {HW, 0x6, 0x1d},         \
        {HW, 0x7, 0x23}, {HW, 0x8, 0x24}, {CACHE, 0x00000, 0x04}, {CACHE, 0x10000, 0x03}, {CACHE, 0x00001, 0x14}, \
        {CACHE, 0x10001, 0x01}, {CACHE, 0x00003, 0x25}, {CACHE, 0x10003, 0x05}, {CACHE, 0x00004, 0x26},           \
        {CACHE, 0x10004, 0x02}, {CACHE, 0x00002, 0x36}, {CACHE, 0x10002, 0x37}, {CACHE, 0x00005, 0x12},           \
    {                                                                                                             \
        CACHE, 0x10005, 0x10                                                                                      \
    }

/* Branches are 0x21 where the CPU advertises it. */
static const struct model_generic generic[] = {ARM_GENERIC, {HW, 0x4, 0x21}};
static const struct model_generic generic_without_21[] = {ARM_GENERIC, {HW, 0x4, 0x0c}};

static const struct model_fact common[] = {
    {"cycles", 0x11},        {"bus-cycles", 0x1d},     {"instructions", 0x08},      {"l1d-access", 0x04},
    {"l1i-access", 0x14},    {"l1d-writeback", 0x15},  {"l1i-miss", 0x01},          {"l2-writeback", 0x18},
    {"llc-access", 0x32},    {"llc-miss", 0x33},       {"llc-load", 0x36},          {"llc-load-miss", 0x37},
    {"dtlb-access", 0x25},   {"dtlb-walk", 0x34},      {"itlb-access", 0x26},       {"itlb-walk", 0x35},
    {"stall-backend", 0x24}, {"stall-frontend", 0x23}, {"instructions-spec", 0x1b}, {"bus-access", 0x19},
    {"exceptions", 0x09},    {"memory-errors", 0x1a},
};
static const struct model_fact tsv110[] = {
    {"cycles", 0x11},        {"instructions", 0x08}, {"branches", 0x21},          {"branch-misses", 0x22},
    {"l1d-access", 0x04},    {"l1d-load", 0x40},     {"l1d-store", 0x41},         {"branches-return", 0x0e},
    {"l2-load", 0x50},       {"l2-store", 0x51},     {"llc-load", 0x36},          {"llc-load-miss", 0x37},
    {"remote-access", 0x31}, {"dtlb-walk", 0x34},    {"dtlb-load-miss", 0x4c},    {"dtlb-store-miss", 0x4d},
    {"stall-backend", 0x24}, {"exceptions", 0x09},   {"instructions-spec", 0x1b},
};

/* No list of their events is published: little is sure. */
static const struct model_fact phytium[] = {{"cycles", 0x11}, {"l1d-access", 0x04}};

/* What Armv8.0 requires, and no more. */
static const uint64_t required[] = {0x00, 0x03, 0x04, 0x08, 0x10, 0x11, 0x12};
/* The same and some of what is optional. */
static const uint64_t some[] = {0x00, 0x01, 0x03, 0x04, 0x08, 0x0c, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x1d};

static int init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    out->user_read = (req->config1 & USER_READ) != 0;
    if ((req->config1 & LONG) && out->user_read && out->code != CPU_CYCLES)
        return -EOPNOTSUPP;
    if (req->config1 & LONG)
        out->width = 64;
    if (out->code == CHAIN)
        out->counters = 0;
    else if (out->code != CPU_CYCLES)
        out->counters = LOWEST(GENERAL);
    return 0;
}

/* The cycle counter is for cycles and goes first. */
static bool seat(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                 struct model_seat *seats)
{
    return model_seat_high(driver, events, n, seats);
}

#define ARM_DRIVER                                                                                              \
    .counters = LOWEST(GENERAL) | COUNTER(CYCLE_COUNTER), .width = 32, .unmapped = ENOENT, .group_check = true, \
    .raw_mask = 0xffff, .told = 0x40, .init = init, .seat = seat

const struct model_driver model_armv8_full = {
    ARM_DRIVER,         .name = "armv8 with every event",
    .generic = generic, .n_generic = N(generic),
    .facts = common,    .n_facts = N(common),
};

const struct model_driver model_phytium_full = {
    ARM_DRIVER,         .name = "phytium with every event",
    .generic = generic, .n_generic = N(generic),
    .facts = phytium,   .n_facts = N(phytium),
};

const struct model_driver model_phytium_sparse = {
    ARM_DRIVER,
    .name = "phytium with the required events",
    .generic = generic_without_21,
    .n_generic = N(generic_without_21),
    .facts = phytium,
    .n_facts = N(phytium),
    .implemented = required,
    .n_implemented = N(required),
};

const struct model_driver model_kunpeng920 = {
    ARM_DRIVER,      .name = "kunpeng 920", .generic = generic, .n_generic = N(generic),
    .facts = tsv110, .n_facts = N(tsv110),
};

const struct model_driver model_phytium_little = {
    ARM_DRIVER,
    .name = "phytium, little cores",
    .generic = generic_without_21,
    .n_generic = N(generic_without_21),
    .facts = phytium,
    .n_facts = N(phytium),
    .implemented = required,
    .n_implemented = N(required),
};

const struct model_driver model_phytium_big = {
    ARM_DRIVER,      .name = "phytium, big cores", .generic = generic_without_21, .n_generic = N(generic_without_21),
    .facts = common, .n_facts = N(common),         .implemented = some,           .n_implemented = N(some),
};
