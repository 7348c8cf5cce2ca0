/* SPDX-License-Identifier: MIT */
/**
 * @file
 * File of a process's switch: whether functions are recorded, and which; changed by other processes, too.
 *
 * The page of the gate is mapped over the word that the hooks read. The gate has the number of the interval in which calls are
 * recorded, and their clock. A change begins a new interval: calls that have not returned end at the stop of theirs, which
 * each thread does at its next call or return.
 */
#ifndef UPMU_FUNC_SWITCH_H
#define UPMU_FUNC_SWITCH_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUNC_SWITCH_FILE ".functions_switch"
#define FUNC_SWITCH_MAGIC "upmufsw"

enum {
    FUNC_SWITCH_VERSION = 1,
    FUNC_SWITCH_STEP = 65536, /**< the largest page */
    FUNC_SWITCH_BYTES = 3 * FUNC_SWITCH_STEP,
    FUNC_STOPS = 1024,      /**< intervals whose stop is known; a power of two */
    FUNC_SELECTIONS = 2,    /**< the one in use, and the one before */
    FUNC_PATTERNS_MAX = 32, /**< of a list */
    FUNC_PATTERN_MAX = 256, /**< bytes of a pattern, with a NUL */
    FUNC_PATTERNS_BYTES = FUNC_PATTERNS_MAX * FUNC_PATTERN_MAX,
};

/** The gate: a kind, and the number of the interval. */
enum {
    FUNC_OFF = 0,
    FUNC_ON_ISA = 1,      /**< on, with the instruction set's tick */
    FUNC_ON_PORTABLE = 2, /**< on, with the kernel's clock */
    FUNC_KIND = 3,
    FUNC_INTERVAL_SHIFT = 2,
};

static inline uint32_t func_gate_interval(uint32_t gate)
{
    return gate >> FUNC_INTERVAL_SHIFT;
}

/** Which functions are recorded. */
struct func_selection {
    uint64_t min_ns;    /**< shorter calls have no events */
    uint32_t depth_max; /**< functions of a call path; 0: any number */
    uint32_t reserved;
    char include[FUNC_PATTERNS_BYTES], exclude[FUNC_PATTERNS_BYTES], below[FUNC_PATTERNS_BYTES]; /**< "": no patterns */
};
static_assert(FUNC_SELECTIONS * sizeof(struct func_selection) <= FUNC_SWITCH_STEP, "the selections fit");

struct func_stop {
    uint64_t interval; /**< + 1; 0: unused */
    uint64_t tick;
};

/** Beginning of the file; the page of the gate follows at FUNC_SWITCH_STEP, the selections at twice that. */
struct func_switch {
    char magic[8];
    uint32_t version;
    uint32_t kind;     /**< of the gate when it is on */
    uint32_t gate_at;  /**< offset of the gate; 0: only the process itself can change it */
    uint32_t selected; /**< number of the selection; it is at this modulo FUNC_SELECTIONS */
    uint32_t events;   /**< 1: each call has events */
    uint32_t paused;   /**< the gate as it was when the process began with recording stopped; 0: it did not */
    struct func_stop stops[FUNC_STOPS]; /**< by interval */
};
static_assert(sizeof(struct func_switch) <= FUNC_SWITCH_STEP, "the header fits");

/** Whether a mapped file of `bytes` bytes is one. */
bool func_switch_is_valid(const struct func_switch *s, size_t bytes);
/** The gate in the mapped file; NULL if it is not there. */
uint32_t *func_switch_gate(struct func_switch *s);

/** Begin an interval, unless calls are recorded. Async-signal-safe. @return whether they were. */
bool func_switch_on(const struct func_switch *s, uint32_t *gate);
/** End the interval at `tick`. Async-signal-safe. @return whether calls were recorded. */
bool func_switch_off(struct func_switch *s, uint32_t *gate, uint64_t tick);
/** When an interval ended. @param tick 0: it is so long ago that it is not known
 *  @return false: it has not ended. */
bool func_switch_stopped(const struct func_switch *s, uint32_t gate, uint32_t interval, uint64_t *tick);

static inline struct func_selection *func_switch_selection(const struct func_switch *s, uint32_t number)
{
    return (struct func_selection *)(uintptr_t)((uintptr_t)s + 2 * (uintptr_t)FUNC_SWITCH_STEP) +
           number % FUNC_SELECTIONS;
}

/** Store patterns, separated by commas. @param what names them in messages @return 0; UPMU_E_INVAL. */
int func_patterns_set(char to[FUNC_PATTERNS_BYTES], const char *what, const char *text);

/** What is to change of a selection. */
struct func_selection_change {
    const char *include, *exclude, *below; /**< NULL: unchanged */
    uint32_t depth_max;                    /**< 0: unchanged; UINT32_MAX: none */
    uint64_t min_ns;                       /**< 0: unchanged; UINT64_MAX: none */
};
/** Select other functions from `tick` on. Under a lock that all callers take. @return 0; UPMU_E_INVAL, UPMU_E_STATE (min without events). */
int func_switch_select(struct func_switch *s, uint32_t *gate, const struct func_selection_change *c, uint64_t tick);

#endif
