/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Locks and condition variables of C++ libraries, for the wrappers of Qt and Abseil.
 *
 * The library's own functions are called with the recorder off in the thread: the futexes, mutexes and condition variables that
 * they use are parts of the lock.
 */
#ifndef UPMU_SYNC_LIBRARY_LOCK_H
#define UPMU_SYNC_LIBRARY_LOCK_H

#include <errno.h>

#include "sync_trace/account/acquire.h"
#include "sync_trace/thread_life.h"
#include "sync_trace/wrap/cond.h"

/** A library's own function. One loaded with RTLD_LOCAL is not in the scope that RTLD_NEXT searches: then it is found in `library`, and
 *  else among the libraries of the caller, which is bound to the function. Keeps errno.
 *  @param version: of the symbol; NULL: any. @param library: NULL: none. @return NULL: there is none. */
void *library_find(const char *name, const char *version, const char *library, uintptr_t site);

/** The same for a constructor, of a library that the program is linked to: a later lookup waits for the loader's lock, and constructors
 *  inside another thread's dlopen() may wait for what this thread holds. */
void *library_find_early(const char *name, const char *version);

/** A scope in which a library's function runs. */
struct library_inside {
    struct sync_thread *t;
    uint32_t before;
};

static inline void library_left(const struct library_inside *inside)
{
    sync_unguard(inside->t, inside->before);
    sync_tls.busy = 0;
}

/** What a library calls in this scope belongs to the lock, and is not counted as lost. Also if the thread is canceled in it. */
#define LIBRARY_INSIDE(thread) \
    sync_tls.busy = 1;         \
    const struct library_inside inside_ __attribute__((unused, cleanup(library_left))) = {(thread), sync_guard(thread)}

/** A call for a lock. Wrappers put it at the beginning of a struct with what `real` and `attempt` need. */
struct library_call {
    struct lock_call lock;                         /**< TRIED: `real` does not wait; TIMED: it has a time limit */
    bool (*real)(const struct library_call *c);    /**< the function that was called; false: not acquired */
    bool (*attempt)(const struct library_call *c); /**< acquires without waiting; NULL: that has failed already */
};

/** Wait for a lock that is taken. @return whether it was acquired. */
bool library_wait(struct sync_thread *t, uint32_t mode, const struct library_call *c);

static inline bool library_try(struct sync_thread *t, const struct library_call *c)
{
    LIBRARY_INSIDE(t);
    return c->attempt(c);
}

/** Acquire a lock. Inlined, because the stack of the acquisition is copied from the wrapper's frame on.
 *  @return whether it was acquired. */
static inline __attribute__((always_inline)) bool library_lock(struct library_call *c)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    bool tries = (c->lock.flags & UPMU_TRACE_FLAG_TRIED) != 0;
    if (!t)
        return c->real(c);
    if (!tries)
        c->lock.request_stack = sync_request(t, mode, c->lock.type, c->lock.key, c->lock.site);
    bool got = c->attempt && library_try(t, c);
    if (got)
        sync_acquired(t, mode, &c->lock, 0);
    else if (tries)
        sync_try_failed(t, mode, &c->lock, EBUSY);
    return got || (!tries && library_wait(t, mode, c));
}

/** sync_release_begin() of a lock that may be held for reading: then the key becomes a reader's. */
bool library_release_begin(struct sync_thread *t, uint32_t mode, struct lock_call *lock, struct lock_release *r);
/** Release a lock by `real`. `inlined`: a thread may have acquired it by code of the program that no wrapper sees. */
void library_unlock(struct library_call *c, bool inlined);

/** A wait that releases the lock, and has it again however it ends. */
struct library_wait {
    struct library_call lock; /**< `real`: the function that was called; false: the time limit has passed */
    const void *cond;         /**< the condition variable */
};

/** @return what `real` returned. */
bool library_cond_wait(struct library_wait *w);
/** Signal a condition variable by the library's function; `kind` as of sync_cond_signal_write(). */
void library_signal(void (*real)(void *cond), int32_t kind, void *cond, uintptr_t site);

#endif
