/* SPDX-License-Identifier: MIT */
/*
 * Model of Loongson MIPS: arch/mips/kernel/perf_event_mipsxx.c.
 *
 * Three kinds of PMU, distinguished by the PRId. Kernels before that distinction used the first kind's tables and raw
 * format (seven bits of event, one of bank) for every Loongson-3, with the counters the hardware reports.
 */
#include "models/rows.h"

static const struct model_generic type1[] = {
    {HW, 0x0, 0x00},        {HW, 0x1, 0x80},        {HW, 0x4, 0x01},        {HW, 0x5, 0x81},
    {CACHE, 0x10000, 0x84}, {CACHE, 0x10100, 0x84}, {CACHE, 0x10001, 0x04}, {CACHE, 0x10101, 0x04},
    {CACHE, 0x10003, 0x89}, {CACHE, 0x10103, 0x89}, {CACHE, 0x10004, 0x8c}, {CACHE, 0x10104, 0x8c},
    {CACHE, 0x00005, 0x01}, {CACHE, 0x10005, 0x81}, {CACHE, 0x00105, 0x01}, {CACHE, 0x10105, 0x81},
};
static const struct model_fact gs464[] = {
    {"cycles", 0x00},   {"instructions", 0x80}, {"branch-misses", 0x81},
    {"l1d-miss", 0x84}, {"l1i-miss", 0x04},     {"itlb-miss", 0x8c},
};

static const struct model_generic type2[] = {
    {HW, 0x0, 0x80},         {HW, 0x1, 0x81},         {HW, 0x3, 0x18},         {HW, 0x4, 0x94},
    {HW, 0x5, 0x9c},         {CACHE, 0x00000, 0x156}, {CACHE, 0x00100, 0x155}, {CACHE, 0x10100, 0x153},
    {CACHE, 0x10001, 0x18},  {CACHE, 0x10101, 0x18},  {CACHE, 0x00002, 0x1b6}, {CACHE, 0x00102, 0x1b7},
    {CACHE, 0x00202, 0x1bf}, {CACHE, 0x10003, 0x92},  {CACHE, 0x10103, 0x92},  {CACHE, 0x10004, 0x1a},
    {CACHE, 0x10104, 0x1a},  {CACHE, 0x00005, 0x94},  {CACHE, 0x10005, 0x9c},
};
static const struct model_fact gs464e[] = {
    {"cycles", 0x80},        {"instructions", 0x81}, {"branches", 0x94},        {"branch-misses", 0x9c},
    {"l1d-load", 0x156},     {"l1d-store", 0x155},   {"l1i-miss", 0x18},        {"llc-load", 0x1b6},
    {"llc-store", 0x1b7},    {"dtlb-miss", 0x92},    {"l1d-store-miss", 0x153}, {"itlb-miss", 0x1a},
    {"llc-prefetch", 0x1bf},
};

static const struct model_generic type3[] = {
    {HW, 0x0, 0x00},        {HW, 0x1, 0x01},        {HW, 0x2, 0x1c},        {HW, 0x3, 0x1d},
    {HW, 0x4, 0x02},        {HW, 0x5, 0x08},        {CACHE, 0x00000, 0x1e}, {CACHE, 0x10000, 0x1f},
    {CACHE, 0x00200, 0xaa}, {CACHE, 0x10200, 0xa9}, {CACHE, 0x00001, 0x1c}, {CACHE, 0x10001, 0x1d},
    {CACHE, 0x00002, 0x2e}, {CACHE, 0x10002, 0x2f}, {CACHE, 0x00003, 0x14}, {CACHE, 0x10003, 0x1b},
    {CACHE, 0x10004, 0x1a}, {CACHE, 0x00005, 0x02}, {CACHE, 0x10005, 0x08},
};
static const struct model_fact gs464v[] = {
    {"cycles", 0x00},       {"instructions", 0x01}, {"branches", 0x02},          {"branch-misses", 0x08},
    {"l1d-prefetch", 0xaa}, {"l1i-access", 0x1c},   {"l1d-prefetch-miss", 0xa9}, {"l1i-miss", 0x1d},
    {"llc-access", 0x2e},   {"llc-miss", 0x2f},     {"dtlb-miss", 0x1b},         {"dtlb-access", 0x14},
    {"itlb-miss", 0x1a},
};

static int type1_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver, (void)req;
    out->counters = out->code & 0x80 ? COUNTER(1) : COUNTER(0);
    return 0;
}

/* The codes that the driver accepts; it has names for few of them. */
static int type2_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    static const uint16_t ranges[][2] = {{1, 27}, {64, 89}, {128, 163}, {192, 199}, {256, 274}, {320, 360}, {384, 573}};
    (void)driver;
    if (req->type != KERNEL_TYPE_RAW)
        return 0;
    for (size_t i = 0; i < N(ranges); i++)
        if (out->code >= ranges[i][0] && out->code <= ranges[i][1])
            return 0;
    return -EOPNOTSUPP;
}

/* The bank bit chooses among the counters, and what reaches the hardware is a number of seven bits. */
static int seven_plus_one_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver, (void)req;
    out->counters = out->code & 0x80 ? COUNTER(1) | COUNTER(3) : COUNTER(0) | COUNTER(2);
    out->code &= 0x7f;
    return 0;
}

/* A PMU without tables: a generic event follows a pointer that was never set, a raw one has no counter. */
static int loongson2k_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    if (req->type != KERNEL_TYPE_RAW)
        return MODEL_OOPS;
    out->counters = 0;
    return 0;
}

/* What all have in common: counters from the highest down, a group check that chokes on software siblings. */
#define MIPS_DRIVER \
    .unmapped = EOPNOTSUPP, .group_check = true, .siblings = MODEL_SIBLINGS_FATAL, .seat = model_seat_high

const struct model_driver model_mips_type1 = {
    MIPS_DRIVER,      .name = "mips type 1", .counters = LOWEST(2), .width = 64,         .raw_mask = 0xff,
    .generic = type1, .n_generic = N(type1), .facts = gs464,        .n_facts = N(gs464), .init = type1_init,
};

const struct model_driver model_mips_type2 = {
    MIPS_DRIVER,      .name = "mips type 2", .counters = LOWEST(4), .width = 48,          .raw_mask = 0x3ff,
    .generic = type2, .n_generic = N(type2), .facts = gs464e,       .n_facts = N(gs464e), .init = type2_init,
};

const struct model_driver model_mips_type3 = {
    MIPS_DRIVER,      .name = "mips type 3", .counters = LOWEST(4), .width = 32,          .raw_mask = 0xff,
    .generic = type3, .n_generic = N(type3), .facts = gs464v,       .n_facts = N(gs464v),
};

const struct model_driver model_mips_2k1000 = {
    MIPS_DRIVER, .name = "mips 2K1000", .counters = LOWEST(4), .width = 64, .raw_mask = 0xff, .init = loongson2k_init,
};

const struct model_driver model_mips_7plus1_gs464e = {
    MIPS_DRIVER,           .name = "mips 7+1 bits on GS464E",
    .counters = LOWEST(4), .width = 48,
    .raw_mask = 0xff,      .generic = type1,
    .n_generic = N(type1), .facts = gs464e,
    .n_facts = N(gs464e),  .init = seven_plus_one_init,
};

const struct model_driver model_mips_7plus1_gs464v = {
    MIPS_DRIVER,           .name = "mips 7+1 bits on GS464V",
    .counters = LOWEST(4), .width = 32,
    .raw_mask = 0xff,      .generic = type1,
    .n_generic = N(type1), .facts = gs464v,
    .n_facts = N(gs464v),  .init = seven_plus_one_init,
};
