/* SPDX-License-Identifier: MIT */
/*
 * RISC-V cores with raw codes of their own, under drivers/perf/riscv_pmu_sbi.c and a firmware as device trees configure it.
 *
 * Sources: c910 and c906: discussion of the kernel's c900-legacy list (device tree of the SG2042); u74: cover letter of the
 * kernel's U74 list; p550: arch/riscv/boot/dts/eswin/eic7700.dtsi. What the firmware of the X60 maps is not public: raw codes
 * alone, on four counters.
 */
#include "models/rows.h"

enum { CYCLE_CSR = 0, INSTRET_CSR = 2, FIRST_CSR = 3, FIRMWARE_CSR = 32, FIRMWARE_COUNTERS = 16 };

/* Codes of events that have no raw code, apart from all raw codes. */
#define CYCLES (UINT64_C(1) << 48)
#define INSTRUCTIONS (UINT64_C(1) << 48 | 1)
#define FIRMWARE_BIT (UINT64_C(1) << 63)
#define FIRMWARE_EVENTS 22
#define HPM(first, n) (LOWEST(n) << (first))

#define FIXED_IDS             \
    {HW, 0x0, CYCLES},        \
    {                         \
        HW, 0x1, INSTRUCTIONS \
    }

static int reject_filters(const struct kernel_open *req)
{
    return req->exclude ? -EINVAL : 0;
}

/* What is the same on all cores; 1: the raw code in `out` is for the core. */
static int init_shared(const struct kernel_open *req, struct model_code *out)
{
    if (req->type == KERNEL_TYPE_HARDWARE && req->config <= 1) {
        out->counters = COUNTER(req->config == 0 ? CYCLE_CSR : INSTRET_CSR);
        return 0;
    }
    if (req->type == KERNEL_TYPE_RAW && req->config & FIRMWARE_BIT) {
        if ((req->config & ~FIRMWARE_BIT) >= FIRMWARE_EVENTS)
            return -ENOENT;
        out->counters = HPM(FIRMWARE_CSR, FIRMWARE_COUNTERS);
        return 0;
    }
    return 1;
}

/* T-Head: code n is counted in counter n + 2. */
static bool c910_has(uint64_t code)
{
    return code >= 0x01 && code <= 0x1c && code != 0x07;
}

static bool c906_has(uint64_t code)
{
    return (code >= 0x01 && code <= 0x07) || (code >= 0x0b && code <= 0x0f) || (code >= 0x1d && code <= 0x2a);
}

static int thead_init(const struct kernel_open *req, struct model_code *out, bool (*has)(uint64_t code))
{
    int rc = init_shared(req, out);
    if (rc == 1 && !has(out->code))
        return -ENOENT;
    /* Beyond counter 31 no number is documented: each code keeps one of its own. */
    if (rc == 1)
        out->counters = COUNTER(out->code < 0x1d ? out->code + 2 : FIRMWARE_CSR + FIRMWARE_COUNTERS + out->code - 0x1d);
    return reject_filters(req);
}

static int c910_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    return thead_init(req, out, c910_has);
}

static int c906_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver;
    return thead_init(req, out, c906_has);
}

/* SiFive: bits 7:0 are a class, the others a mask of its events. */
static bool sifive_has(uint64_t code, const uint64_t events[3])
{
    uint64_t class = code & 0xff, mask = code & ~UINT64_C(0xff);
    return class < 3 && mask != 0 && (mask & ~events[class]) == 0;
}

static int sifive_init(const struct kernel_open *req, struct model_code *out, const uint64_t events[3], unsigned n)
{
    int rc = init_shared(req, out);
    if (rc == 1 && !sifive_has(out->code, events))
        return -ENOENT;
    if (rc == 1)
        out->counters = HPM(FIRST_CSR, n);
    return 0;
}

static int u74_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    static const uint64_t events[3] = {0x3ffff00, 0x7ff00, 0x3f00};
    int rc = sifive_init(req, out, events, 2);
    (void)driver;
    return rc ? rc : reject_filters(req);
}

/* Firmware that passes no raw code on. */
static int u74_init_no_raw(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    if (req->type == KERNEL_TYPE_RAW && !(req->config & FIRMWARE_BIT))
        return -ENOENT;
    return u74_init(driver, req, out);
}

static int p550_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    static const uint64_t events[3] = {0x3ffff00, 0x1f800, 0x1ff00};
    (void)driver;
    return sifive_init(req, out, events, 4);
}

static int x60_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    int rc = init_shared(req, out);
    (void)driver;
    if (rc != 1)
        return rc;
    if (out->code < 0x01 || out->code > 0xbd)
        return -ENOENT;
    out->counters = HPM(FIRST_CSR, 4);
    return 0;
}

static const struct model_generic c910_generic[] = {
    FIXED_IDS,
    {HW, 0x5, 0x08},
    {HW, 0x4, 0x09},
    {CACHE, 0x00000, 0x0c},
    {CACHE, 0x10000, 0x0d},
    {CACHE, 0x00100, 0x0e},
    {CACHE, 0x10100, 0x0f},
    {CACHE, 0x00001, 0x01},
    {CACHE, 0x10001, 0x02},
    {CACHE, 0x00002, 0x10},
    {CACHE, 0x10002, 0x11},
    {CACHE, 0x00102, 0x12},
    {CACHE, 0x10102, 0x13},
    {CACHE, 0x10003, 0x04},
    {CACHE, 0x10004, 0x03},
};
static const struct model_generic c906_generic[] = {
    FIXED_IDS,
    {HW, 0x2, 0x01},
    {HW, 0x3, 0x02},
    {HW, 0x4, 0x07},
    {HW, 0x5, 0x06},
    {CACHE, 0x00000, 0x0c},
    {CACHE, 0x10000, 0x0d},
    {CACHE, 0x00100, 0x0e},
    {CACHE, 0x10100, 0x0f},
    {CACHE, 0x10003, 0x04},
    {CACHE, 0x10004, 0x03},
};
static const struct model_generic u74_generic[] = {
    FIXED_IDS,
    {HW, 0x2, 0x1801},
    {HW, 0x3, 0x0302},
    {HW, 0x4, 0x4000},
    {HW, 0x5, 0x6001},
    {CACHE, 0x10000, 0x0202},
    {CACHE, 0x00100, 0x402},
    {CACHE, 0x10001, 0x102},
    {CACHE, 0x10002, 0x2002},
    {CACHE, 0x10003, 0x1002},
    {CACHE, 0x10004, 0x0802},
};
static const struct model_generic p550_generic[] = {
    FIXED_IDS,
    {HW, 0x3, 0x0202},
    {HW, 0x4, 0x4000},
    {HW, 0x5, 0x2001},
    {CACHE, 0x10001, 0x102},
    {CACHE, 0x10003, 0x1002},
    {CACHE, 0x10004, 0x0802},
};

static const struct model_generic x60_generic[] = {
    FIXED_IDS,
};

static const struct model_fact c910_facts[] = {
    {"instructions", INSTRUCTIONS},
    {"dtlb-miss", 0x04},
    {"itlb-miss", 0x03},
    {"l1d-load", 0x0c},
    {"l1d-load-miss", 0x0d},
    {"l1d-store", 0x0e},
    {"l1d-store-miss", 0x0f},
    {"l1i-access", 0x01},
    {"l1i-miss", 0x02},
    {"l2-load", 0x10},
    {"l2-load-miss", 0x11},
    {"l2-store", 0x12},
    {"stores", 0x0b},
};
static const struct model_fact c906_facts[] = {
    {"instructions", INSTRUCTIONS}, {"branches-conditional", 0x07}, {"fp-instructions", 0x2a},
    {"interrupts", 0x23},           {"l1d-load-miss", 0x0d},        {"l1i-miss", 0x02},
    {"loads-stores", 0x1e},         {"simd-instructions", 0x1f},    {"stores", 0x0b},
    {"unaligned-access", 0x22},
};
static const struct model_fact u74_facts[] = {
    {"instructions", INSTRUCTIONS}, {"branches-conditional", 0x4000}, {"dtlb-miss", 0x1002}, {"exceptions", 0x100},
    {"itlb-miss", 0x0802},          {"l1d-writeback", 0x0402},        {"l1i-miss", 0x0102},
};
static const struct model_fact p550_facts[] = {
    {"instructions", INSTRUCTIONS}, {"branches-conditional", 0x4000},
    {"dtlb-miss", 0x1002},          {"exceptions", 0x100},
    {"itlb-miss", 0x0802},          {"l1d-miss", 0x0202},
    {"l1d-writeback", 0x0402},      {"l1i-miss", 0x0102},
};
static const struct model_fact x60_facts[] = {
    {"instructions", INSTRUCTIONS},
    {"branch-misses", 0x45},
    {"branches", 0x3c},
    {"branches-conditional", 0x01},
    {"exceptions", 0x41},
    {"interrupts", 0x40},
    {"l1d-access", 0xaa},
    {"l1d-miss", 0xab},
    {"l1d-load", 0x06},
    {"l1d-load-miss", 0x05},
    {"l1d-store", 0x0a},
    {"l1d-store-miss", 0x09},
    {"l1i-access", 0x0c},
    {"l1i-miss", 0x0b},
    {"l2-access", 0xb8},
    {"l2-miss", 0xb9},
    {"l2-load", 0xba},
    {"l2-store", 0xbc},
    {"dtlb-load-miss", 0x15},
    {"dtlb-store-miss", 0x19},
    {"itlb-miss", 0x1b},
    {"loads", 0x2d},
    {"stores", 0x2c},
    {"fp-instructions", 0x2b},
    {"simd-instructions", 0x3b},
    {"instructions-spec", 0x4d},
};

#define FIXED_CSRS (COUNTER(CYCLE_CSR) | COUNTER(INSTRET_CSR))
#define FIRMWARE_CSRS HPM(FIRMWARE_CSR, FIRMWARE_COUNTERS)
#define CORE(counts)                                                                                            \
    .counters = FIXED_CSRS | FIRMWARE_CSRS | (counts), .width = 64, .unmapped = ENOENT, .raw_mask = UINT64_MAX, \
    .user_read = true

const struct model_driver model_riscv_c910 = {
    CORE(HPM(FIRST_CSR, 28)),     .name = "riscv sbi, C910", .no_interrupt = true,     .generic = c910_generic,
    .n_generic = N(c910_generic), .facts = c910_facts,       .n_facts = N(c910_facts), .init = c910_init,
};

const struct model_driver model_riscv_c906 = {
    CORE(HPM(FIRST_CSR, 26) | HPM(FIRMWARE_CSR + FIRMWARE_COUNTERS, 14)),
    .name = "riscv sbi, C906",
    .no_interrupt = true,
    .generic = c906_generic,
    .n_generic = N(c906_generic),
    .facts = c906_facts,
    .n_facts = N(c906_facts),
    .init = c906_init,
};

const struct model_driver model_riscv_u74 = {
    CORE(HPM(FIRST_CSR, 2)),     .name = "riscv sbi, U74", .no_interrupt = true,    .generic = u74_generic,
    .n_generic = N(u74_generic), .facts = u74_facts,       .n_facts = N(u74_facts), .init = u74_init,
};

const struct model_driver model_riscv_u74_no_raw = {
    CORE(HPM(FIRST_CSR, 2)),
    .name = "riscv sbi, U74, no raw events",
    .no_interrupt = true,
    .generic = u74_generic,
    .n_generic = N(u74_generic),
    .facts = u74_facts,
    .n_facts = 1,
    .init = u74_init_no_raw,
};

const struct model_driver model_riscv_p550 = {
    CORE(HPM(FIRST_CSR, 4)), .name = "riscv sbi, P550", .generic = p550_generic, .n_generic = N(p550_generic),
    .facts = p550_facts,     .n_facts = N(p550_facts),  .init = p550_init,
};

const struct model_driver model_riscv_x60 = {
    CORE(HPM(FIRST_CSR, 4)), .name = "riscv sbi, X60", .generic = x60_generic, .n_generic = N(x60_generic),
    .facts = x60_facts,      .n_facts = N(x60_facts),  .init = x60_init,
};
