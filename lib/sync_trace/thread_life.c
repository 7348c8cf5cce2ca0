/* SPDX-License-Identifier: MIT */
/*
 * Making and ending of a thread's block.
 *
 * Blocks come from mmap, are zeroed in forked children, and are never unmapped: a waiter may read a holder's block at any
 * time. An ended thread's block is reused for a new thread.
 *
 * A thread ends in the last but one round of the destructors of thread-specific data: the recorder releases the thread's
 * stream in the last one, and the order of two destructors within a round depends on whose key was created first.
 */
#include "sync_trace/thread_life.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/own_memory.h"
#include "base/private_table.h"
#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/account/count_records.h"
#include "sync_trace/account/lock_order.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/sample/cpu_timer.h"
#include "sync_trace/state/held.h"
#include "sync_trace/state/lock_memory.h"
#include "trace/format/control.h"
#include "trace/write/stream.h"

/* A round before the recorder releases the thread's stream (lib/region). */
enum { LAST_ROUND = PTHREAD_DESTRUCTOR_ITERATIONS - 2 };

/* ------------------------------------------------------------------------------------------------- naming */

void sync_thread_name(struct sync_thread *t, pthread_t thread, const char *name)
{
    struct sync_thread *named = sync_thread_by_handle(thread);
    const struct trace_sync e = {
        .kind = UPMU_TRACE_THREAD_NAME,
        .object_type = UPMU_OBJECT_THREAD,
        .object = (uint64_t)thread,
        .peer = named ? __atomic_load_n(&named->tid, __ATOMIC_RELAXED) : 0,
        .name = name,
    };
    if (named)
        sync_wait_state_name(named, name);
    sync_write(t, tick_now(), &e);
}

/* The calling thread is older than the recording: it may have a name. That of the main thread is the program's. */
static void thread_name_older(struct sync_thread *t)
{
    uint32_t mode = sync_mode();
    char name[SYNC_THREAD_NAME];
    sync_wait_state_name_read(t, name);
    if (t->tid != getpid() && mode != MODE_OFF && mode != MODE_COUNTS)
        sync_thread_name(t, pthread_self(), name);
}

/* The calling thread may have given itself a name by prctl(), which is not wrapped. */
static void thread_name_check(struct sync_thread *t)
{
    char known[SYNC_THREAD_NAME], now[SYNC_THREAD_NAME] = "";
    sync_wait_state_name_read(t, known);
    if (prctl(PR_GET_NAME, now) == 0 && strcmp(known, now) != 0)
        sync_thread_name(t, pthread_self(), now);
}

/* ----------------------------------------------------------------------------------------------- the kernel's sums */

struct preempted_request {
    pid_t tid;
    uint64_t ready_ns; /* how long it had no CPU, by the kernel's scheduler; 0: unknown */
    uint32_t cpus;
};

/* Threads may be bound to different CPUs: those of this one are added to those of earlier ones. @return their number. */
static uint32_t thread_cpus(void)
{
    uint64_t mask[SYNC_CPU_WORDS] = {0};
    uint32_t n = 0;
    if (syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) < 0)
        return 0;
    for (int i = 0; i < SYNC_CPU_WORDS; i++)
        n += (uint32_t)__builtin_popcountll(__atomic_or_fetch(&sync_gate.cpus[i], mask[i], __ATOMIC_RELAXED));
    return n;
}

/* For private_table_run(), whose thread has another "thread-self", and the caller's CPUs and filters. A filter may end the process for
 * the CPUs, and may have been installed unseen. */
static int thread_read_preempted(void *request)
{
    struct preempted_request *r = request;
    char text[64];
    if (upmu_recorder_filtered_())
        return 0;
    snprintf(text, sizeof text, "/proc/self/task/%d/schedstat", (int)r->tid);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    ssize_t n = (ssize_t)syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    r->cpus = thread_cpus(); /* after /proc was there for the filters, too */
    text[n > 0 ? n : 0] = '\0';
    const char *second = strchr(text, ' '); /* the second number of the file */
    r->ready_ns = second ? strtoull(second, NULL, 10) : 0;
    return 0;
}

static struct preempted_request thread_preempted(const struct sync_thread *t)
{
    struct preempted_request request = {.tid = t->tid};
    (void)private_table_run(thread_read_preempted, &request);
    return request;
}

/* @return whether the kernel answers; else all are 0. */
static bool usage_read(struct sync_usage *u)
{
    struct rusage r;
    *u = (struct sync_usage){0};
    if (getrusage(RUSAGE_THREAD, &r) != 0)
        return false;
    u->preemptions = (uint64_t)r.ru_nivcsw;
    u->switches = (uint64_t)r.ru_nvcsw + u->preemptions;
    u->cpu_ns = tick_clock_ns(CLOCK_THREAD_CPUTIME_ID); /* `r` has it as of the last timer interrupt or switch */
    return true;
}

void sync_thread_usage_begin(struct sync_thread *t)
{
    if (usage_read(&t->before) && t->before.preemptions > 0)
        t->before.ready_ns = thread_preempted(t).ready_ns;
    t->calls.switches = (long)(t->before.switches - t->before.preemptions);
}

/* -------------------------------------------------------------------------------------------------- making */

/* As many at a time as there are already. */
static struct sync_thread *block_map(void)
{
    enum { ALIGN = 4096, BYTES = (sizeof(struct sync_thread) + ALIGN - 1) / ALIGN * ALIGN, BLOCKS_AT_ONCE = 8 };
    uint32_t n = sync_gate.blocks < 1 ? 1 : sync_gate.blocks < BLOCKS_AT_ONCE ? sync_gate.blocks : BLOCKS_AT_ONCE;
    char *at = sync_gate.block_next;
    if (at == sync_gate.block_end) {
        at = own_memory_map_wiped((size_t)n * BYTES);
        if (!at && n > 1)
            at = own_memory_map_wiped((size_t)(n = 1) * BYTES);
        sync_gate.block_end = at ? at + (size_t)n * BYTES : NULL;
    }
    sync_gate.block_next = at ? at + BYTES : NULL;
    return (struct sync_thread *)(void *)at;
}

static struct sync_thread *block_new(void)
{
    struct sync_thread *t = block_map();
    if (!t)
        return NULL;
    sync_counts_start(t);
    sync_wait_state_slot_new(t);
    uint32_t number = ++sync_gate.blocks;
    t->number = number < LOCK_MEMORY_MANY ? number : (uint32_t)LOCK_MEMORY_MANY;
    if (number < LOCK_MEMORY_MANY)
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

/* The calls of the thread that had the block: other threads read what may have ended their waits. */
static void block_forget_calls(struct sync_calls *c)
{
    c->tick = 0;
    c->switches = 0;
    memset(c->descriptors, 0, sizeof c->descriptors);
    c->n_writes = 0;
    for (uint32_t i = 0; i < SYNC_CALL_WRITES; i++)
        __atomic_store_n(&c->writes[i].tick, 0, __ATOMIC_RELAXED);
}

/* Sets the block of a new thread to its first state, and enters the thread into the wait-state file. */
static void block_fill(struct sync_thread *t, pid_t tid, pthread_t self, const char *name)
{
    __atomic_store_n(&t->depth, 0, __ATOMIC_RELAXED);
    t->forgotten = 0;
    t->walks_known = 0; /* libunwind has no frame of it yet */
    t->waiting = t->announced = 0;
    t->once = NULL;
    t->has_timer = 0;
    if (t->flushed != 0) /* else the block is new, and a look at it would be one page fault more */
        sync_held_forget(t);
    t->flushed = tick_now();
    t->born = 0;
    t->before = (struct sync_usage){0};
    block_forget_calls(&t->calls);
    __atomic_store_n(&t->self, self, __ATOMIC_RELAXED);
    __atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE); /* after what it is not to be found with */
    sync_thread_table_add(t);
    sync_order_reset(t);
    sync_wait_state_name(t, name);
    sync_wait_state_enter(t);
}

/* A thread that starts has just got its stream, which has both. */
static struct sync_thread *block_make(void)
{
    struct trace_stream *stream = upmu_recorder_stream_();
    struct sync_thread *t = stream ? block_take() : NULL;
    const bool starts = sync_tls.starting;
    if (!t)
        return NULL;
    char name[SYNC_THREAD_NAME] = "";
    if (starts)
        memcpy(name, stream->thread_name,
               sizeof name - 1); /* the last byte is a flag, once another thread has named it */
    else
        prctl(PR_GET_NAME, name);
    pid_t tid = starts ? __atomic_load_n(&stream->tid, __ATOMIC_RELAXED) : (pid_t)syscall(SYS_gettid);
    block_fill(t, tid, pthread_self(), name);
    t->stream = stream;
    t->born = starts ? t->flushed : 0;
    pthread_setspecific(sync_process.end_key, &sync_tls);
    return t;
}

struct sync_thread *sync_thread_make_for(pid_t tid, pthread_t self, const char *name)
{
    struct sync_thread *t = block_take();
    if (t)
        block_fill(t, tid, self, name);
    return t;
}

/* The block that another thread made for the calling one. */
static struct sync_thread *block_adopt(struct sync_thread *t)
{
    t->stream = upmu_recorder_stream_();
    if (t->stream) {
        pthread_setspecific(sync_process.end_key, &sync_tls);
        return t;
    }
    (void)sync_wait_state_leave(t);
    sync_thread_table_remove(t);
    __atomic_store_n(&t->used, 0, __ATOMIC_RELEASE);
    return NULL;
}

/* A lock call while the recorder is active in this thread. A signal handler's is recorded if a call stack is being taken, else
 * it is lost. Calls by the unwinder, which blocks all signals (few handlers do), and by counter backends are not the program's. */
static struct sync_thread *thread_of_handler(const struct sync_tls *tls)
{
    struct sync_thread *t = tls->thread;
    sigset_t now;
    if (tls->early && t && t->used && sync_mode() == MODE_COUNTS)
        return t; /* it waits (early.h), and nothing else reads or changes its counts and locks */
    if (tls->counting || tls->walking == SYNC_WALKING_BLOCKED || pthread_sigmask(SIG_SETMASK, NULL, &now) != 0)
        return NULL;
    bool all = sigismember(&now, SIGALRM) && sigismember(&now, SIGPROF) && sigismember(&now, SIGUSR1) &&
               sigismember(&now, SIGRTMAX);
    if (all)
        return NULL;
    if (!tls->early && t && t->used && __atomic_load_n(&t->ready, __ATOMIC_RELAXED) == SYNC_WALKS)
        return t;
    upmu_recorder_lost_(LOSS_HANDLER, 1);
    return NULL;
}

/* Make the calling thread's block, or take the one that was made for it. */
static struct sync_thread *thread_enter(struct sync_thread *made)
{
    struct sync_tls *tls = &sync_tls;
    int saved = errno;
    struct cancel_hold cancel;
    cancel_hold(&cancel);
    sigset_t before;
    if (!tls->starting) /* else they are blocked */
        before = sync_signals_block();
    tls->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct sync_thread *t = made ? block_adopt(made) : block_make();
    if (t) {
        t->error = &errno;
        tls->thread = t;
        tls->leave_out.ready = &t->ready;
        tls->leave_out.sites = t->sites;
        if (!tls->starting) {
            upmu_recorder_thread_begin_();
            sync_thread_usage_begin(t);
        }
        sync_unguard(t, SYNC_READY);
        if (!tls->starting)
            thread_name_older(t);
    } else {
        tls->refused = REFUSED_NO_BLOCK;
        upmu_recorder_lost_(LOSS_THREAD, 1);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tls->busy = 0;
    if (!tls->starting)
        sync_signals_restore(&before);
    if (t && !tls->starting)
        sync_cpu_timer_begin(t);
    errno = saved;
    cancel_resume(&cancel);
    return t;
}

bool (*sync_thread_left_early)(void);

struct sync_thread *sync_thread_make(void)
{
    const struct sync_tls *tls = &sync_tls;
    if (tls->refused == REFUSED_NO_BLOCK && !tls->busy)
        upmu_recorder_lost_(LOSS_THREAD, 1);
    if (tls->busy || tls->refused || tls->leave_out.inside || !__atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE))
        return NULL;
    if (tls->early && __atomic_load_n(&sync_thread_left_early, __ATOMIC_RELAXED)() && tls->thread && tls->thread->used)
        return tls->thread;
    /* An existing block is not ready. In a child it is all zeros. */
    if (tls->early || (tls->thread && tls->thread->used))
        return thread_of_handler(tls);
    return thread_enter(NULL);
}

struct sync_thread *sync_thread_adopt(struct sync_thread *t)
{
    return thread_enter(t);
}

/* -------------------------------------------------------------------------------------------------- ending */

/* Whether events are recorded, or have been: a thread that has some gets its end also while recording is stopped or only counts, or its
 * life would last until the end of the process. Not if nothing will be recorded any more. */
static bool thread_exit_is_recorded(void)
{
    uint32_t mode = sync_mode();
    if (control_mode_has_events(mode))
        return true;
    const struct control_header *c = upmu_recorder_control_();
    return c && control_modes_have_events(__atomic_load_n(&c->modes, __ATOMIC_RELAXED)) &&
           __atomic_load_n(&c->stopped, __ATOMIC_RELAXED) == CONTROL_STOPPED_NOT;
}

void sync_thread_exit_event(struct sync_thread *t)
{
    if (!thread_exit_is_recorded())
        return;
    thread_name_check(t);
    const struct sync_usage *before = &t->before;
    struct sync_usage now;
    bool known = usage_read(&now);
    struct trace_sync e = {
        .kind = UPMU_TRACE_THREAD_EXIT,
        .object_type = UPMU_OBJECT_THREAD,
        .object = (uint64_t)pthread_self(),
        .count = known ? now.switches - before->switches : 0,
        .contended = known ? now.cpu_ns - before->cpu_ns : 0,
        .flags = known ? UPMU_TRACE_FLAG_FINAL : 0,
    };
    if (known && now.preemptions > before->preemptions) {
        struct preempted_request request = thread_preempted(t);
        bool whole = before->preemptions == 0 || before->ready_ns > 0;
        e.object2 = whole && request.ready_ns > before->ready_ns ? request.ready_ns - before->ready_ns : 0;
        e.peer = (int32_t)request.cpus;
    }
    sync_write(t, tick_now(), &e);
}

static void thread_end(struct sync_thread *t)
{
    int saved = errno;
    struct cancel_hold cancel;
    cancel_hold(&cancel);
    sync_tls.refused = REFUSED_ENDED;
    (void)sync_guard(t);
    sync_order_try_given_up(t);
    sync_counts_write(t, t->stream);
    upmu_recorder_thread_end_();
    sync_cpu_timer_end(t);
    sync_thread_exit_event(t);
    sync_thread_table_remove(t);
    bool keep = sync_wait_state_leave(t);
    sync_wait_state_left(t);
    sync_held_clear(t); /* a waiter may be searching for a holder */
    t->stream = NULL;
    sync_tls.thread = NULL;
    sync_tls.leave_out.ready = NULL;
    __atomic_store_n(&t->self, 0, __ATOMIC_RELAXED);
    tiny_lock_take(&sync_gate.lock); /* a thread that ends a lock may be reading the counts */
    sync_counts_clear(t);
    __atomic_store_n(&t->used, keep ? BLOCK_KEPT : 0, __ATOMIC_RELEASE);
    tiny_lock_give(&sync_gate.lock);
    errno = saved;
    cancel_resume(&cancel);
}

/* The program's destructors may still lock: ask to be called again. A thread without a block (a forked child has its
 * parent's) gets none any more, whichever locks libunwind uses for its cleanup in the last round. */
static void sync_on_thread_end(void *arg)
{
    struct sync_thread *t = sync_tls.thread;
    if (__atomic_load_n(&sync_process.finished, __ATOMIC_RELAXED)) {
        sync_tls.refused = REFUSED_ENDED;
        return;
    }
    if (++sync_tls.rounds < LAST_ROUND && pthread_setspecific(sync_process.end_key, arg) == 0)
        return;
    if (t && t->used)
        thread_end(t);
    else
        sync_tls.refused = REFUSED_ENDED;
}

void sync_thread_begin(void)
{
    sync_unwind_thread();
    /* on failure the thread ends as one that was started before tracing began */
    (void)pthread_setspecific(sync_process.end_key, &sync_tls);
}

/* ---------------------------------------------------------------------------------------- process and child */

/* Another thread calls in the name of this one: no call is the program's, and the unwinder, which keeps descriptors, must not
 * run without the program's table. */
static void thread_private(bool begins)
{
    struct sync_thread *t = sync_tls.thread;
    if (begins)
        sync_tls.withheld = t && t->used ? sync_guard(t) : SYNC_NOT_READY;
    else if (sync_tls.withheld)
        sync_unguard(t, sync_tls.withheld);
}

int sync_threads_start(void)
{
    __atomic_store_n(&private_table_hook, thread_private, __ATOMIC_RELEASE);
    upmu_recorder_private_hook_(thread_private);
    if (madvise(&sync_gate, sizeof sync_gate, MADV_WIPEONFORK) != 0)
        return upmu_fail(UPMU_E_SYSTEM, "this kernel cannot clear memory in forked children (MADV_WIPEONFORK, Linux "
                                        "4.14): sync tracing stays off");
    if (!sync_thread_table_start())
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    if (pthread_key_create(&sync_process.end_key, sync_on_thread_end) != 0)
        return upmu_fail(UPMU_E_LIMIT, "no thread-specific key is left (PTHREAD_KEYS_MAX)");
    return 0;
}

void sync_threads_forget(void)
{
    sync_tls = (struct sync_tls){.unwinds = sync_tls.unwinds, .walks = sync_tls.walks, .forking = sync_tls.forking};
}
