/* SPDX-License-Identifier: MIT */
/* Cases of the deadlock corpus, one process each, and their shared helpers. */
#ifndef UPMU_TESTS_DEADLOCK_CASES_H
#define UPMU_TESTS_DEADLOCK_CASES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A case: by its name on the command line. */
struct dl_case {
    const char *name;
    void (*run)(void);
};

/** All tables of the program, then NULL. */
extern const struct dl_case *const dl_cases[];

/* One table per file; a list ends with an entry without name. */
extern const struct dl_case cases_cycles[];
extern const struct dl_case cases_blocked[];
extern const struct dl_case cases_rwlocks[];
extern const struct dl_case cases_quiet[];
extern const struct dl_case cases_order[];
extern const struct dl_case cases_semaphores[];
extern const struct dl_case cases_forked[];
extern const struct dl_case cases_standard[];
extern const struct dl_case cases_mixed[];
extern const struct dl_case cases_crossing[];
extern const struct dl_case cases_nested[];
extern const struct dl_case cases_lives[];
extern const struct dl_case cases_late[];
extern const struct dl_case cases_orders[];

/** End the process with a message if a call that cannot fail has failed. */
void dl_must(int rc, const char *what);
#define MUST(call) dl_must((call), #call)

/** Start a thread. */
pthread_t dl_start(void *(*function)(void *), void *arg);
/** Sleep. */
void dl_rest(unsigned ms);

/** Return once the thread sleeps. */
void dl_until_asleep(pid_t tid);

/** A barrier that sync tracing does not see: dl_meet() returns once `n` threads have called it. */
struct dl_meeting {
    unsigned come;
};
void dl_meet(struct dl_meeting *m, unsigned n);

/** Threads run one after the other, ordered by nothing that sync tracing sees. Wait for turn `mine`, the first is 0; pass
 *  the turn to the next. */
void dl_turn(unsigned mine);
void dl_next(void);
/** Two threads, joined. */
void dl_both(void *(*x)(void *), void *(*y)(void *));

/** A mutex of a type (PTHREAD_MUTEX_NORMAL, ...). */
void dl_mutex(pthread_mutex_t *m, int type);

/** Called once by the next condition wait, after it was recorded and before it releases its mutex. See late_release.c. */
extern void (*dl_before_release)(void);

/** Two threads that each hold one mutex and wait for the other's. */
void dl_cross(pthread_mutex_t *a, pthread_mutex_t *b);

#ifdef __cplusplus
}
#endif

#endif
