/* SPDX-License-Identifier: MIT */
/*
 * The true event counts of a modeled machine over simulated time.
 *
 * Rates are whole events per microsecond, so that counts are exact in integers.
 */
#include "models/model.h"

enum {
    PHASE_US = 37000, /* no multiple or divisor of the scheduler's tick */
    PHASES = 3,       /* factors 1, 2 and 3 in turn */
    RATES = 4093,     /* up to 4 per nanosecond */
};

/* Time weighted by how busy it is. */
static uint64_t busy_time(enum model_load load, uint64_t us)
{
    if (load == MODEL_STEADY)
        return us;
    uint64_t round = (uint64_t)PHASE_US * PHASES;
    uint64_t total = us / round * (PHASE_US * (1 + 2 + 3));
    uint64_t rest = us % round;
    for (unsigned factor = 1; rest > 0; factor++) {
        uint64_t part = rest < PHASE_US ? rest : PHASE_US;
        total += part * factor;
        rest -= part;
    }
    return total;
}

unsigned load_factor_max(enum model_load load)
{
    return load == MODEL_STEADY ? 1 : PHASES;
}

/* Spread codes over the rates; the constants are those of the splitmix64 generator. */
static uint64_t rate(uint64_t code, uint64_t salt)
{
    uint64_t x = code * 8 + salt + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return 1 + (x ^ (x >> 31)) % RATES;
}

uint64_t load_count(enum model_load load, uint64_t code, unsigned modes, uint64_t us)
{
    uint64_t per_us = (modes & MODEL_USER ? rate(code, 0) : 0) + (modes & MODEL_KERNEL ? rate(code, 1) : 0);
    return per_us * busy_time(load, us);
}

uint64_t load_software(enum model_load load, uint64_t id, unsigned modes, uint64_t us)
{
    if (id == KERNEL_SW_CPU_CLOCK || id == KERNEL_SW_TASK_CLOCK)
        return us * 1000;
    uint64_t per_us = (modes & MODEL_USER ? rate(id, 2) : 0) + (modes & MODEL_KERNEL ? rate(id, 3) : 0);
    return per_us * busy_time(load, us);
}
