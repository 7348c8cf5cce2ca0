/* SPDX-License-Identifier: MIT */
/** @file Making and ending of a thread's block. */
#ifndef UPMU_SYNC_THREAD_LIFE_H
#define UPMU_SYNC_THREAD_LIFE_H

#include "sync_trace/state/thread.h"

/** Where the program called the function this is written in. */
#define CALL_SITE() ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

/** Make the tables and the key. @return 0; UPMU_E_NOMEM, UPMU_E_LIMIT, UPMU_E_SYSTEM. */
int sync_threads_start(void);
/** In a child: drop the parent's block of this thread. */
void sync_threads_forget(void);
/** A new thread, before the program's function: allocates what cannot be allocated later. Tracing is on or paused. */
void sync_thread_begin(void);
/** Record the name that a thread was given. */
void sync_thread_name(struct sync_thread *t, pthread_t thread, const char *name);
/** From here on the calling thread's CPU time and switches count: those of an older thread's past and of a new one's start do not. */
void sync_thread_usage_begin(struct sync_thread *t);
/** The calling thread ends: its last events, if it is recorded. */
void sync_thread_exit_event(struct sync_thread *t);

/** The calling thread's block, made if need be; NULL if it cannot record now. Keeps errno. */
struct sync_thread *sync_thread_make(void);
/** Of early.c: whether the calling thread has left its wait (`sync_tls.early`) by a jump; then it has ended that. Keeps errno. */
extern bool (*sync_thread_left_early)(void) __attribute__((visibility("hidden")));

/** A block for thread `tid`, which is blocked and has none; NULL. */
struct sync_thread *sync_thread_make_for(pid_t tid, pthread_t self, const char *name);
/** The calling thread takes the block that was made for it. @return NULL if it cannot record. Keeps errno. */
struct sync_thread *sync_thread_adopt(struct sync_thread *t);

static inline struct sync_thread *sync_thread(void)
{
    struct sync_thread *t = sync_tls.thread;
    return LIKELY(t != NULL && sync_is_ready(t)) ? t : sync_thread_make();
}

/** The block of a thread that records events, not only counts; NULL. */
static inline struct sync_thread *sync_recording(void)
{
    uint32_t mode = sync_mode();
    return LIKELY(mode == MODE_OFF || mode == MODE_COUNTS) ? NULL : sync_thread();
}

/** The block of a thread that records, or holds locks acquired while tracing was on; NULL. */
static inline struct sync_thread *sync_release_thread(uint32_t mode)
{
    struct sync_thread *t = mode == MODE_OFF || sync_tls.refused ? sync_tls.thread : sync_thread();
    bool nothing = t == NULL || __atomic_load_n(&t->ready, __ATOMIC_RELAXED) == SYNC_NOT_READY ||
                   (mode == MODE_OFF && t->depth == 0);
    return nothing ? NULL : t;
}

#endif
