/* SPDX-License-Identifier: MIT */
/*
 * Intel big cores, as of Skylake: arch/x86/events/intel/core.c. Place: tests. Before it: model.c; after it: x86.c and the
 * tables below. Cache events beyond the core go through an extra register, of which there are two: more than two
 * different requests never fit.
 */
#include "models/rows.h"

/* The event of the extra register, selected by the value written there; raw events bring that in config1. */
enum { OFFCORE = 0x1b7, OFFCORE_OTHER = 0x1bb };
#define REQUEST(id) (UINT64_C(0x1b7) | (UINT64_C(0x100000) | (id)) << 40)

static const struct model_generic generic[] = {
    {HW, 0x0, 0x003c},
    {HW, 0x1, 0x00c0},
    {HW, 0x2, 0x4f2e},
    {HW, 0x3, 0x412e},
    {HW, 0x4, 0x00c4},
    {HW, 0x5, 0x00c5},
    {HW, 0x6, 0x013c},
    {HW, 0x9, 0x0300},
    {CACHE, 0x00000, 0x81d0},
    {CACHE, 0x10000, 0x0151},
    {CACHE, 0x00100, 0x82d0},
    {CACHE, 0x10001, 0x0283},
    {CACHE, 0x00002, REQUEST(1)},
    {CACHE, 0x10002, REQUEST(2)},
    {CACHE, 0x00102, REQUEST(3)},
    {CACHE, 0x10102, REQUEST(4)},
    {CACHE, 0x00003, 0x81d0},
    {CACHE, 0x10003, 0x0e08},
    {CACHE, 0x00103, 0x82d0},
    {CACHE, 0x10103, 0x0e49},
    {CACHE, 0x00004, 0x2085},
    {CACHE, 0x10004, 0x0e85},
    {CACHE, 0x00005, 0x00c4},
    {CACHE, 0x10005, 0x00c5},
    {CACHE, 0x00006, REQUEST(5)},
    {CACHE, 0x10006, REQUEST(6)},
    {CACHE, 0x00106, REQUEST(7)},
    {CACHE, 0x10106, REQUEST(8)},
};
static const struct model_fact facts[] = {
    {"cycles", 0x003c},        {"ref-cycles", 0x0300},      {"instructions", 0x00c0}, {"branches", 0x00c4},
    {"branch-misses", 0x00c5}, {"branches-return", 0x08c4}, {"llc-access", 0x4f2e},   {"llc-miss", 0x412e},
};

static bool is_offcore(uint64_t code)
{
    return (code & 0xffff) == OFFCORE || (code & 0xffff) == OFFCORE_OTHER;
}

static int init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    if (req->type == KERNEL_TYPE_RAW && is_offcore(out->code))
        out->code |= req->config1 << 40;
    switch (out->code) {
    case 0x00c0:
        out->counters = LOWEST(4) | FIXED(0);
        break;
    case 0x003c:
        out->counters = LOWEST(4) | FIXED(1);
        break;
    case 0x0300:
        out->counters = FIXED(2);
        break;
    case 0x01c0: /* INST_RETIRED.PREC_DIST */
        out->counters = COUNTER(1);
        break;
    default:
        out->counters = LOWEST(4);
        break;
    }
    return model_x86_init(driver, req, out);
}

static bool seat(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                 struct model_seat *seats)
{
    uint64_t requests[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        if (!is_offcore(events[i]->code))
            continue;
        size_t r = 0;
        while (r < 2 && requests[r] != 0 && requests[r] != events[i]->code)
            r++;
        if (r == 2)
            return false;
        requests[r] = events[i]->code;
    }
    return model_seat_scarce_first(driver, events, n, seats);
}

const struct model_driver model_intel_skylake = {
    .name = "intel, as of Skylake",
    .counters = LOWEST(4) | FIXED(0) | FIXED(1) | FIXED(2),
    .width = 48,
    .unmapped = ENOENT,
    .group_check = true,
    .raw_mask = UINT64_C(0xff84ffff),
    .generic = generic,
    .n_generic = N(generic),
    .facts = facts,
    .n_facts = N(facts),
    .user_read = true,
    .init = init,
    .seat = seat,
};
