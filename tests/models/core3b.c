/* SPDX-License-Identifier: MIT */
/*
 * Sunway core3B: arch/sw_64/kernel/perf_event.c of the deepin and openEuler kernels. Place: tests. Before it: model.c;
 * after it: the tables below. A code is counter << 8 | selector; nothing is checked when a group is opened, and both
 * counters of a core count in the modes of whichever event was started last.
 */
#include "models/rows.h"

static const struct model_generic generic[] = {
    {HW, 0x0, 0x008},        {HW, 0x1, 0x000},        {HW, 0x2, 0x00d},        {HW, 0x3, 0x110},
    {HW, 0x4, 0x003},        {HW, 0x5, 0x10b},        {CACHE, 0x00000, 0x00c}, {CACHE, 0x10000, 0x132},
    {CACHE, 0x00001, 0x00b}, {CACHE, 0x10001, 0x116}, {CACHE, 0x00003, 0x00a}, {CACHE, 0x10003, 0x130},
    {CACHE, 0x00004, 0x009}, {CACHE, 0x10004, 0x117},
};
static const struct model_fact facts[] = {
    {"cycles", 0x008},   {"instructions", 0x000}, {"l1d-miss", 0x132},  {"l1i-access", 0x00b},
    {"l1i-miss", 0x116}, {"itlb-access", 0x009},  {"itlb-miss", 0x117},
};

static int check_modes(const struct kernel_open *req)
{
    if (req->exclude & UPMU_EXCLUDE_HV)
        return -EINVAL;
    return 0;
}

static int decode(const struct kernel_open *req, struct model_code *out)
{
    if (req->type == KERNEL_TYPE_HARDWARE && req->config > 5)
        return -EINVAL;
    if (req->type == KERNEL_TYPE_RAW && req->config > 0x00f && (req->config < 0x100 || req->config > 0x13d))
        return -EINVAL;
    out->counters = COUNTER(out->code >> 8);
    return check_modes(req);
}

static int init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    if ((req->exclude & UPMU_EXCLUDE_USER) && (req->exclude & UPMU_EXCLUDE_KERNEL))
        return -EOPNOTSUPP;
    return decode(req, out);
}

/* Older openEuler kernels let exclude_kernel win where nothing would be left. */
static int init_kernel_wins(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    if ((req->exclude & UPMU_EXCLUDE_USER) && (req->exclude & UPMU_EXCLUDE_KERNEL))
        out->modes = MODEL_USER;
    return decode(req, out);
}

const struct model_driver model_core3b = {
    .name = "core3B",
    .counters = LOWEST(2),
    .width = 58,
    .unmapped = ENOENT,
    .shared_filter = true,
    .raw_mask = UINT64_MAX,
    .generic = generic,
    .n_generic = N(generic),
    .facts = facts,
    .n_facts = N(facts),
    .init = init,
};

const struct model_driver model_core3b_kernel_wins = {
    .name = "core3B, older openEuler",
    .counters = LOWEST(2),
    .width = 58,
    .unmapped = ENOENT,
    .shared_filter = true,
    .raw_mask = UINT64_MAX,
    .generic = generic,
    .n_generic = N(generic),
    .facts = facts,
    .n_facts = N(facts),
    .init = init_kernel_wins,
};

/* The first public version of the driver has no filter at all. */
static int init_unfiltered(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    if (req->exclude)
        return -EINVAL;
    return decode(req, out);
}

/* On core3A nothing is known to be exact: no facts. */
const struct model_driver model_core3a = {
    .name = "core3A",
    .counters = LOWEST(2),
    .width = 58,
    .unmapped = ENOENT,
    .shared_filter = true,
    .raw_mask = UINT64_MAX,
    .generic = generic,
    .n_generic = N(generic),
    .init = init,
};

const struct model_driver model_core3a_first = {
    .name = "core3A, first openEuler",
    .counters = LOWEST(2),
    .width = 58,
    .unmapped = ENOENT,
    .raw_mask = UINT64_MAX,
    .generic = generic,
    .n_generic = N(generic),
    .init = init_unfiltered,
};
