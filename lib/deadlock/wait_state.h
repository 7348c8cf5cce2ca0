/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the threads of a process stand at: the file .live read, and who in it stands for ever.
 * Room: analysis. Before it: the file that sync tracing writes (trace/format/wait_state.h), /proc; after it: deadlocks.c, watch.c.
 */
#ifndef UPMU_ANALYSIS_STANDING_H
#define UPMU_ANALYSIS_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/textbuf.h"
#include "trace/format/wait_state.h"
#include "deadlock/graph/blocked.h"

/** A thread's slot as it was at one moment. */
struct stand_thread {
    struct live_slot head;   /**< without the locks held */
    struct live_stack stack; /**< of a thread that waits; its frames are those of `head` if the numbers are the same */
    uint32_t first_held, n_held;
};

/** What beside the threads could end a wait. */
struct stand_wakers {
    bool known;        /**< somebody looked at the process while it stood */
    bool asleep;       /**< and all threads that wait slept: none was woken and has only not got to run yet */
    uint64_t asked_ns; /**< since when that is known */
    uint64_t caught;   /**< signals with a handler of the program's, bit n-1 for signal n */
    uint32_t timers;
    uint32_t unknown; /**< threads nobody knows what they do */
    bool inside;      /**< what is waited for lies in memory that no other process has */
};

struct wait_state {
    struct live_header header;
    struct stand_thread *threads; /**< those that run, wait or have ended with locks held */
    size_t n_threads, cap_threads;
    struct live_held *held;
    size_t n_held, cap_held;
    struct stand_wakers wakers;
    struct wg_picture picture; /**< thread `i` is threads[i]; one more that runs may follow */
};

/**
 * Read the process's directory. @return 1; 0: there is no file of what threads stand at; UPMU_E_NOMEM, UPMU_E_FORMAT,
 * UPMU_E_VERSION, UPMU_E_IO. The status is to be freed in any case.
 */
int wait_state_read(struct wait_state *s, const char *dir);
/** Look at the process itself, which lives: signal handlers, timers, threads that do not record, and such as were woken and
 *  have not come to say so: they run. */
void wait_state_ask(struct wait_state *s);
/** Of signals with a handler those that could end a wait, bit n-1 for signal n. */
uint64_t wait_state_signals(uint64_t caught);
/** Keep what wait_state_ask() found of threads that slept in the process's directory, for those who come when it has ended. */
int wait_state_keep(const struct wait_state *s, const char *dir);
/** A moment at which a process is about to be found alive. */
struct stand_moment {
    uint64_t raw_ns, real_ns; /**< CLOCK_MONOTONIC_RAW, CLOCK_REALTIME */
};
struct stand_moment wait_state_moment(void);
/** Keep that the process lived at that moment, for those who come when it was killed. @return 0; UPMU_E_IO, also where
 *  there is no file of what threads stand at. */
int wait_state_keep_alive(const char *dir, const struct stand_moment *at);
/** Find who stands. @return 0; UPMU_E_NOMEM. */
int wait_state_solve(struct wait_state *s);
/** What could end a stall, in words. */
void wait_state_wakers_text(const struct wait_state *s, const struct wg_trouble_found *f, struct textbuf *out);
void wait_state_free(struct wait_state *s);

/** A number that changes when any thread of the trouble moves, or any thread at all where it takes all of them to stand; and
 *  differs between troubles. */
uint64_t wait_state_signature(const struct wait_state *s, const struct wg_trouble_found *f);

#endif
