/* SPDX-License-Identifier: MIT */
/*
 * LoongArch: arch/loongarch/kernel/perf_event.c. Place: tests. Before it: model.c; after it: the tables below.
 * Older kernels (mainline before June 2023, the vendor's 4.19) keep 8 bits of a raw code and take software siblings for
 * hardware; the tables are the same for all cores and all kernels.
 */
#include "models/rows.h"

static const struct model_generic generic[] = {
    {HW, 0x0, 0x00},        {HW, 0x1, 0x01},        {HW, 0x2, 0x08},        {HW, 0x3, 0x09},
    {HW, 0x4, 0x02},        {HW, 0x5, 0x03},        {CACHE, 0x00000, 0x08}, {CACHE, 0x10000, 0x09},
    {CACHE, 0x00100, 0x08}, {CACHE, 0x10100, 0x09}, {CACHE, 0x00200, 0xaa}, {CACHE, 0x10200, 0xa9},
    {CACHE, 0x00001, 0x06}, {CACHE, 0x10001, 0x07}, {CACHE, 0x00002, 0x0c}, {CACHE, 0x10002, 0x0d},
    {CACHE, 0x00102, 0x0c}, {CACHE, 0x10102, 0x0d}, {CACHE, 0x10004, 0x3b}, {CACHE, 0x00003, 0x04},
    {CACHE, 0x10003, 0x3c}, {CACHE, 0x00103, 0x04}, {CACHE, 0x10103, 0x3c}, {CACHE, 0x00005, 0x02},
    {CACHE, 0x10005, 0x03},
};
static const struct model_fact facts[] = {
    {"cycles", 0x00},       {"instructions", 0x01},      {"branches", 0x02},    {"branch-misses", 0x03},
    {"l1d-access", 0x08},   {"l1d-miss", 0x09},          {"l1i-access", 0x06},  {"l1i-miss", 0x07},
    {"l1d-prefetch", 0xaa}, {"l1d-prefetch-miss", 0xa9}, {"dtlb-access", 0x04}, {"dtlb-miss", 0x3c},
    {"llc-access", 0x0c},   {"llc-miss", 0x0d},          {"itlb-miss", 0x3b},
};

const struct model_driver model_loongarch = {
    .name = "loongarch",
    .counters = LOWEST(4),
    .width = 64,
    .unmapped = EOPNOTSUPP,
    .group_check = true,
    .raw_mask = 0x3ff,
    .generic = generic,
    .n_generic = N(generic),
    .facts = facts,
    .n_facts = N(facts),
};

const struct model_driver model_loongarch_8bit = {
    .name = "loongarch before June 2023",
    .counters = LOWEST(4),
    .width = 64,
    .unmapped = EOPNOTSUPP,
    .group_check = true,
    .siblings = MODEL_SIBLINGS_COUNTED,
    .raw_mask = 0xff,
    .generic = generic,
    .n_generic = N(generic),
    .facts = facts,
    .n_facts = N(facts),
};
