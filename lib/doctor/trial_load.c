/* SPDX-License-Identifier: MIT */
/*
 * A load for trials that triggers most kinds of events.
 *
 * An event that counts nothing under it is rare or does not work. Results go to volatile objects so that the
 * compiler keeps the work.
 */
#include "doctor/trial_load.h"

#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LOAD_STEPS = 4096, LOAD_PAGES = 96, LOAD_CALLS = 256, LOAD_LINE = 64 };

static uint32_t load_random(uint32_t x)
{
    return x * 1664525u + 1013904223u;
}

/* Both directions are equally frequent, in an order that no predictor learns. */
static void load_branches(uint32_t seed, unsigned steps)
{
    volatile uint64_t sink;
    uint64_t sum = 0;
    for (unsigned i = 0; i < steps; i++) {
        seed = load_random(seed);
        if (seed & 0x10000000u)
            sink = sum += seed;
        else
            sum ^= (uint64_t)i * seed;
    }
    sink = sum;
    (void)sink;
}

static void load_numbers(unsigned steps)
{
    volatile double x = 1.5;
    for (unsigned i = 1; i < steps; i++)
        x = x * 1.0000001 + 1.0 / i;
}

__attribute__((noinline)) static uint64_t trial_load_callee(uint64_t x)
{
    return x * 3 + 1;
}

static void load_calls(unsigned calls)
{
    uint64_t (*volatile way)(uint64_t) = trial_load_callee;
    uint64_t x = 1;
    for (unsigned i = 0; i < calls; i++)
        x = way(x);
}

/* New pages, touched in many lines, then read again out of order and unaligned. */
static void load_memory(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = LOAD_PAGES * page;
    unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return; /* a trial that sees less reports "not seen" */
    for (size_t i = 0; i < bytes; i += LOAD_LINE)
        at[i] = (unsigned char)i;
    uint32_t where = 1;
    uint64_t sum = 0, word;
    volatile uint64_t sink;
    for (unsigned i = 0; i < LOAD_STEPS; i++) {
        where = load_random(where);
        memcpy(&word, at + (where >> 8) % (bytes - sizeof word), sizeof word);
        sum += word;
    }
    sink = sum;
    (void)sink;
    munmap(at, bytes);
}

/* Leave the CPU and return. */
static void load_sleep(void)
{
    const struct timespec moment = {.tv_nsec = 1000};
    nanosleep(&moment, NULL); /* an interrupted sleep has left the CPU, too */
    sched_yield();
}

void trial_load(unsigned rounds)
{
    for (unsigned r = 0; r < rounds; r++) {
        load_branches(r + 1, LOAD_STEPS);
        load_numbers(LOAD_STEPS);
        load_calls(LOAD_CALLS);
        load_memory();
        load_sleep();
    }
}
