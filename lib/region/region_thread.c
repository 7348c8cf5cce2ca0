/* SPDX-License-Identifier: MIT */
/*
 * First use and end of regions in a thread.
 *
 * In a forked child the first use of any thread sets the process up anew.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/error.h"
#include "region/region_frames.h"

static pthread_key_t end_key;

/* ------------------------------------------------------------------------------------------- forked child */

/* Whether the program has recorded locks and has ended that: its children do not record them either. */
static bool child_locks_ended(const struct control_header *parent)
{
    return parent && __atomic_load_n(&parent->pauses, __ATOMIC_RELAXED) != 0 &&
           __atomic_load_n(&parent->mode, __ATOMIC_RELAXED) == CONTROL_OFF &&
           __atomic_load_n(&parent->chosen, __ATOMIC_RELAXED) == 0;
}

/* Keep the copied set-up, drop the parent's trace and threads. A filter that was installed since the parent's recording began was not
 * judged by the calls that make a trace: it may end the child. */
static void child_start_clean(struct region_process *p)
{
    region_blocks_forget();
    clock_renew();
    if (p->trace) {
        bool locks_ended = child_locks_ended(trace_writer_control(p->trace));
        struct control_header *parent = trace_writer_forget(p->trace);
        enum trace_child child = TRACE_CHILD_RECORDED;
        uint32_t filters = region_filters();
        p->trace = NULL;
        if (filters > p->filters) {
            child = TRACE_CHILD_FILTERED;
            __atomic_store_n(&p->finished, 1, __ATOMIC_RELEASE);
        } else if (region_trace_open(p, filters) < 0) {
            child = TRACE_CHILD_FAILED;
            region_note(upmu_error());
        } else if (locks_ended) {
            control_pause(trace_writer_control(p->trace), 1, false); /* from its begin on */
        }
        trace_writer_forget_parent(parent, child);
    }
    p->child = 1;
    p->begin_ticks = p->end_ticks = 0;
    clock_sample(&p->start);
}

static void child_start(void)
{
    struct region_shared *shared = upmu_regions.shared;
    uint32_t free_claim = 0;
    if (__atomic_compare_exchange_n(&shared->claimed, &free_claim, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        child_start_clean(&upmu_regions);
        __atomic_store_n(&shared->alive, 1, __ATOMIC_RELEASE);
    }
    /* Another thread of the child does it: its work is short and does not wait for this one. */
    while (!__atomic_load_n(&shared->alive, __ATOMIC_ACQUIRE))
        usleep(10);
}

/* ---------------------------------------------------------------------------------------------- first use */

/* A thread without a block: in a forked child the whole process must be set up first. */
static struct region_thread *thread_start(void)
{
    struct region_thread *t = NULL;
    struct cancel_hold cancel;
    if (region_tls.starting || __atomic_load_n(&upmu_regions.finished, __ATOMIC_RELAXED))
        return NULL; /* a signal handler interrupted the creation */
    cancel_hold(&cancel);
    region_tls.starting = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&upmu_regions.shared->alive, __ATOMIC_ACQUIRE))
        child_start();
    if (__atomic_load_n(&upmu_regions.finished, __ATOMIC_ACQUIRE))
        region_tls.refused = 1;
    if (!region_tls.refused && (t = region_block_make()) != NULL) {
        pthread_setspecific(end_key, t);
        __atomic_store_n(&t->live, 1, __ATOMIC_RELEASE);
        region_thread_set(t);
    } else if (!region_tls.refused) {
        region_tls.refused = 1;
        __atomic_fetch_add(&upmu_regions.threads_lost, 1, __ATOMIC_RELAXED);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    region_tls.starting = 0;
    cancel_resume(&cancel);
    return t;
}

struct region_thread *region_thread_get(void)
{
    struct region_thread *t = region_tls.thread;
    if (!upmu_regions.shared)
        return NULL;
    if (t && t->live) {
        if (!__atomic_load_n(&t->busy, __ATOMIC_RELAXED))
            return t;
        __atomic_fetch_add(&t->misuse.interrupted, 1, __ATOMIC_RELAXED); /* another handler may come in between */
        return NULL;
    }
    int saved = errno;
    t = thread_start();
    errno = saved;
    /* Creation interrupted by this signal handler, an ended thread, no memory: counted in no block. */
    if (!t)
        __atomic_fetch_add(&upmu_regions.turned_away, 1, __ATOMIC_RELAXED);
    return t;
}

/* -------------------------------------------------------------------------------------------------- ending */

static void thread_end(struct region_thread *t)
{
    int saved = errno;
    struct cancel_hold cancel;
    cancel_hold(&cancel);
    region_block_check(t);
    region_leave_open(t);
    region_life_end(t);
    __atomic_store_n(&t->misuse.never_ended, t->misuse.never_ended + t->left, __ATOMIC_RELAXED);
    __atomic_store_n(&t->ended, 1, __ATOMIC_RELEASE);
    region_tls.refused = 1;
    region_thread_set(NULL);
    region_block_end(t);
    errno = saved;
    cancel_resume(&cancel);
}

/* The program's own destructors may still use regions: ask to be called again, except for the last round, which is left to
 * runtimes that destroy the thread's state (ThreadSanitizer must not be called after it). */
static void region_on_thread_end(void *arg)
{
    struct region_thread *t = arg;
    if (t != region_tls.thread || !t->live || __atomic_load_n(&upmu_regions.finished, __ATOMIC_ACQUIRE))
        return; /* a parent's block seen in a forked child */
    if (++t->rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 && pthread_setspecific(end_key, t) == 0)
        return;
    thread_end(t);
}

int region_threads_start(void)
{
    /* Once per process, even if set-up fails and is tried again. */
    static bool key_made;
    if (!key_made && pthread_key_create(&end_key, region_on_thread_end) != 0)
        return upmu_fail(UPMU_E_LIMIT, "no thread-specific key is left (PTHREAD_KEYS_MAX)");
    key_made = true;
    region_blocks_layout();
    return 0;
}
