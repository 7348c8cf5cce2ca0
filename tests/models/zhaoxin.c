/* SPDX-License-Identifier: MIT */
/*
 * Zhaoxin: arch/x86/events/zhaoxin/core.c of mainline, and of the deepin kernel for the KX-7000. Place: tests. Before it:
 * model.c; after it: x86.c and the tables below.
 */
#include "models/rows.h"

enum { GENERAL = 4 };

#define SINCE_ZXE_CACHES                                                                                        \
    {CACHE, 0x00000, 0x0568}, {CACHE, 0x10000, 0x054b}, {CACHE, 0x00100, 0x0669}, {CACHE, 0x10100, 0x0562},     \
        {CACHE, 0x00001, 0x0300}, {CACHE, 0x10001, 0x0301}, {CACHE, 0x00201, 0x030a}, {CACHE, 0x10201, 0x030b}, \
        {CACHE, 0x00003, 0x0568}, {CACHE, 0x10003, 0x052c}, {CACHE, 0x00103, 0x0669}, {CACHE, 0x10103, 0x0530}, \
        {CACHE, 0x00203, 0x0564}, {CACHE, 0x10203, 0x0565}, {CACHE, 0x00004, 0x00c0}, {CACHE, 0x10004, 0x0534}, \
        {CACHE, 0x00005, 0x0028},                                                                               \
    {                                                                                                           \
        CACHE, 0x10005, 0x0029                                                                                  \
    }

static const struct model_generic map_zxc[] = {{HW, 0x0, 0x0082}};
static const struct model_generic map_zxd[] = {
    {HW, 0x0, 0x0082},        {HW, 0x1, 0x00c0},        {HW, 0x2, 0x0515},        {HW, 0x3, 0x051a},
    {HW, 0x4, 0x0700},        {HW, 0x5, 0x0709},        {HW, 0x6, 0x0083},        {HW, 0x7, 0x01800101},
    {HW, 0x8, 0x040f},        {CACHE, 0x00000, 0x0042}, {CACHE, 0x10000, 0x0538}, {CACHE, 0x00100, 0x0043},
    {CACHE, 0x10100, 0x0562}, {CACHE, 0x00001, 0x0300}, {CACHE, 0x10001, 0x0301}, {CACHE, 0x00201, 0x030a},
    {CACHE, 0x10201, 0x030b}, {CACHE, 0x00003, 0x0042}, {CACHE, 0x10003, 0x052c}, {CACHE, 0x00103, 0x0043},
    {CACHE, 0x10103, 0x0530}, {CACHE, 0x00203, 0x0564}, {CACHE, 0x10203, 0x0565}, {CACHE, 0x00004, 0x00c0},
    {CACHE, 0x10004, 0x0534}, {CACHE, 0x00005, 0x0700}, {CACHE, 0x10005, 0x0709},
};
static const struct model_generic map_zxe[] = {
    SINCE_ZXE_CACHES,  {HW, 0x0, 0x0082}, {HW, 0x1, 0x00c0}, {HW, 0x2, 0x0515},     {HW, 0x3, 0x051a},
    {HW, 0x4, 0x0028}, {HW, 0x5, 0x0029}, {HW, 0x6, 0x0083}, {HW, 0x7, 0x01800101}, {HW, 0x8, 0x040f},
};
static const struct model_generic map_kx7000[] = {
    SINCE_ZXE_CACHES,  {HW, 0x0, 0x0082}, {HW, 0x1, 0x00c0},     {HW, 0x2, 0x051a}, {HW, 0x4, 0x0028},
    {HW, 0x5, 0x0029}, {HW, 0x6, 0x0083}, {HW, 0x7, 0x01800102}, {HW, 0x8, 0x040f},
};

static const struct model_fact facts_zxc[] = {{"cycles", 0x0082}};
static const struct model_fact facts_zxd[] = {
    {"cycles", 0x0082},         {"l1d-load-miss", 0x0538},   {"l1d-store", 0x0043},
    {"l1d-store-miss", 0x0562}, {"l1i-access", 0x0300},      {"l1i-miss", 0x0301},
    {"dtlb-load-miss", 0x052c}, {"dtlb-store-miss", 0x0530}, {"itlb-miss", 0x0534},
};
static const struct model_fact facts_zxe[] = {
    {"cycles", 0x0082},         {"l1d-load-miss", 0x054b},   {"l1d-store", 0x0669},
    {"l1d-store-miss", 0x0562}, {"l1i-access", 0x0300},      {"l1i-miss", 0x0301},
    {"dtlb-load-miss", 0x052c}, {"dtlb-store-miss", 0x0530}, {"itlb-miss", 0x0534},
};

static uint64_t fixed_counters(uint64_t code)
{
    switch (code) {
    case 0x00c0:
        return FIXED(0);
    case 0x0082:
        return FIXED(1);
    case 0x0083:
        return FIXED(2);
    default:
        return 0;
    }
}

static int init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    out->counters = LOWEST(GENERAL) | fixed_counters(out->code);
    return model_x86_init(driver, req, out);
}

/* Instructions have no fixed counter there. */
static int init_zxc(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    int rc = init(driver, req, out);
    out->counters &= ~FIXED(0);
    return rc;
}

#define ZHAOXIN_DRIVER                                                                             \
    .counters = LOWEST(GENERAL) | FIXED(0) | FIXED(1) | FIXED(2), .width = 48, .unmapped = ENOENT, \
    .group_check = true, .user_read = true, .raw_mask = UINT64_C(0xff84ffff), .seat = model_seat_scarce_first

const struct model_driver model_zxc = {
    ZHAOXIN_DRIVER,     .name = "ZX-C",          .generic = map_zxc, .n_generic = N(map_zxc),
    .facts = facts_zxc, .n_facts = N(facts_zxc), .init = init_zxc,
};

const struct model_driver model_zxd = {
    ZHAOXIN_DRIVER,     .name = "ZX-D",          .generic = map_zxd, .n_generic = N(map_zxd),
    .facts = facts_zxd, .n_facts = N(facts_zxd), .init = init,
};

const struct model_driver model_zxe = {
    ZHAOXIN_DRIVER,     .name = "ZX-E",          .generic = map_zxe, .n_generic = N(map_zxe),
    .facts = facts_zxe, .n_facts = N(facts_zxe), .init = init,
};

const struct model_driver model_kx7000 = {
    ZHAOXIN_DRIVER,     .name = "KX-7000, deepin", .generic = map_kx7000, .n_generic = N(map_kx7000),
    .facts = facts_zxe, .n_facts = N(facts_zxe),   .init = init,
};
