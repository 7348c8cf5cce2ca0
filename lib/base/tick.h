/* SPDX-License-Identifier: MIT */
/** @file One tick of the machine's cheapest clock with a constant rate. One short block per ISA, ending in the
 *  portable clock; clock.c decides once whether the ISA's counter may be used. */
#ifndef UPMU_BASE_TICK_H
#define UPMU_BASE_TICK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define TICK_ISA_NAME "TSC"
static inline uint64_t tick_isa(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define TICK_ISA_NAME "CNTVCT_EL0"
static inline uint64_t tick_isa(void)
{
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
}
#elif defined(__loongarch64)
#define TICK_ISA_NAME "rdtime.d"
static inline uint64_t tick_isa(void)
{
    uint64_t t;
    __asm__ volatile("rdtime.d %0, $zero" : "=r"(t));
    return t;
}
#elif defined(__riscv) && __riscv_xlen == 64
#define TICK_ISA_NAME "rdtime"
static inline uint64_t tick_isa(void)
{
    uint64_t t;
    __asm__ volatile("rdtime %0" : "=r"(t));
    return t;
}
#elif defined(__mips64)
#define TICK_ISA_NAME "drdtime"
/* Of Loongson's 3A4000, unknown to assemblers: the counter to $8, its number to $9. */
static inline uint64_t tick_isa(void)
{
    register uint64_t t __asm__("$8"), number __asm__("$9");
    __asm__ volatile(".insn\n.word 0xc8090118 | (9 << 21) | (8 << 11)" : "=r"(t), "=r"(number));
    return t;
}
#elif defined(__sw_64__)
#define TICK_ISA_NAME "rtc"
static inline uint64_t tick_isa(void)
{
    uint64_t t;
    __asm__ volatile("rtc %0" : "=r"(t));
    return t;
}
#endif

/** clock_gettime() of the C library itself, set by clock_start(): that of a preloaded library may return another time, and may take
 *  the very lock whose acquisition is recorded. */
extern int (*tick_clock_gettime)(clockid_t id, struct timespec *out);

/** A clock in nanoseconds. Signal safe, keeps errno. */
static inline uint64_t tick_clock_ns(clockid_t id)
{
    struct timespec ts = {0};
    tick_clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/** CLOCK_MONOTONIC_RAW in nanoseconds. Signal safe, keeps errno. Cold: where it is not inlined, callers of tick_now() need no
 *  frame for it. */
static inline __attribute__((cold)) uint64_t tick_portable(void)
{
    return tick_clock_ns(CLOCK_MONOTONIC_RAW);
}

#ifdef TICK_ISA_NAME
/** Set by clock_start(): 1 if the ISA's counter has a constant rate here. */
extern uint32_t tick_use_isa __attribute__((visibility("hidden")));

/** Whether tick_now() is a few instructions, without a call. */
static inline bool tick_is_short(void)
{
    return __builtin_expect(tick_use_isa != 0, 1);
}

/** tick_now() where tick_is_short(). */
static inline uint64_t tick_short(void)
{
    return tick_isa();
}

/** Ticks now; clock_start() must have run. Signal safe, keeps errno. */
static inline uint64_t tick_now(void)
{
    return __builtin_expect(tick_use_isa, 1) ? tick_isa() : tick_portable();
}
#else
static inline bool tick_is_short(void)
{
    return false;
}

static inline uint64_t tick_short(void)
{
    return 0;
}

static inline uint64_t tick_now(void)
{
    return tick_portable();
}
#endif

#endif
