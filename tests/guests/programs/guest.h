/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The test harness of the guests' programs: named tests, and work of known instruction counts.
 *
 * Each test runs in a process of its own, so that a crash is one failed test.
 */
#ifndef UPMU_TESTS_GUEST_H
#define UPMU_TESTS_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upmu/upmu.h"

struct guest_test {
    const char *name; /**< the behavior */
    void (*run)(void);
};

/** Run all, one line each; "N passed, N failed, N skipped" at the end. @return the program's exit status. */
int guest_run(const struct guest_test *tests, size_t n);

/** Note a failure with its source location and message, and continue. */
void UPMU_PRINTF(4, 5) guest_failed(const char *file, int line, const char *condition, const char *fmt, ...);
/** End the test of this process as skipped. */
void UPMU_PRINTF(1, 2) __attribute__((noreturn)) guest_skip(const char *fmt, ...);
/** A line of the test's own: what was measured. */
void UPMU_PRINTF(1, 2) guest_note(const char *fmt, ...);

/** The condition holds, or the test has failed; it continues, so that all numbers are printed. */
#define EXPECT(condition, ...) ((condition) ? (void)0 : guest_failed(__FILE__, __LINE__, #condition, __VA_ARGS__))
/** `value` is in [low, high]. */
#define EXPECT_WITHIN(value, low, high, what)                                                                        \
    do {                                                                                                             \
        uint64_t value_ = (value), low_ = (low), high_ = (high);                                                     \
        EXPECT(value_ >= low_ && value_ <= high_, "%s: %llu is not in %llu..%llu", what, (unsigned long long)value_, \
               (unsigned long long)low_, (unsigned long long)high_);                                                 \
    } while (0)

enum { LOOP_INSTRUCTIONS = 1000000 };

/** Execute `instructions` (even) instructions, and up to ten more for the call. */
void guest_loop(unsigned long instructions);

/** Memory that is mapped and has been written to. */
unsigned char *guest_memory(size_t pages);
/** Make the kernel flush what the TLB holds of it: the next access to each page is a miss, however large the TLB. */
void guest_flush(unsigned char *memory, size_t pages);

/** Cycles per instruction of an emulator that counts instructions as its clock, from the guest's command line
 *  (guest_shift=N); 0 if the guest was booted otherwise. */
unsigned guest_cycles_per_instruction(void);

/** Write a number to a file of /proc/sys. @return whether it was taken. */
bool guest_sysctl(const char *path, int value);

/** A counter of the calling thread's system calls, by the kernel's tracepoint at their entry: those that fit `filter`, or
 *  all of them (NULL). Skips the test where there is no such tracepoint. @return its descriptor. */
int guest_calls_counter(const char *filter);
/** How many there were so far. */
uint64_t guest_calls(int counter);

/* ------------------------------------------------------------------------------------------- libupmu in short */

enum { GUEST_EVENTS_MAX = 16 };

/** Open, or fail the test and end it. */
struct upmu_set *guest_open(const char *events, uint32_t target, uint32_t flags, int pid);
void guest_start(struct upmu_set *set);
void guest_stop(struct upmu_set *set);
void guest_read(struct upmu_set *set, struct upmu_value *values);
/** The value is a number of this status; the message names the event and its reason otherwise. */
bool guest_status(struct upmu_set *set, size_t i, const struct upmu_value *v, int status);

#endif
