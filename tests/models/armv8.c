/* SPDX-License-Identifier: MIT */
/*
 * Model of Armv8 PMUv3: drivers/perf/arm_pmuv3.c.
 *
 * A perf generic event is accepted if the CPU advertises the event behind it (PMCEID, and with it the events folder of
 * sysfs). A raw code is not checked, and one that the CPU lacks counts 0 with healthy times.
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
    .raw_mask = 0xffff, .listed = 0x40, .init = init, .seat = seat

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

/* ------------------------------------------------------------------------------------------ cores of Arm's lists */

/* What Arm's list of the Neoverse N1 has, and the names of it that are defined as ours are. */
static const uint64_t neoverse_n1[] = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x09, 0x0a, 0x0b, 0x10,   0x11,   0x12,   0x13,   0x14, 0x15,
    0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x20, 0x21,   0x22,   0x23,   0x24,   0x25, 0x26,
    0x29, 0x2a, 0x2b, 0x2d, 0x2f, 0x31, 0x34, 0x35, 0x36, 0x37, 0x40,   0x41,   0x42,   0x43,   0x44, 0x45,
    0x46, 0x47, 0x48, 0x4c, 0x4d, 0x4e, 0x4f, 0x50, 0x51, 0x52, 0x53,   0x56,   0x57,   0x58,   0x5c, 0x5d,
    0x5e, 0x5f, 0x60, 0x61, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6c, 0x6d,   0x6e,   0x6f,   0x70,   0x71, 0x73,
    0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7c, 0x7d, 0x7e, 0x81,   0x82,   0x83,   0x84,   0x86, 0x87,
    0x88, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x90, 0x91, 0xa0, 0x4000, 0x4001, 0x4002, 0x4003,
};
static const struct model_fact neoverse_n1_facts[] = {
    {"cycles", 0x11},          {"instructions", 0x08},  {"branches", 0x21},      {"branch-misses", 0x22},
    {"l1d-access", 0x04},      {"l1d-load", 0x40},      {"l1d-store", 0x41},     {"l1i-access", 0x14},
    {"l1i-miss", 0x01},        {"l2-load", 0x50},       {"l2-store", 0x51},      {"llc-load", 0x36},
    {"llc-load-miss", 0x37},   {"dtlb-access", 0x25},   {"dtlb-walk", 0x34},     {"dtlb-load-miss", 0x4c},
    {"itlb-access", 0x26},     {"itlb-walk", 0x35},     {"stall-backend", 0x24}, {"stall-frontend", 0x23},
    {"dtlb-store-miss", 0x4d}, {"remote-access", 0x31}, {"exceptions", 0x09},    {"memory-errors", 0x1a},
};

/* Cortex-A53: no event of loads alone in the cache, no stall events of the architecture, no retired branches; 0x0e is in
 * the list, but not in the id registers. */
static const uint64_t cortex_a53[] = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0f,
    0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1d, 0x1e, 0x60, 0x61,
    0x7a, 0x86, 0x87, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb,
    0xcc, 0xd0, 0xd1, 0xd2, 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8,
};
static const struct model_fact cortex_a53_facts[] = {
    {"cycles", 0x11},     {"instructions", 0x08},         {"loads", 0x06},
    {"stores", 0x07},     {"l1d-access", 0x04},           {"l1i-access", 0x14},
    {"l1i-miss", 0x01},   {"exceptions", 0x09},           {"bus-access", 0x19},
    {"bus-cycles", 0x1d}, {"branches-conditional", 0xc9},
};

/* What the name means on a Cortex-A53 and on a Cortex-A72. */
static const struct model_fact cortex_both_facts[] = {
    {"cycles", 0x11},   {"instructions", 0x08}, {"l1d-access", 0x04}, {"l1i-access", 0x14},
    {"l1i-miss", 0x01}, {"exceptions", 0x09},   {"bus-access", 0x19}, {"bus-cycles", 0x1d},
};

/* Cortex-A72: both have loads and stores in one cache event, and few others in common. */
static const uint64_t cortex_a72[] = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
    0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x40, 0x41, 0x42, 0x43, 0x46, 0x47, 0x48, 0x4c, 0x4d,
    0x50, 0x51, 0x52, 0x53, 0x56, 0x57, 0x58, 0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69,
    0x6a, 0x6c, 0x6d, 0x6e, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7c, 0x7d,
    0x7e, 0x81, 0x82, 0x83, 0x84, 0x86, 0x87, 0x88, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x90, 0x91,
};
static const struct model_fact cortex_a72_facts[] = {
    {"cycles", 0x11},     {"instructions", 0x08}, {"l1d-access", 0x04},     {"l1d-load", 0x40},
    {"l1d-store", 0x41},  {"l2-load", 0x50},      {"dtlb-load-miss", 0x4c}, {"exceptions", 0x09},
    {"l1i-access", 0x14}, {"l1i-miss", 0x01},     {"bus-access", 0x19},     {"bus-cycles", 0x1d},
};

/* Device trees name the core's own PMU, whose driver has more perf generic events. */
static const struct model_generic generic_a53[] = {
    ARM_GENERIC, {HW, 0x4, 0x0c}, {CACHE, 0x10200, 0xc2}, {CACHE, 0x00006, 0x60}, {CACHE, 0x00106, 0x61}};
static const struct model_generic generic_a72[] = {ARM_GENERIC,
                                                   {CACHE, 0x00100, 0x41},
                                                   {CACHE, 0x10100, 0x43},
                                                   {CACHE, 0x10103, 0x4d},
                                                   {CACHE, 0x00006, 0x60},
                                                   {CACHE, 0x00106, 0x61}};

const struct model_driver model_neoverse_n1 = {
    ARM_DRIVER,
    .name = "neoverse n1",
    .generic = generic,
    .n_generic = N(generic),
    .facts = neoverse_n1_facts,
    .n_facts = N(neoverse_n1_facts),
    .implemented = neoverse_n1,
    .n_implemented = N(neoverse_n1),
};

const struct model_driver model_cortex_a53 = {
    ARM_DRIVER,
    .name = "cortex-a53",
    .generic = generic_a53,
    .n_generic = N(generic_a53),
    .facts = cortex_a53_facts,
    .n_facts = N(cortex_a53_facts),
    .implemented = cortex_a53,
    .n_implemented = N(cortex_a53),
};

const struct model_driver model_cortex_a53_beside = {
    ARM_DRIVER,
    .name = "cortex-a53 beside others",
    .generic = generic_a53,
    .n_generic = N(generic_a53),
    .facts = cortex_both_facts,
    .n_facts = N(cortex_both_facts),
    .implemented = cortex_a53,
    .n_implemented = N(cortex_a53),
};

const struct model_driver model_cortex_a72 = {
    ARM_DRIVER,
    .name = "cortex-a72",
    .generic = generic_a72,
    .n_generic = N(generic_a72),
    .facts = cortex_a72_facts,
    .n_facts = N(cortex_a72_facts),
    .implemented = cortex_a72,
    .n_implemented = N(cortex_a72),
};

/* A hypervisor that leaves its guest two counters. */
static int init_two(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    int rc = init(driver, req, out);
    if (out->code != CPU_CYCLES)
        out->counters &= LOWEST(2);
    return rc;
}

const struct model_driver model_neoverse_n1_guest = {
    .counters = LOWEST(2) | COUNTER(CYCLE_COUNTER),
    .width = 32,
    .unmapped = ENOENT,
    .group_check = true,
    .raw_mask = 0xffff,
    .listed = 0x40,
    .init = init_two,
    .seat = seat,
    .name = "neoverse n1, two counters",
    .generic = generic,
    .n_generic = N(generic),
    .facts = neoverse_n1_facts,
    .n_facts = N(neoverse_n1_facts),
    .implemented = neoverse_n1,
    .n_implemented = N(neoverse_n1),
};

/* QEMU's emulation of any core: it counts cycles, instructions and little else, and lists no more. */
static const uint64_t emulated[] = {0x00, 0x08, 0x11, 0x23, 0x24, 0x3c};
static const struct model_fact emulated_facts[] = {{"cycles", 0x11}, {"instructions", 0x08}};

const struct model_driver model_arm_emulated = {
    ARM_DRIVER,
    .name = "emulated arm",
    .generic = generic_without_21,
    .n_generic = N(generic_without_21),
    .facts = emulated_facts,
    .n_facts = N(emulated_facts),
    .implemented = emulated,
    .n_implemented = N(emulated),
};
