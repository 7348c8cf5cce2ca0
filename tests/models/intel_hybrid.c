/* SPDX-License-Identifier: MIT */
/*
 * Intel cores since Golden Cove, hybrid CPUs included: intel_glc, intel_grt, intel_lnc and intel_skt in
 * arch/x86/events/intel/core.c. A code has the counters that the kernel's constraint tables give it; offcore responses
 * share two registers, whose value is part of the event.
 */
#include "models/rows.h"

/* An offcore response is selected by the value of its register, folded into the bits above all codes. */
#define FOLDED(value) (((uint64_t)(value) ^ (uint64_t)(value) >> 22) & 0xffffff)
#define REQUEST(code, value) ((uint64_t)(code) | FOLDED(value) << 40)

#define ARCHITECTURAL                                                                                                 \
    {HW, 0x0, 0x003c}, {HW, 0x1, 0x00c0}, {HW, 0x2, 0x4f2e}, {HW, 0x3, 0x412e}, {HW, 0x4, 0x00c4}, {HW, 0x5, 0x00c5}, \
        {HW, 0x6, 0x013c},                                                                                            \
    {                                                                                                                 \
        HW, 0x9, 0x0300                                                                                               \
    }

/* Lion Cove has the table of Golden Cove, the values of its registers included. */
static const struct model_generic big[] = {
    ARCHITECTURAL,
    {CACHE, 0x00000, 0x81d0},
    {CACHE, 0x10000, 0xe124},
    {CACHE, 0x00100, 0x82d0},
    {CACHE, 0x10001, 0xe424},
    {CACHE, 0x00002, REQUEST(0x012a, 0x10001)},
    {CACHE, 0x10002, REQUEST(0x012a, 0x3fbfc00001)},
    {CACHE, 0x00102, REQUEST(0x012a, 0x3f3ffc0002)},
    {CACHE, 0x10102, REQUEST(0x012a, 0x3f3fc00002)},
    {CACHE, 0x00003, 0x81d0},
    {CACHE, 0x10003, 0x0e12},
    {CACHE, 0x00103, 0x82d0},
    {CACHE, 0x10103, 0x0e13},
    {CACHE, 0x10004, 0x0e11},
    {CACHE, 0x00005, 0x04c4},
    {CACHE, 0x10005, 0x04c5},
    {CACHE, 0x00006, REQUEST(0x012a, 0x10c000001)},
    {CACHE, 0x10006, REQUEST(0x012a, 0x3fb3000001)},
};

static const struct model_generic small[] = {
    ARCHITECTURAL,
    {CACHE, 0x00000, 0x81d0},
    {CACHE, 0x00100, 0x82d0},
    {CACHE, 0x00001, 0x0380},
    {CACHE, 0x10001, 0x0280},
    {CACHE, 0x00002, REQUEST(0x01b7, 0x10001)},
    {CACHE, 0x10002, REQUEST(0x01b7, 0x3f04000001)},
    {CACHE, 0x00102, REQUEST(0x01b7, 0x10002)},
    {CACHE, 0x10102, REQUEST(0x01b7, 0x3f04000002)},
    {CACHE, 0x00003, 0x81d0},
    {CACHE, 0x10003, 0x0e08},
    {CACHE, 0x00103, 0x82d0},
    {CACHE, 0x10103, 0x0e49},
    {CACHE, 0x10004, 0x0481},
    {CACHE, 0x00005, 0x00c4},
    {CACHE, 0x10005, 0x00c5},
};

#define ARCHITECTURAL_FACTS                                                                     \
    {"cycles", 0x003c}, {"instructions", 0x00c0}, {"ref-cycles", 0x0300}, {"branches", 0x00c4}, \
        {"branch-misses", 0x00c5}, {"llc-access", 0x4f2e},                                      \
    {                                                                                           \
        "llc-miss", 0x412e                                                                      \
    }

static const struct model_fact golden_cove[] = {
    ARCHITECTURAL_FACTS,
    {"branches-return", 0x08c4},
    {"branches-conditional", 0x11c4},
};
static const struct model_fact lion_cove[] = {
    ARCHITECTURAL_FACTS,
    {"branches-return", 0x08c4},
    {"branches-conditional", UINT64_C(0x100000011c4)},
};
static const struct model_fact gracemont[] = {
    ARCHITECTURAL_FACTS,
    {"branches-return", 0xf7c4},
    {"branches-conditional", 0x7ec4},
    {"uops-retired", 0x00c2},
};
static const struct model_fact skymont[] = {
    ARCHITECTURAL_FACTS,      {"branches-return", 0xf7c4}, {"branches-conditional", 0x7ec4},
    {"uops-retired", 0x00c2}, {"fp-instructions", 0x3fc7},
};

/* A row of a constraint table: codes from `first` to `last` under the mask. The first row that fits counts. */
struct constraint {
    uint64_t mask, first, last, counters;
};
#define EXACTLY(code, where)                  \
    {                                         \
        ~UINT64_C(0), (code), (code), (where) \
    }
#define UMASK(code, where)              \
    {                                   \
        0xffff, (code), (code), (where) \
    }
#define EVENTS(from, to, where)     \
    {                               \
        0xff, (from), (to), (where) \
    }

/* The codes of fixed counters; those without an event in their lowest byte have no other. */
#define FIXED_CODES(general)                                                                  \
    EXACTLY(0x00c0, FIXED(0) | LOWEST(general)), EXACTLY(0x003c, FIXED(1) | LOWEST(general)), \
        EXACTLY(0x0300, FIXED(2)), EXACTLY(0x013c, FIXED(2) | LOWEST(general))

static const struct constraint glc[] = {
    FIXED_CODES(8),
    EXACTLY(0x0100, FIXED(0)),
    EXACTLY(0x0400, FIXED(3)),
    EVENTS(0x2e, 0x2e, LOWEST(8)),
    EVENTS(0x3c, 0x3c, LOWEST(8)),
    EVENTS(0x01, 0x8f, LOWEST(4)),
    UMASK(0x01a3, LOWEST(4)),
    UMASK(0x02a3, LOWEST(4)),
    UMASK(0x08a3, LOWEST(4)),
    UMASK(0x04a4, COUNTER(0)),
    UMASK(0x08a4, COUNTER(0)),
    UMASK(0x02cd, COUNTER(0)),
    EVENTS(0xce, 0xce, COUNTER(0)),
    EVENTS(0xd0, 0xdf, LOWEST(4)),
};
static const struct constraint lnc[] = {
    FIXED_CODES(10),
    EXACTLY(0x0100, FIXED(0)),
    EXACTLY(0x0400, FIXED(3)),
    EVENTS(0x20, 0x20, LOWEST(4)),
    UMASK(0x012a, LOWEST(4)),
    UMASK(0x012b, LOWEST(4)),
    UMASK(0x0148, COUNTER(2)),
    UMASK(0x0175, COUNTER(2)),
    UMASK(0x08a3, COUNTER(2)),
    UMASK(0x0ca3, COUNTER(2)),
    UMASK(0x04a4, COUNTER(0)),
    UMASK(0x08a4, COUNTER(0)),
    UMASK(0x10a4, COUNTER(0)),
    UMASK(0x01b1, COUNTER(3)),
    UMASK(0x01cd, LOWEST(10) & ~LOWEST(2)),
    UMASK(0x02cd, LOWEST(2)),
    EVENTS(0xd0, 0xdf, LOWEST(4)),
    UMASK(0x00e0, LOWEST(4)),
};
static const struct constraint grt[] = {FIXED_CODES(6)};
static const struct constraint cmt[] = {FIXED_CODES(8)};
static const struct constraint skt[] = {
    FIXED_CODES(8),
    EXACTLY(0x0073, FIXED(4) | LOWEST(8)),
    EXACTLY(0x019c, FIXED(5) | LOWEST(8)),
    EXACTLY(0x02c2, FIXED(6) | LOWEST(8)),
};

static void constrain(struct model_code *out, const struct constraint *rows, size_t n, unsigned general)
{
    out->counters = LOWEST(general);
    for (size_t i = 0; i < n; i++) {
        uint64_t code = out->code & rows[i].mask;
        if (code < rows[i].first || code > rows[i].last)
            continue;
        out->counters = rows[i].counters;
        return;
    }
}

static bool is_offcore(const struct model_driver *driver, uint64_t code)
{
    uint64_t event = code & 0xffff;
    return driver->generic == big ? event == 0x012a || event == 0x012b : event == 0x01b7 || event == 0x02b7;
}

/* Bits of a register that are not for events are refused. */
static int ask_register(const struct model_driver *driver, const struct kernel_open *req, uint64_t value_mask,
                        struct model_code *out)
{
    if (req->type != KERNEL_TYPE_RAW || !is_offcore(driver, out->code))
        return 0;
    if (req->config1 & ~value_mask)
        return -EINVAL;
    out->code = REQUEST(out->code & 0xffff, req->config1);
    return 0;
}

#define INIT(core, value_mask, general)                                                                              \
    static int init_##core(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out) \
    {                                                                                                                \
        constrain(out, core, N(core), (general));                                                                    \
        int rc = ask_register(driver, req, UINT64_C(value_mask), out);                                               \
        return rc ? rc : model_x86_init(driver, req, out);                                                           \
    }
INIT(glc, 0x3fffffffff, 8)
INIT(lnc, 0xfffffffffff, 10)
INIT(grt, 0x3fffffffff, 6)
INIT(cmt, 0x800ff3ffffffffff, 8)
INIT(skt, 0x800ff3ffffffffff, 8)

/* Two registers, whichever of the two codes was asked for. */
static bool seat(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                 struct model_seat *seats)
{
    uint64_t requests[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        if (!is_offcore(driver, events[i]->code))
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

#define INTEL_DRIVER(core, maps, known)                                                                              \
    .width = 48, .unmapped = ENOENT, .group_check = true, .generic = (maps), .n_generic = N(maps), .facts = (known), \
    .n_facts = N(known), .user_read = true, .init = init_##core, .seat = seat

#define THREE_FIXED (FIXED(0) | FIXED(1) | FIXED(2))

const struct model_driver model_intel_goldencove = {
    INTEL_DRIVER(glc, big, golden_cove),
    .name = "intel, Golden Cove",
    .counters = LOWEST(8) | THREE_FIXED | FIXED(3),
    .raw_mask = UINT64_C(0x3ff84ffff),
};
const struct model_driver model_intel_lioncove = {
    INTEL_DRIVER(lnc, big, lion_cove),
    .name = "intel, Lion Cove",
    .counters = LOWEST(10) | THREE_FIXED | FIXED(3),
    .raw_mask = UINT64_C(0xff13ff84ffff),
};
const struct model_driver model_intel_gracemont = {
    INTEL_DRIVER(grt, small, gracemont),
    .name = "intel, Gracemont",
    .counters = LOWEST(6) | THREE_FIXED,
    .raw_mask = UINT64_C(0xff84ffff),
};
const struct model_driver model_intel_crestmont = {
    INTEL_DRIVER(cmt, small, gracemont),
    .name = "intel, Crestmont",
    .counters = LOWEST(8) | THREE_FIXED,
    .raw_mask = UINT64_C(0xff84ffff),
};
const struct model_driver model_intel_skymont = {
    INTEL_DRIVER(skt, small, skymont),
    .name = "intel, Skymont",
    .counters = LOWEST(8) | THREE_FIXED | FIXED(4) | FIXED(5) | FIXED(6),
    .raw_mask = UINT64_C(0xff10ff84ffff),
};
