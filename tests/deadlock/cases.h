/* SPDX-License-Identifier: MIT */
/* The cases of the corpus of deadlocks, one process each, and what they share. Room: tests. Before it: corpus.sh, which
 * runs them; after it: sync tracing and upmu deadlock. */
#ifndef UPMU_TESTS_DEADLOCK_CASES_H
#define UPMU_TESTS_DEADLOCK_CASES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A case: by its name on the command line. */
struct dl_case {
    const char *name;
    void (*run)(void);
};

/* One table per file; a list ends with an entry without name. */
extern const struct dl_case cases_cycles[];
extern const struct dl_case cases_stands[];
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

/** End the process with a message if a call that cannot fail has failed. */
void dl_must(int rc, const char *what);
#define MUST(call) dl_must((call), #call)

/** Start a thread. */
pthread_t dl_start(void *(*function)(void *), void *arg);
/** Sleep. */
void dl_rest(unsigned ms);

/** A meeting point of threads that sync tracing sees nothing of: nobody goes on before `n` have come. */
struct dl_meeting {
    unsigned come;
};
void dl_meet(struct dl_meeting *m, unsigned n);

/** Threads take turns without anything that sync tracing knows of: there is no order between them but luck. Wait for turn
 *  `mine`, the first is 0; give the turn to the next. */
void dl_turn(unsigned mine);
void dl_next(void);
/** Two threads, joined. */
void dl_both(void *(*x)(void *), void *(*y)(void *));

/** A mutex of a type (PTHREAD_MUTEX_NORMAL, ...). */
void dl_mutex(pthread_mutex_t *m, int type);

/** Two threads that each hold one mutex and want the other's. */
void dl_cross(pthread_mutex_t *a, pthread_mutex_t *b);

#ifdef __cplusplus
}
#endif

#endif
