/* SPDX-License-Identifier: MIT */
/*
 * The life of a thread's block. Room: sync_trace; before it a thread's first traced call, after it the wrappers.
 *
 * Blocks come from mmap, wiped in forked children, and are never unmapped: a waiter may look at a holder's block at any
 * moment. An ended thread's block goes to the next new thread.
 *
 * A thread ends in the last but one round of the destructors of thread-specific data: the recorder gives the thread's
 * stream back in the last one, and the order of two destructors within a round depends on who made his key first.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/held.h"
#include "sync_trace/lock_memory.h"
#include "trace/write/writer.h"

_Thread_local struct sync_tls sync_tls;

/* A round before the recorder takes the thread's stream back (lib/region/region_thread.c). */
enum { COUNTS_FIRST = 128, LAST_ROUND = PTHREAD_DESTRUCTOR_ITERATIONS - 2 };

void *sync_map_wiped(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (madvise(p, bytes, MADV_WIPEONFORK) == 0)
        return p;
    munmap(p, bytes);
    return NULL;
}

/* ------------------------------------------------------------------------------------- from thread id to block */

static size_t tid_slot(pid_t tid)
{
    return (uint32_t)tid * 2654435761u % SYNC_TID_SLOTS;
}

/* A thread for which there is no room among its neighbours is found by nobody; that is "holder not known". */
static void tid_enter(struct sync_thread *t)
{
    for (size_t i = 0; i < SYNC_TID_PROBES; i++) {
        struct sync_thread *expected = NULL;
        struct sync_thread **slot = &sync_process.by_tid[(tid_slot(t->tid) + i) % SYNC_TID_SLOTS];
        if (__atomic_compare_exchange_n(slot, &expected, t, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
}

static void tid_leave(struct sync_thread *t)
{
    for (size_t i = 0; i < SYNC_TID_PROBES; i++) {
        struct sync_thread *expected = t;
        struct sync_thread **slot = &sync_process.by_tid[(tid_slot(t->tid) + i) % SYNC_TID_SLOTS];
        if (__atomic_compare_exchange_n(slot, &expected, NULL, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
}

struct sync_thread *sync_thread_by_tid(pid_t tid)
{
    for (size_t i = 0; i < SYNC_TID_PROBES; i++) {
        struct sync_thread **slot = &sync_process.by_tid[(tid_slot(tid) + i) % SYNC_TID_SLOTS];
        struct sync_thread *t = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (t && __atomic_load_n(&t->tid, __ATOMIC_RELAXED) == tid)
            return t;
    }
    return NULL;
}

struct sync_thread *sync_thread_by_handle(pthread_t self)
{
    struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    while (t && !(__atomic_load_n(&t->used, __ATOMIC_ACQUIRE) && __atomic_load_n(&t->self, __ATOMIC_RELAXED) == self))
        t = t->next;
    return t;
}

/* -------------------------------------------------------------------------------------------------- making */

static struct sync_thread *block_new(void)
{
    struct sync_thread *t = sync_map_wiped(sizeof *t);
    if (!t)
        return NULL;
    t->counts = sync_counts_new(COUNTS_FIRST);
    if (!t->counts) {
        munmap(t, sizeof *t);
        return NULL;
    }
    sync_live_slot(t);
    uint32_t number = ++sync_gate.blocks;
    t->number = number < PLACES_MANY ? number : (uint32_t)PLACES_MANY;
    if (number < PLACES_MANY)
        sync_process.by_number[number] = t;
    t->next = sync_gate.threads;
    __atomic_store_n(&sync_gate.threads, t, __ATOMIC_RELEASE);
    return t;
}

/* An ended thread's block, or a new one. */
static struct sync_thread *block_take(void)
{
    tiny_lock_take(&sync_gate.lock);
    struct sync_thread *t = sync_gate.threads;
    while (t && __atomic_load_n(&t->used, __ATOMIC_ACQUIRE))
        t = t->next;
    if (!t)
        t = block_new();
    if (t)
        __atomic_store_n(&t->used, 1, __ATOMIC_RELAXED);
    tiny_lock_give(&sync_gate.lock);
    return t;
}

static void block_fill(struct sync_thread *t, struct trace_stream *stream)
{
    t->stream = stream;
    __atomic_store_n(&t->depth, 0, __ATOMIC_RELAXED);
    t->forgotten = 0;
    t->waiting = t->announced = 0;
    t->once = NULL;
    t->flushed = tick_now();
    __atomic_store_n(&t->self, pthread_self(), __ATOMIC_RELAXED);
    __atomic_store_n(&t->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
    prctl(PR_GET_NAME, t->name);
    tid_enter(t);
    sync_order_start(t);
    sync_live_enter(t);
}

static struct sync_thread *block_make(void)
{
    struct trace_stream *stream = upmu_recorder_stream_();
    struct sync_thread *t = stream ? block_take() : NULL;
    if (!t)
        return NULL;
    block_fill(t, stream);
    pthread_setspecific(sync_process.end_key, &sync_tls);
    return t;
}

/* A call is made while the recorder is at work below us. If it is a signal handler's, it is lost. The unwinder locks too,
 * with all signals blocked, which few handlers do; what counters are read with may lock as it likes. */
static void pass(const struct sync_tls *tls)
{
    sigset_t now;
    if (tls->counting || pthread_sigmask(SIG_SETMASK, NULL, &now) != 0)
        return;
    bool all = sigismember(&now, SIGALRM) && sigismember(&now, SIGPROF) && sigismember(&now, SIGUSR1) &&
               sigismember(&now, SIGRTMAX);
    if (!all)
        upmu_recorder_lost_(1);
}

struct sync_thread *sync_thread_make(void)
{
    struct sync_tls *tls = &sync_tls;
    int saved = errno, cancel;
    if (tls->busy || tls->refused || !__atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE))
        return NULL;
    /* A block that is there is not ready. In a child it is all zeros. */
    if (tls->thread && tls->thread->used) {
        pass(tls);
        return NULL;
    }
    sigset_t before = sync_signals_away();
    tls->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    struct sync_thread *t = block_make();
    if (t) {
        tls->thread = t;
        if (!tls->starting)
            upmu_recorder_thread_begin_();
        sync_unguard(t);
    } else {
        tls->refused = 1;
        upmu_recorder_lost_(1);
    }
    pthread_setcancelstate(cancel, NULL);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tls->busy = 0;
    sync_signals_back(&before);
    errno = saved;
    return t;
}

/* -------------------------------------------------------------------------------------------------- ending */

void sync_thread_exit_event(struct sync_thread *t)
{
    uint32_t mode = sync_mode();
    if (mode == MODE_OFF || mode == MODE_COUNTS)
        return;
    struct rusage usage;
    bool known = getrusage(RUSAGE_THREAD, &usage) == 0;
    struct trace_sync e = {
        .kind = UPMU_TRACE_THREAD_EXIT,
        .object_type = UPMU_OBJECT_THREAD,
        .object = (uint64_t)pthread_self(),
        .count = known ? (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw : 0,
        .flags = known ? UPMU_TRACE_FLAG_FINAL : 0,
    };
    sync_write(t, tick_now(), &e);
}

static void thread_end(struct sync_thread *t)
{
    int saved = errno, cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    sync_tls.refused = 1;
    sync_guard(t);
    sync_counts_write(t, t->stream);
    upmu_recorder_thread_end_();
    sync_thread_exit_event(t);
    tid_leave(t);
    bool keep = sync_live_leave(t);
    __atomic_store_n(&t->depth, 0, __ATOMIC_RELAXED); /* a waiter may be looking for a holder */
    t->stream = NULL;
    sync_tls.thread = NULL;
    __atomic_store_n(&t->self, 0, __ATOMIC_RELAXED);
    tiny_lock_take(&sync_gate.lock); /* whoever ends a lock may be looking at its counts */
    sync_counts_clear(t);
    __atomic_store_n(&t->used, keep ? BLOCK_KEPT : 0, __ATOMIC_RELEASE);
    tiny_lock_give(&sync_gate.lock);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
}

/* The program's own destructors may still lock: ask to be called again. A thread without a block (of its own: a forked
 * child sees its parent's) gets none any more, whatever locks libunwind takes to clear up in the last round. */
static void on_thread_end(void *arg)
{
    struct sync_thread *t = sync_tls.thread;
    if (++sync_tls.rounds < LAST_ROUND && pthread_setspecific(sync_process.end_key, arg) == 0)
        return;
    if (t && t->used)
        thread_end(t);
    else
        sync_tls.refused = 1;
}

void sync_thread_begin(void)
{
    sync_unwind_thread();
    /* Should it fail, the thread ends as one that was there before recording began. */
    (void)pthread_setspecific(sync_process.end_key, &sync_tls);
}

/* ---------------------------------------------------------------------------------------- process and child */

int sync_blocks_start(void)
{
    struct sync_process *p = &sync_process;
    if (madvise(&sync_gate, sizeof sync_gate, MADV_WIPEONFORK) != 0)
        return upmu_fail(UPMU_E_SYSTEM, "the kernel cannot hide memory from forked children (MADV_WIPEONFORK, Linux "
                                        "4.14): sync tracing stays off");
    p->by_tid = sync_map_wiped(SYNC_TID_SLOTS * sizeof *p->by_tid);
    p->by_number = sync_map_wiped(PLACES_MANY * sizeof *p->by_number);
    if (!p->by_tid || !p->by_number)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    if (pthread_key_create(&p->end_key, on_thread_end) != 0)
        return upmu_fail(UPMU_E_LIMIT, "no thread-specific key is left (PTHREAD_KEYS_MAX)");
    return 0;
}

void sync_blocks_forget(void)
{
    sync_tls = (struct sync_tls){.unwinds = sync_tls.unwinds, .forking = sync_tls.forking};
}
