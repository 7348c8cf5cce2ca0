/* SPDX-License-Identifier: MIT */
/*
 * Making and ending of a thread's tree.
 *
 * Trees are never unmapped. A process keeps the first FUNC_TREES_OWN for one thread each; later threads continue trees of
 * ended ones, so that memory does not grow with the number of threads.
 *
 * In a forked child all links to trees are NULL. The first call makes a file and trees of its own, with an empty stack:
 * functions that the parent entered return there without being counted.
 *
 * A thread follows a change of the gate at its next call or return. A signal handler may come while a hook uses the tree: it
 * leaves that to the next hook.
 */
#include "func/threads.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/own_memory.h"
#include "base/tick.h"
#include "func/files.h"
#include "func/gate.h"
#include "func/modules.h"
#include "func/tree.h"
#include "region/recorder.h"

enum { LAST_ROUND = PTHREAD_DESTRUCTOR_ITERATIONS - 1 };

/* ------------------------------------------------------------------------------------------------------ process */

static int process_dir(void)
{
    const char *dir = upmu_recorder_dir_();
    if (!dir || strlen(dir) >= sizeof func_process.dir)
        return -1;
    strcpy(func_process.dir, dir);
    return 0;
}

int func_process_open(void)
{
    struct func_shared *s = func_process.shared;
    if (func_process.to_trace && process_dir() != 0)
        return upmu_fail(UPMU_E_IO, "there is no trace to record functions in");
    int rc = func_gate_open();
    if (rc < 0)
        return rc;
    struct func_process_header *h =
        func_file_map(FUNC_PROCESS_FILE, FUNC_HEADER_BYTES + FUNC_NOTES_BYTES, FUNC_HEADER_BYTES);
    if (!h)
        return upmu_fail(UPMU_E_IO, "cannot create \"%s/" FUNC_PROCESS_FILE "\": %s", func_process.dir,
                         strerror(errno));
    struct recorder_clock clock;
    upmu_recorder_clock_(&clock);
    h->version = FUNC_VERSION;
    h->pid = (uint32_t)getpid();
    h->hz = clock.hz;
    func_moment(&h->begin_tick, &h->begin_raw_ns);
    h->inner_ticks = func_process.inner_ticks;
    h->outer_ticks = func_process.outer_ticks;
    func_counts_describe(h);
    memcpy(h->magic, FUNC_PROCESS_MAGIC, sizeof h->magic);
    __atomic_store_n(&s->header, h, __ATOMIC_RELEASE);
    func_modules_scan();
    return 0;
}

/* A child that cannot make its file only counts. */
static void child_start(struct func_shared *s)
{
    uint32_t free_claim = 0;
    if (!__atomic_compare_exchange_n(&s->claimed, &free_claim, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;                                            /* another thread is doing it */
    if (!func_process.to_trace || upmu_recorder_stream_()) /* which makes the child's trace */
        (void)func_process_open();
    __atomic_store_n(&s->alive, 1, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------------------------------------------ threads */

/* Under the lock. */
static struct func_thread *thread_new_tree(struct func_shared *s)
{
    uint32_t n = s->trees;
    struct func_tree *t = n < FUNC_TREES_MAX ? func_tree_new(n) : NULL;
    if (!t)
        return NULL;
    s->thread[n].number = n;
    __atomic_store_n(&s->thread[n].tree, t, __ATOMIC_RELEASE);
    __atomic_store_n(&s->trees, n + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&s->header->threads, n + 1, __ATOMIC_RELAXED);
    return &s->thread[n];
}

static struct func_thread *thread_take(struct func_shared *s)
{
    struct func_thread *t = NULL;
    tiny_lock_take(&s->lock);
    if (s->trees >= FUNC_TREES_OWN)
        for (uint32_t i = 0; i < s->trees && !t; i++)
            t = s->thread[i].used ? NULL : &s->thread[i];
    if (!t)
        t = thread_new_tree(s);
    if (t)
        t->used = 1;
    tiny_lock_give(&s->lock);
    return t;
}

static void thread_fill(struct func_tree *t)
{
    char name[16] = "";
    t->tid = (uint32_t)syscall(SYS_gettid);
    t->lives++;
    t->begin_tick = tick_now();
    t->end_tick = 0;
    prctl(PR_GET_NAME, name);
    memcpy(t->name, name, sizeof t->name);
    func_events_thread(t, t->tid, t->begin_tick);
}

/* With signals blocked, or before the thread is known. */
static void thread_follow(struct func_thread *th, uint32_t gate)
{
    struct func_tree *t = th->tree;
    const struct func_switch *s = func_process.control;
    uint32_t selected = __atomic_load_n(&s->selected, __ATOMIC_ACQUIRE);
    uint64_t tick;
    if (t->interval != 0 && func_switch_stopped(s, gate, t->interval, &tick))
        func_tree_stop(t, tick);
    if (t->selected != selected)
        func_tree_select(t, selected);
    t->interval = func_gate_interval(gate);
}

static bool thread_is_quick(uint32_t gate)
{
    return (gate & FUNC_KIND) == FUNC_ON_ISA && func_process.counters == 0;
}

static struct func_thread *thread_make(void)
{
    struct func_shared *s = func_process.shared;
    if (func_process.counters > 0)
        (void)upmu_recorder_stream_(); /* which opens the thread's counters */
    if (!__atomic_load_n(&s->alive, __ATOMIC_ACQUIRE))
        child_start(s);
    struct func_thread *t = __atomic_load_n(&s->header, __ATOMIC_ACQUIRE) ? thread_take(s) : NULL;
    if (!t) {
        func_tls.refused = 1;
        return NULL;
    }
    thread_fill(t->tree);
    t->slow = t->left = 0; /* of the last thread with this tree */
    t->gate = 0;
    uint32_t gate = func_gate_read();
    thread_follow(t, gate);
    t->gate = thread_is_quick(gate) ? gate : 0;
    pthread_setspecific(func_process.end_key, &func_tls);
    func_tls.thread = t;
    return t;
}

static struct func_thread *thread_start(void)
{
    struct func_tls *tls = &func_tls;
    sigset_t all, before;
    struct cancel_hold cancel;
    int saved = errno;
    if (tls->busy || tls->refused || !func_calls_begin()) {
        func_lost(tls->busy ? FUNC_LOSS_HANDLER : FUNC_LOSS_THREAD, 1);
        return NULL;
    }
    sigfillset(&all);
    sigemptyset(&before);
    cancel_hold(&cancel);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail with these arguments */
    tls->busy = 1;
    struct func_thread *t = thread_make();
    if (!t)
        func_lost(FUNC_LOSS_THREAD, 1);
    tls->busy = 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    func_calls_end();
    cancel_resume(&cancel);
    errno = saved;
    return t;
}

/* Whether a slow hook that uses the tree was interrupted by the one at `cfa`. One that a handler left by longjmp() was deeper
 * in the stack. */
static bool thread_is_slow_interrupted(const struct func_thread *th, uint64_t cfa)
{
    uint64_t slow = __atomic_load_n(&th->slow, __ATOMIC_RELAXED);
    return slow != 0 && (cfa < slow || func_is_on_signal_stack(cfa, slow));
}

/* The same for a quick hook, whose address is not known: it was called from the function of the last frame, or from a deeper one. */
static bool thread_is_quick_interrupted(struct func_thread *th, uint32_t gate, uint64_t cfa)
{
    if (!thread_is_quick(gate) || __atomic_load_n(&th->gate, __ATOMIC_RELAXED) != 0)
        return false;
    if (!func_tree_has_calls(th->tree))
        return true;
    if (th->left == 0)
        th->left = func_tree_top(th->tree)->cfa;
    if (cfa < th->left || func_is_on_signal_stack(cfa, th->left))
        return true;
    th->left = 0;
    return false;
}

/* Where no call is open, there is none that an interrupted hook uses. */
static bool thread_follow_now(struct func_thread *th, uint32_t gate, uint64_t cfa)
{
    sigset_t all, before;
    bool used = func_tree_has_calls(th->tree);
    if ((used && (thread_is_slow_interrupted(th, cfa) || thread_is_quick_interrupted(th, gate, cfa))) ||
        !func_calls_begin()) {
        func_lost(FUNC_LOSS_HANDLER, 1);
        return false;
    }
    struct cancel_hold cancel;
    int saved = errno;
    cancel_hold(&cancel);
    sigfillset(&all);
    sigemptyset(&before);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail with these arguments */
    if (th->tree->interval != func_gate_interval(gate))
        thread_follow(th, gate);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    func_calls_end();
    cancel_resume(&cancel);
    errno = saved;
    return true;
}

struct func_thread *func_thread_begin(uint64_t cfa)
{
    struct func_thread *th = func_tls.thread;
    if (!th->tree)
        return thread_start();
    uint32_t gate = func_gate_read();
    if (!(gate & FUNC_KIND))
        return NULL;
    if (UNLIKELY(th->tree->interval != func_gate_interval(gate)) && !thread_follow_now(th, gate, cfa))
        return NULL;
    if (UNLIKELY(thread_is_quick(gate) && th->gate != gate) && !thread_is_quick_interrupted(th, gate, cfa))
        __atomic_store_n(&th->gate, gate, __ATOMIC_RELAXED);
    return th;
}

bool func_thread_is_stopped(const struct func_tree *t, uint64_t *tick)
{
    uint32_t gate = func_process.ended ? func_process.last_gate : func_gate_read();
    return t->interval != 0 && func_switch_stopped(func_process.control, gate, t->interval, tick);
}

/* The thread may have renamed itself. */
static void thread_end(struct func_thread *t)
{
    uint64_t now = tick_now(), stopped;
    struct func_reading r;
    func_tls.thread = &func_no_thread;
    func_tls.refused = 1;
    prctl(PR_GET_NAME, t->tree->name);
    if (func_thread_is_stopped(t->tree, &stopped))
        func_tree_stop(t->tree, stopped);
    func_counts_measure_begin(&r);
    func_tree_end(t->tree, now, &r);
    t->tree->end_tick = now;
    __atomic_store_n(&t->used, 0, __ATOMIC_RELEASE);
}

/* The program's destructors may still call functions: ask to be called again. */
static void func_on_thread_end(void *arg)
{
    struct func_thread *t = func_tls.thread;
    if (++func_tls.rounds < LAST_ROUND && pthread_setspecific(func_process.end_key, arg) == 0)
        return;
    if (t->tree && func_calls_begin()) {
        thread_end(t);
        func_calls_end();
    }
    func_tls.refused = 1;
}

int func_threads_start(void)
{
    func_process.shared = own_memory_map_wiped(sizeof *func_process.shared);
    if (!func_process.shared)
        return upmu_fail(UPMU_E_SYSTEM, "no memory that the kernel clears in forked children (MADV_WIPEONFORK, Linux "
                                        "4.14): functions are not recorded");
    if (pthread_key_create(&func_process.end_key, func_on_thread_end) != 0)
        return upmu_fail(UPMU_E_LIMIT, "no thread-specific key is left (PTHREAD_KEYS_MAX)");
    return 0;
}
