/* SPDX-License-Identifier: MIT */
/*
 * Model of Sunway core4: arch/sw_64/kernel/perf_event_c4.c of the openEuler kernel.
 *
 * Five slots; the counter in a raw code is a preference. Five selectors are counted in registers of their own and take a
 * slot all the same; two events of one such selector disturb each other and count half here (any wrong number will do).
 * Modes are accepted and ignored. Whether groups are checked is undocumented; the model does not, the harder case.
 */
#include "models/rows.h"

static const struct model_generic generic[] = {
    {HW, 0x0, 0x30},        {HW, 0x1, 0x03},        {HW, 0x2, 0x50},        {HW, 0x3, 0x53},
    {HW, 0x4, 0x04},        {HW, 0x5, 0x05},        {CACHE, 0x00000, 0x3d}, {CACHE, 0x10000, 0x3e},
    {CACHE, 0x00100, 0x3d}, {CACHE, 0x10100, 0x3e}, {CACHE, 0x00001, 0x06}, {CACHE, 0x10001, 0x07},
    {CACHE, 0x00101, 0x06}, {CACHE, 0x10101, 0x07}, {CACHE, 0x00003, 0x31}, {CACHE, 0x10003, 0x32},
    {CACHE, 0x00103, 0x31}, {CACHE, 0x10103, 0x32},
};
static const struct model_fact facts[] = {
    {"cycles", 0x30},   {"instructions", 0x03}, {"branches", 0x04}, {"branch-misses", 0x05}, {"l1d-access", 0x3d},
    {"l1d-miss", 0x3e}, {"l2-access", 0x50},    {"l2-miss", 0x53},  {"dtlb-access", 0x31},   {"dtlb-miss", 0x32},
};

enum { SLOTS = 5, SELECTORS = 0x8e };

static int init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    if (req->exclude & UPMU_EXCLUDE_HV)
        return -EINVAL;
    if (req->type == KERNEL_TYPE_HARDWARE && req->config > 5)
        return -EINVAL;
    if (req->type == KERNEL_TYPE_RAW) {
        if (req->config >> 8 >= SLOTS || (req->config & 0xff) >= SELECTORS)
            return -EINVAL;
        out->code = req->config & 0xff;
    }
    out->modes = MODEL_ALL_MODES;
    return 0;
}

static bool has_register(uint64_t code)
{
    return code >= 0x03 && code <= 0x07;
}

static bool seat(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                 struct model_seat *seats)
{
    if (!model_seat_low(driver, events, n, seats))
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (i != k && events[i]->code == events[k]->code && has_register(events[i]->code))
                seats[i].damaged = true;
    return true;
}

const struct model_driver model_core4 = {
    .name = "core4",
    .counters = LOWEST(SLOTS),
    .width = 64,
    .unmapped = ENOENT,
    .raw_mask = UINT64_MAX,
    .raw_meaning = 0xff,
    .generic = generic,
    .n_generic = N(generic),
    .facts = facts,
    .n_facts = N(facts),
    .init = init,
    .seat = seat,
};
