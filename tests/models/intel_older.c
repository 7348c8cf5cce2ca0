/* SPDX-License-Identifier: MIT */
/*
 * Intel cores before Haswell: arch/x86/events/intel/core.c. Place: tests. Before it: model.c; after it: x86.c and the tables
 * below. Events are tied to counters by their event number or by one unit mask of it; Nehalem has one extra register for
 * the events beyond the core, Sandy Bridge two, Core 2 none.
 */
#include "models/rows.h"

enum { OFFCORE = 0x1b7, OFFCORE_OTHER = 0x1bb };
#define REQUEST(id) (UINT64_C(0x1b7) | (UINT64_C(0x100000) | (id)) << 40)

#define ARCHITECTURAL                                                                                                 \
    {HW, 0x0, 0x003c}, {HW, 0x1, 0x00c0}, {HW, 0x2, 0x4f2e}, {HW, 0x3, 0x412e}, {HW, 0x4, 0x00c4}, {HW, 0x5, 0x00c5}, \
        {HW, 0x6, 0x013c},                                                                                            \
    {                                                                                                                 \
        HW, 0x9, 0x0300                                                                                               \
    }
#define BEYOND_THE_CORE                                                                           \
    {CACHE, 0x00002, REQUEST(1)}, {CACHE, 0x10002, REQUEST(2)}, {CACHE, 0x00102, REQUEST(3)},     \
        {CACHE, 0x10102, REQUEST(4)}, {CACHE, 0x00202, REQUEST(5)}, {CACHE, 0x10202, REQUEST(6)}, \
        {CACHE, 0x00006, REQUEST(7)}, {CACHE, 0x10006, REQUEST(8)}, {CACHE, 0x00106, REQUEST(9)}, \
        {CACHE, 0x10106, REQUEST(10)}, {CACHE, 0x00206, REQUEST(11)},                             \
    {                                                                                             \
        CACHE, 0x10206, REQUEST(12)                                                               \
    }

static const struct model_generic core2[] = {
    ARCHITECTURAL,
    {CACHE, 0x00000, 0x0f40},
    {CACHE, 0x10000, 0x0140},
    {CACHE, 0x00100, 0x0f41},
    {CACHE, 0x10100, 0x0141},
    {CACHE, 0x00200, 0x104e},
    {CACHE, 0x00001, 0x0080},
    {CACHE, 0x10001, 0x0081},
    {CACHE, 0x00002, 0x4f29},
    {CACHE, 0x10002, 0x4129},
    {CACHE, 0x00102, 0x4f2a},
    {CACHE, 0x10102, 0x412a},
    {CACHE, 0x00003, 0x0f40},
    {CACHE, 0x10003, 0x0208},
    {CACHE, 0x00103, 0x0f41},
    {CACHE, 0x10103, 0x0808},
    {CACHE, 0x00004, 0x00c0},
    {CACHE, 0x10004, 0x1282},
    {CACHE, 0x00005, 0x00c4},
    {CACHE, 0x10005, 0x00c5},
};
static const struct model_generic nehalem[] = {
    ARCHITECTURAL,
    BEYOND_THE_CORE,
    {HW, 0x7, 0x180010e},
    {HW, 0x8, 0x1803fb1},
    {CACHE, 0x00000, 0x010b},
    {CACHE, 0x10000, 0x0151},
    {CACHE, 0x00100, 0x020b},
    {CACHE, 0x10100, 0x0251},
    {CACHE, 0x00200, 0x014e},
    {CACHE, 0x10200, 0x024e},
    {CACHE, 0x00001, 0x0380},
    {CACHE, 0x10001, 0x0280},
    {CACHE, 0x00003, 0x0f40},
    {CACHE, 0x10003, 0x0108},
    {CACHE, 0x00103, 0x0f41},
    {CACHE, 0x10103, 0x010c},
    {CACHE, 0x00004, 0x01c0},
    {CACHE, 0x10004, 0x20c8},
    {CACHE, 0x00005, 0x00c4},
    {CACHE, 0x10005, 0x03e8},
};
static const struct model_generic ivybridge[] = {
    ARCHITECTURAL,
    BEYOND_THE_CORE,
    {HW, 0x7, 0x180010e},
    {CACHE, 0x00000, 0xf1d0},
    {CACHE, 0x10000, 0x0151},
    {CACHE, 0x00100, 0xf2d0},
    {CACHE, 0x10100, 0x0851},
    {CACHE, 0x10200, 0x024e},
    {CACHE, 0x10001, 0x0280},
    {CACHE, 0x00003, 0x81d0},
    {CACHE, 0x10003, 0x8108},
    {CACHE, 0x00103, 0x82d0},
    {CACHE, 0x10103, 0x0149},
    {CACHE, 0x00004, 0x1085},
    {CACHE, 0x10004, 0x0185},
    {CACHE, 0x00005, 0x00c4},
    {CACHE, 0x10005, 0x00c5},
};
/* Of mispredicted branches parts of Nehalem count others: they come last. */
static const struct model_fact facts[] = {
    {"cycles", 0x003c},     {"ref-cycles", 0x0300}, {"instructions", 0x00c0},  {"branches", 0x00c4},
    {"llc-access", 0x4f2e}, {"llc-miss", 0x412e},   {"branch-misses", 0x00c5},
};

/* ------------------------------------------------------------------------------------------------- constraints */

/* An event of these codes needs one of these counters. */
struct tie {
    uint64_t mask, code, counters;
};

static const struct tie core2_ties[] = {
    {0xff, 0x10, COUNTER(0)}, {0xff, 0x11, COUNTER(1)}, {0xff, 0x12, COUNTER(1)}, {0xff, 0x13, COUNTER(1)},
    {0xff, 0x14, COUNTER(0)}, {0xff, 0x18, COUNTER(0)}, {0xff, 0x19, COUNTER(1)}, {0xff, 0xa1, COUNTER(0)},
    {0xff, 0xc9, COUNTER(0)}, {0xff, 0xcb, COUNTER(0)},
};
static const struct tie nehalem_ties[] = {
    {0xff, 0x40, LOWEST(2)}, {0xff, 0x41, LOWEST(2)}, {0xff, 0x42, LOWEST(2)}, {0xff, 0x43, LOWEST(2)},
    {0xff, 0x48, LOWEST(2)}, {0xff, 0x4e, LOWEST(2)}, {0xff, 0x51, LOWEST(2)}, {0xff, 0x63, LOWEST(2)},
};
static const struct tie ivybridge_ties[] = {
    {0xffff, 0x0148, COUNTER(2)},
    {0xffff, 0x08a3, COUNTER(2)},
    {0xffff, 0x0ca3, COUNTER(2)},
    {0xffff, 0x01c0, COUNTER(1)},
};

static bool is_offcore(uint64_t code)
{
    return (code & 0xffff) == OFFCORE || (code & 0xffff) == OFFCORE_OTHER;
}

static int tied(const struct model_driver *driver, const struct kernel_open *req, const struct tie *ties, size_t n,
                struct model_code *out)
{
    uint64_t general = driver->counters & LOWEST(32);
    out->counters = out->code == 0x00c0   ? general | FIXED(0)
                    : out->code == 0x003c ? general | FIXED(1)
                    : out->code == 0x0300 ? FIXED(2)
                                          : general;
    for (size_t i = 0; i < n; i++)
        if ((out->code & ties[i].mask) == ties[i].code)
            out->counters = ties[i].counters;
    return model_x86_init(driver, req, out);
}

static int core2_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    return tied(driver, req, core2_ties, N(core2_ties), out);
}

static int nehalem_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    if (req->type == KERNEL_TYPE_RAW && is_offcore(out->code))
        out->code |= req->config1 << 40;
    return tied(driver, req, nehalem_ties, N(nehalem_ties), out);
}

static int ivybridge_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    if (req->type == KERNEL_TYPE_RAW && is_offcore(out->code))
        out->code |= req->config1 << 40;
    return tied(driver, req, ivybridge_ties, N(ivybridge_ties), out);
}

/* Different requests among the events. */
static size_t requests(const struct model_code *const *events, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = !is_offcore(events[i]->code);
        for (size_t k = 0; k < i && !seen; k++)
            seen = events[k]->code == events[i]->code;
        found += !seen;
    }
    return found;
}

static bool one_request(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                        struct model_seat *seats)
{
    return requests(events, n) <= 1 && model_seat_scarce_first(driver, events, n, seats);
}

static bool two_requests(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                         struct model_seat *seats)
{
    return requests(events, n) <= 2 && model_seat_scarce_first(driver, events, n, seats);
}

/* -------------------------------------------------------------------------------------------------- the drivers */

#define INTEL_DRIVER(general)                                                                              \
    .counters = LOWEST(general) | FIXED(0) | FIXED(1) | FIXED(2), .unmapped = ENOENT, .group_check = true, \
    .raw_mask = UINT64_C(0xff84ffff), .facts = facts, .user_read = true

const struct model_driver model_intel_core2 = {
    INTEL_DRIVER(2),  .n_facts = N(facts),   .name = "intel core 2", .width = 40,
    .generic = core2, .n_generic = N(core2), .init = core2_init,     .seat = model_seat_scarce_first,
};

const struct model_driver model_intel_nehalem = {
    INTEL_DRIVER(4),    .n_facts = N(facts) - 1, .name = "intel nehalem", .width = 48,
    .generic = nehalem, .n_generic = N(nehalem), .init = nehalem_init,    .seat = one_request,
};

const struct model_driver model_intel_ivybridge = {
    INTEL_DRIVER(4),      .n_facts = N(facts),       .name = "intel ivy bridge", .width = 48,
    .generic = ivybridge, .n_generic = N(ivybridge), .init = ivybridge_init,     .seat = two_requests,
};
