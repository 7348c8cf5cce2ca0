/* SPDX-License-Identifier: MIT */
/*
 * Begin and end of sync tracing, from the program or the environment.
 *
 * A process may have two copies of this library (another build preloaded beside the linked one). The copy that the
 * program's calls reach first works; the other one would see each call a second time, and stays off.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi/launcher.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/own_memory.h"
#include "base/sanitizer.h"
#include "base/tick.h"
#include "base/process/variables.h"
#include "region/recorder.h"
#include "sync_trace/account/call.h"
#include "sync_trace/account/count_records.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/python_try.h"
#include "sync_trace/early.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/fork.h"
#include "sync_trace/gate.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/libc/returns.h"
#include "sync_trace/libc/switched.h"
#include "sync_trace/process.h"
#include "sync_trace/sample/cpu_timer.h"
#include "sync_trace/stack/modules.h"
#include "sync_trace/stack/stacks.h"
#include "sync_trace/stack/unwind.h"
#include "sync_trace/thread_life.h"
#include "sync_trace/wrap/freed.h"
#include "trace/format/control.h"

enum {
    SAMPLE_DEFAULT = 1024,
    /* No thread sleeps and is woken within 2 microseconds. */
    CALLS_PER_SECOND = 500000,
};

static const char *const mode_names[] = {
    [MODE_OFF] = "paused", [MODE_HOLDERS] = "holders", [MODE_CONTENDED] = "contended",
    [MODE_ALL] = "all",    [MODE_COUNTS] = "counts",
};

/* ------------------------------------------------------------------------------------------------ options */

/* `name` is a part of UPMU_SYNC, which is `text`. @return the word for the control file; UPMU_E_INVAL. */
static int process_parse_mode(const char *name, const char *text)
{
    for (int i = 0; i < (int)(sizeof mode_names / sizeof *mode_names); i++)
        if (strcmp(name, mode_names[i]) == 0)
            return i;
    return upmu_fail(UPMU_E_INVAL,
                     "UPMU_SYNC=%s is not known. Use holders, contended, all, counts, paused or paused:MODE", text);
}

/* @return frames per stack, 0 = none; UPMU_E_INVAL. */
static int process_parse_depth(const char *text)
{
    char *end;
    if (strcmp(text, "none") == 0)
        return 0;
    unsigned long n = strtoul(text, &end, 10);
    if (*end || n == 0 || n > SYNC_FRAMES_MAX)
        return upmu_fail(UPMU_E_INVAL, "UPMU_SYNC_STACKS=%s is neither none nor a number from 1 to %d", text,
                         SYNC_FRAMES_MAX);
    return (int)n;
}

static int process_depth_of(const struct upmu_sync_opts *o)
{
    const char *text = variable_value("UPMU_SYNC_STACKS");
    if (text)
        return process_parse_depth(text);
    if (o->stack_depth == UPMU_SYNC_NO_STACKS)
        return 0;
    if (o->stack_depth > SYNC_FRAMES_MAX)
        return upmu_fail(UPMU_E_INVAL, "upmu_sync_begin: stack_depth is %u, at most %d frames are kept", o->stack_depth,
                         SYNC_FRAMES_MAX);
    return o->stack_depth ? (int)o->stack_depth : SYNC_FRAMES_DEFAULT;
}

/* One in N, 0 = none; or UINT64_MAX after a failure. */
static uint64_t process_parse_sample(const char *text)
{
    char *end;
    if (strcmp(text, "none") == 0)
        return 0;
    unsigned long n = strtoul(text, &end, 10);
    if (*end == '\0' && *text != '-' && n > 0 && n < UPMU_SYNC_NO_SAMPLES)
        return n;
    (void)upmu_fail(UPMU_E_INVAL, "UPMU_SYNC_SAMPLE=%s is neither none nor N from 1 to %u (one in N acquisitions)",
                    text, UPMU_SYNC_NO_SAMPLES - 1);
    return UINT64_MAX;
}

/* Which uncontended acquisitions have an event: one in N; 0: none; UINT64_MAX: UPMU_SYNC_SAMPLE is invalid. */
static uint64_t process_sample_interval(const struct upmu_sync_opts *o)
{
    const char *text = variable_value("UPMU_SYNC_SAMPLE");
    if (text)
        return process_parse_sample(text);
    return o->sample == UPMU_SYNC_NO_SAMPLES ? 0 : o->sample ? o->sample : SAMPLE_DEFAULT;
}

/* UPMU_SYNC is a mode, "paused", or "paused:MODE": off, with MODE for `upmu ctl` to start. */
static int process_mode_from_environment(const char *text)
{
    static const char paused[] = "paused:";
    size_t n = sizeof paused - 1;
    bool off = strncmp(text, paused, n) == 0;
    int mode = process_parse_mode(off ? text + n : text, text);
    if (mode < 0)
        return mode;
    sync_option_set(chosen, mode == MODE_OFF ? (uint32_t)MODE_HOLDERS : (uint32_t)mode);
    return off ? MODE_OFF : mode;
}

static int process_mode_of(const struct upmu_sync_opts *o)
{
    const char *text = variable_value("UPMU_SYNC");
    if (text)
        return process_mode_from_environment(text);
    if (o->mode > UPMU_SYNC_COUNTS)
        return upmu_fail(UPMU_E_INVAL, "upmu_sync_begin: mode %u is not known", o->mode);
    sync_option_set(chosen, 1 + o->mode);
    return 1 + (int)o->mode;
}

/* --------------------------------------------------------------------------------------------------- set up */

static int process_check_order(void)
{
    if (sync_resolve_is_first())
        return 0;
    return upmu_fail(UPMU_E_STATE,
                     "the C library comes before libupmu_sync, so the program's calls never reach it: nothing can be "
                     "recorded; in LD_PRELOAD name libupmu_sync.so.0 before libc.so.6");
}

static int process_check_alone(void)
{
    const void *first = dlsym(RTLD_DEFAULT, "upmu_sync_begin");
    if (!first || first == (const void *)(uintptr_t)upmu_sync_begin)
        return 0;
    return upmu_fail(UPMU_E_STATE,
                     "two copies of libupmu_sync are in this process; the program's calls reach the other "
                     "one first, so this one stays off. Link with and preload the same file");
}

/* A sanitizer's runtime interposes the same calls. In a program built for one, no code may run before the runtime has
 * started, or in a thread after it has ended; this library's code would. */
static int process_check_runtime(void)
{
    const char *name = NULL;
    if (!UNDER_TSAN && dlsym(RTLD_DEFAULT, "__tsan_init"))
        name = "ThreadSanitizer";
    else if (dlsym(RTLD_DEFAULT, "__msan_init"))
        name = "MemorySanitizer";
    return name ? upmu_fail(UPMU_E_STATE,
                            "the program is built with %s, and this library is not: record a build of the program "
                            "without -fsanitize",
                            name)
                : 0;
}

/* Under a limit of the address space, a recording that leaves less than a thread's stack to a program that had it is refused, by
 * what was left before and after the tables were mapped. */
static int process_check_space(uint64_t before, uint64_t after)
{
    enum { STACK_DEFAULT = 8 << 20, OWN_LATER = 5 << 20 }; /* files that are mapped, and the first threads' blocks */
    struct rlimit stack;
    bool limited = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    uint64_t needed = limited ? (uint64_t)stack.rlim_cur : (uint64_t)STACK_DEFAULT;
    if (before < needed || after >= needed + OWN_LATER)
        return 0;
    return upmu_fail(
        UPMU_E_NOMEM,
        "the limit of the address space (ulimit -v) leaves no space for the recorder beside the stack of a "
        "thread: raise it by 32 MB");
}

/* The larger tables, which are unmapped if recording cannot begin. */
static int process_map_tables(void)
{
    int rc = sync_stacks_start();
    return rc == 0 ? sync_lock_life_start() : rc;
}

/* Recording could not begin. Nothing uses the tables yet, unless it has begun before. */
static int process_refused(int rc)
{
    if (!sync_process.has_recorded) {
        sync_stacks_release();
        sync_lock_life_release();
    }
    return rc;
}

/* Once in a process: tables, key, unwinder. */
static int process_set_up(void)
{
    if (sync_process.set_up)
        return process_map_tables();
    sync_resolve();
    int rc = process_check_order();
    if (rc == 0)
        rc = process_check_alone();
    if (rc == 0)
        rc = process_check_runtime();
    if (rc == 0 && (size_t)sysconf(_SC_PAGESIZE) > SYNC_PAGE_MAX)
        rc = upmu_fail(UPMU_E_SYSTEM, "pages are larger than this build expects: sync tracing stays off");
    sync_freed_start();
    uint64_t before = own_memory_space_left();
    if (rc == 0)
        rc = process_map_tables();
    if (rc == 0)
        rc = process_check_space(before, own_memory_space_left());
    if (rc == 0)
        rc = sync_modules_start();
    if (rc == 0)
        rc = sync_threads_start();
    if (rc == 0)
        rc = sync_fork_start();
    if (rc < 0)
        return rc;
    sync_layout_start();
    sync_switched_start();
    sync_returns_start();
    sync_unwind_start();
    sync_python_start();
    sync_process.set_up = 1;
    return 0;
}

/* Once: it is that of the process, and threads read it. */
static void process_take_clock(void)
{
    if (sync_process.hz != 0)
        return;
    const struct recorder_clock clock = recorder_use_clock();
    sync_process.hz = clock.hz;
    sync_process.ns_per_tick = 1e9 / (double)clock.hz;
    sync_process.ns_factor = (uint64_t)(sync_process.ns_per_tick * (1 << SYNC_NS_BITS));
    sync_process.call_ticks = clock.hz / CALLS_PER_SECOND;
    sync_process.write_every = clock.hz / 2;
}

static int process_start(const struct upmu_sync_opts *o)
{
    if (__atomic_load_n(&sync_process.finished, __ATOMIC_RELAXED))
        return upmu_fail(UPMU_E_STATE, "the program has restricted its system calls: nothing more can be recorded");
    int mode = process_mode_of(o), depth = process_depth_of(o), rc;
    uint64_t sample = process_sample_interval(o);
    if (mode < 0 || depth < 0 || sample == UINT64_MAX)
        return UPMU_E_INVAL;
    /* The first one with UPMU_SYNC is not: recording begins when the program is loaded. */
    bool late = (sync_process.set_up || !variable_value("UPMU_SYNC")) && upmu_recorder_control_();
    if ((rc = process_set_up()) < 0 || (rc = sync_cpu_timer_start()) < 0 || (rc = upmu_recorder_begin_(o->trace)) < 0)
        return process_refused(rc);
    sync_process.has_recorded = 1;
    (void)upmu_recorder_stream_(); /* in a forked child this makes its own trace */
    process_take_clock();
    bool requests = o->requests != 0 || variable_value("UPMU_SYNC_REQUESTS") != NULL;
    sync_option_set(sched, upmu_recorder_sched_(o->sched != 0));
    sync_option_set(counters, o->counters != 0 || variable_value("UPMU_SYNC_COUNTERS") != NULL);
    sync_option_set(requests, requests);
    sync_option_set(all_stacks, o->all_stacks != 0 || variable_value("UPMU_SYNC_ALL_STACKS") != NULL);
    sync_option_set(calls, o->no_calls == 0 && variable_value("UPMU_SYNC_NO_CALLS") == NULL);
    sync_option_set(mode, (uint32_t)mode);
    sync_option_set(depth, (uint32_t)depth);
    sync_option_set(all_slow, depth > 0 || requests);
    sync_option_set(sample, (uint32_t)sample);
    rc = sync_gate_open((uint32_t)mode, late);
    /* last: a forked child that finds "recording" and a closed gate begins its own trace */
    if (rc == 0)
        __atomic_store_n(&sync_process.recording, 1, __ATOMIC_RELEASE);
    if (rc == 0 && sync_tls.thread && !sync_tls.thread->has_timer) /* it became known while its signals were blocked */
        sync_cpu_timer_begin(sync_tls.thread);
    return rc;
}

/* Options and directory of the recording that is on. */
static struct {
    struct upmu_sync_opts opts;
    char *trace;
} begun;

static void begun_store(const struct upmu_sync_opts *o)
{
    free(begun.trace);
    begun.trace = o->trace ? strdup(o->trace) : NULL;
    begun.opts = *o;
}

static bool begun_is_same(const struct upmu_sync_opts *o)
{
    const struct upmu_sync_opts *b = &begun.opts;
    bool same_trace = !o->trace || (begun.trace && strcmp(o->trace, begun.trace) == 0);
    return same_trace && o->mode == b->mode && process_depth_of(o) == process_depth_of(b) &&
           process_sample_interval(o) == process_sample_interval(b) && !o->sched == !b->sched &&
           !o->counters == !b->counters && !o->requests == !b->requests && !o->all_stacks == !b->all_stacks &&
           !o->no_calls == !b->no_calls;
}

/* A begin within another: what it asks for must be what is recorded, or what the environment has decided. */
static int process_begin_nested(const struct upmu_sync_opts *o)
{
    if (!o || variable_value("UPMU_SYNC") || begun_is_same(o))
        return 0;
    return upmu_fail(UPMU_E_NESTED,
                     "upmu_sync_begin: recording is on with other options, which stay in force. Pass NULL "
                     "to join it, or end it first.");
}

int upmu_sync_begin(const struct upmu_sync_opts *opts)
{
    struct upmu_sync_opts ours;
    int rc = OPTS_TAKE(ours, opts, UPMU_SYNC_OPTS_SIZE_V1);
    if (rc != 0)
        return rc;
    sync_child_check();
    tiny_lock_take(&sync_gate.begin_lock);
    rc = sync_process.begins ? process_begin_nested(opts ? &ours : NULL) : process_start(&ours);
    if (rc == 0 && sync_process.begins++ == 0)
        begun_store(&ours);
    tiny_lock_give(&sync_gate.begin_lock);
    return rc;
}

static void process_stop(void)
{
    uint32_t *word = (uint32_t *)(uintptr_t)__atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE);
    if (!word)
        return;
    struct sync_thread *t = sync_thread();
    struct control_header *control = upmu_recorder_control_();
    if (t)
        sync_early_publish(t);
    uint32_t mode = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (control) /* tracing that the program ended cannot be started from outside */
        __atomic_store_n(&control->chosen, 0, __ATOMIC_RELAXED);
    if (control)
        control_switch(control, mode, MODE_OFF, tick_portable());
    __atomic_store_n(word, MODE_OFF, __ATOMIC_RELEASE);
    sync_gate_close();
    __atomic_store_n(&sync_process.recording, 0, __ATOMIC_RELEASE); /* no child begins its own trace from here on */
    if (t) {
        sync_modules_scan(t);
        sync_counts_write(t, t->stream);
    }
}

int upmu_sync_end(void)
{
    int rc = 0;
    tiny_lock_take(&sync_gate.begin_lock);
    if (sync_process.begins == 0)
        rc = upmu_fail(UPMU_E_STATE, "upmu_sync_end() without upmu_sync_begin()");
    else if (--sync_process.begins == 0)
        process_stop();
    tiny_lock_give(&sync_gate.begin_lock);
    return rc;
}

int upmu_sync_set_mode(int mode)
{
    if (mode < UPMU_SYNC_HOLDERS || mode > UPMU_SYNC_COUNTS)
        return UPMU_E_INVAL;
    uint32_t *word = (uint32_t *)(uintptr_t)__atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE);
    if (!word || __atomic_load_n(&sync_process.begins, __ATOMIC_ACQUIRE) == 0)
        return UPMU_E_STATE;
    struct control_header *control = upmu_recorder_control_();
    if (control)
        control_switch(control, sync_mode(), 1 + (uint32_t)mode, tick_portable());
    uint32_t before = __atomic_exchange_n(word, 1 + (uint32_t)mode, __ATOMIC_ACQ_REL);
    struct sync_thread *t = control_mode_has_events(before) ? NULL : sync_thread();
    if (t)
        sync_early_publish(t);
    return before == MODE_OFF ? mode : (int)before - 1;
}

/* ---------------------------------------------------------------------------------------- load and unload */

__attribute__((constructor)) static void sync_load(void)
{
    sync_resolve();
    sync_layout_start();
    const char *mpi = variable_value("UPMU_MPI");
    if (mpi && strcmp(mpi, "ranks") == 0 && launcher_rank() < 0)
        return; /* the launcher of the ranks, or a program between both */
    if (variable_value("UPMU_SYNC") && upmu_sync_begin(NULL) < 0)
        variable_report("locks are not recorded", upmu_error());
}

/* Write the counts and the open wait of each thread that still runs: it records nothing any more. */
static void process_write_others(const struct sync_thread *self)
{
    struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    for (; t; t = t->next) {
        if (t == self || __atomic_load_n(&t->used, __ATOMIC_ACQUIRE) != 1)
            continue;
        char name[SYNC_THREAD_NAME];
        sync_wait_state_name_read(t, name);
        struct trace_stream *stream = upmu_recorder_stream_of_(t->tid, name, sync_call_open_since(t));
        if (!stream)
            continue;
        sync_call_write_open(t, stream);
        sync_counts_write(t, stream);
    }
}

/* Report the memory of the recorder, which is final once recording has ended. */
static void process_count_memory(void)
{
    struct control_header *control = upmu_recorder_control_();
    if (!control)
        return;
    __atomic_store_n(&control->blocks, __atomic_load_n(&sync_gate.blocks, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    control_add_memory(control, own_memory_count());
}

static void process_end(void)
{
    if (!__atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE))
        return;
    struct sync_thread *t = sync_tls.refused ? NULL : sync_thread(); /* the last thread may have ended before */
    if (t) {
        sync_early_publish(t);
        sync_modules_scan(t);
        sync_counts_write(t, t->stream);
        upmu_recorder_thread_end_();
        sync_cpu_timer_end(t);
        sync_wait_state_end_left(t);
        sync_thread_exit_event(t);
    }
    __atomic_store_n(&sync_process.recording, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&sync_gate.word, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&sync_gate.mode, NULL, __ATOMIC_RELEASE);
    sync_cpu_timer_stop();
    process_write_others(t);
    process_count_memory();
}

/* Wait until the other threads have left the recorder, so that a seccomp filter does not refuse its system calls. At most TRIES
 * pauses per thread: one whose signal handler left the recorder by longjmp() never becomes ready. */
static void process_wait_for_others(const struct sync_thread *self)
{
    enum { TRIES = 200, PAUSE_US = 500 };
    for (struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE); t; t = t->next)
        for (int i = 0; i < TRIES && t != self && __atomic_load_n(&t->used, __ATOMIC_ACQUIRE) == 1 &&
                        __atomic_load_n(&t->ready, __ATOMIC_ACQUIRE) != SYNC_READY;
             i++)
            usleep(PAUSE_US);
}

void sync_process_finish(void)
{
    int saved = errno;
    struct cancel_hold cancel;
    cancel_hold(&cancel);
    tiny_lock_take(&sync_gate.begin_lock);
    if (!sync_process.finished) {
        process_end();
        __atomic_store_n(&sync_process.recording, 0, __ATOMIC_RELEASE);
        upmu_recorder_finish_();
        __atomic_store_n(&sync_process.finished, 1, __ATOMIC_RELEASE);
        process_wait_for_others(sync_tls.thread);
    }
    tiny_lock_give(&sync_gate.begin_lock);
    errno = saved;
    cancel_resume(&cancel);
}

__attribute__((destructor)) static void sync_unload(void)
{
    process_end();
}
