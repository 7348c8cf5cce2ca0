/* SPDX-License-Identifier: MIT */
/* Private interface of libupmu to libupmu_sync and libupmu_func. */
#include "region/recorder.h"

#include <errno.h>
#include <pthread.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/private_table.h"
#include "core/check/system_calls.h"
#include "base/tick.h"
#include "region/region_frames.h"

static bool recorder_alive(void)
{
    return upmu_regions.shared && __atomic_load_n(&upmu_regions.shared->alive, __ATOMIC_ACQUIRE);
}

int upmu_recorder_begin_(const char *dir)
{
    return region_ensure_trace(dir ? dir : "upmu-trace");
}

/* A thread whose block is older than the trace has no stream yet. */
static struct trace_stream *recorder_late_stream(struct region_thread *t)
{
    int saved = errno;
    struct cancel_hold cancel;
    cancel_hold(&cancel);
    if (trace_stream_acquire(upmu_regions.trace, t->tid, t->name, &t->stream) < 0)
        t->stream = NULL;
    errno = saved;
    cancel_resume(&cancel);
    return t->stream;
}

struct trace_stream *upmu_recorder_stream_(void)
{
    struct region_thread *t = region_tls.thread;
    if (__builtin_expect(t && t->live, 1)) {
        /* Also if busy: a stream has slots for the events of signal handlers that interrupt it. */
        if (__builtin_expect(t->stream != NULL, 1))
            return t->stream;
    } else if (!upmu_regions.shared || !(t = region_thread_get())) {
        return NULL;
    }
    if (t->stream || !upmu_regions.trace || t->ended)
        return t->stream;
    return recorder_late_stream(t);
}

void upmu_recorder_thread_begin_(void)
{
    struct region_thread *t = region_thread_ready();
    int saved = errno;
    if (t)
        region_life_begin(t);
    errno = saved;
}

void upmu_recorder_thread_end_(void)
{
    struct region_thread *t = region_thread_ready();
    int saved = errno;
    if (t)
        region_life_end(t);
    errno = saved;
}

bool upmu_recorder_sched_(bool wanted)
{
    if (!recorder_alive() || !upmu_regions.trace)
        return false;
    if (wanted && !region_sched_on()) {
        region_sched_start(&upmu_regions);
        trace_writer_sched_note(upmu_regions.trace, upmu_regions.sched_note);
        trace_writer_futex_note(upmu_regions.trace, upmu_regions.futex_note);
    }
    return region_sched_on();
}

void upmu_recorder_switches_(uint64_t tick)
{
    struct region_thread *t = region_tls.thread;
    if (t && t->live && region_sched_on())
        region_sched_drain(t, tick);
}

void upmu_recorder_wait_(bool begins)
{
    struct region_thread *t = region_tls.thread;
    if (!t || !t->live)
        return;
    if (begins)
        region_futexes_wait_begin(&t->kept->sched.futexes);
    else
        region_futexes_wait_end(&t->kept->sched.futexes);
}

bool upmu_recorder_counters_(uint64_t *tick, uint64_t object)
{
    struct region_thread *t = region_thread_ready();
    return t && region_counters(t, tick, object);
}

struct trace_stream *upmu_recorder_stream_of_(pid_t tid, const char *thread_name, uint64_t from)
{
    struct trace_stream *s;
    if (!recorder_alive() || !upmu_regions.trace ||
        trace_stream_acquire_from(upmu_regions.trace, tid, thread_name, from, &s) < 0)
        return NULL;
    return s;
}

const char *upmu_recorder_dir_(void)
{
    return recorder_alive() && upmu_regions.trace ? trace_writer_dir(upmu_regions.trace) : NULL;
}

size_t upmu_recorder_recording_(void)
{
    return recorder_alive() && upmu_regions.trace ? trace_writer_recording(upmu_regions.trace) : 0;
}

void upmu_recorder_stream_release_(struct trace_stream *stream)
{
    trace_stream_release(stream);
}

bool upmu_recorder_trace_clock_(struct trace_clock *out)
{
    if (!recorder_alive() || !upmu_regions.trace)
        return false;
    trace_writer_clock(upmu_regions.trace, out);
    return true;
}

void upmu_recorder_clock_(struct recorder_clock *out)
{
    struct trace_clock trace;
    clock_start();
    bool fitted = upmu_recorder_trace_clock_(&trace);
    *out = (struct recorder_clock){.hz = fitted ? trace.hz : (uint64_t)clock_hz(0), .gettime = tick_clock_gettime};
#ifdef TICK_ISA_NAME
    out->use_isa = tick_use_isa;
#endif
}

void upmu_recorder_refer_(const struct clock_reference *r)
{
    if (recorder_alive() && upmu_regions.trace)
        trace_writer_refer(upmu_regions.trace, r);
}

void upmu_recorder_private_hook_(void (*hook)(bool begins))
{
    __atomic_store_n(&private_table_hook, hook, __ATOMIC_RELEASE);
}

void upmu_recorder_lost_(enum control_loss cause, uint64_t n)
{
    if (recorder_alive() && upmu_regions.trace)
        trace_lost(upmu_regions.trace, cause, n);
}

struct control_header *upmu_recorder_control_(void)
{
    return recorder_alive() && upmu_regions.trace ? trace_writer_control(upmu_regions.trace) : NULL;
}

const char *upmu_recorder_forbidden_(const void *program, size_t n)
{
    const struct region_process *p = &upmu_regions;
    bool counts = !(p->time_only || p->late_page) || region_sched_on();
    uint32_t timers = region_option("UPMU_SYNC_CPU_SAMPLES", NULL) ? SYSTEM_CALL_TIMER : 0;
    const struct system_call *c = system_call_killed(
        program, n, SYSTEM_CALL_RUN | SYSTEM_CALL_END | (counts ? SYSTEM_CALL_COUNTERS : 0) | timers);
    return c ? c->name : NULL;
}

uint32_t upmu_recorder_filters_(void)
{
    return region_filters();
}

bool upmu_recorder_filtered_(void)
{
    return region_filtered();
}

enum { FINISH_HOOKS = 4 };
static void (*finish_hook[FINISH_HOOKS])(void); /* set by constructors, one for each library */
static uint32_t finish_hooks;

int upmu_recorder_at_finish_(void (*hook)(void))
{
    uint32_t n = __atomic_load_n(&finish_hooks, __ATOMIC_RELAXED);
    if (n == FINISH_HOOKS)
        return upmu_fail(UPMU_E_LIMIT, "more than %d libupmu libraries record in one process", (int)FINISH_HOOKS);
    finish_hook[n] = hook;
    __atomic_store_n(&finish_hooks, n + 1, __ATOMIC_RELEASE);
    return 0;
}

void upmu_recorder_finish_(void)
{
    for (uint32_t i = 0, n = __atomic_load_n(&finish_hooks, __ATOMIC_ACQUIRE); i < n; i++)
        finish_hook[i]();
    region_finish(true);
    __atomic_store_n(&upmu_regions.finished, 1, __ATOMIC_RELEASE);
}

void upmu_recorder_limit_(enum control_wait wait, pid_t tid, uint64_t tick, uint64_t ticks)
{
    if (recorder_alive() && upmu_regions.trace)
        region_limit_wait(wait, tid, tick, ticks);
}

struct wait_file_header *upmu_recorder_wait_file_(void)
{
    int saved = errno;
    struct wait_file_header *h =
        recorder_alive() && upmu_regions.trace ? trace_writer_wait_file(upmu_regions.trace) : NULL;
    errno = saved;
    return h;
}

struct wait_file_slot *upmu_recorder_wait_file_slot_(uint32_t index)
{
    int saved = errno;
    struct wait_file_slot *s =
        recorder_alive() && upmu_regions.trace ? trace_writer_wait_file_slot(upmu_regions.trace, index) : NULL;
    errno = saved;
    return s;
}

int upmu_recorder_wait_file_reserve_(uint32_t index, size_t bytes)
{
    int saved = errno;
    struct cancel_hold cancel;
    cancel_hold(&cancel); /* opening and reserving are cancellation points */
    int rc = recorder_alive() && upmu_regions.trace ? trace_writer_wait_file_reserve(upmu_regions.trace, index, bytes)
                                                    : -EIO;
    errno = saved;
    cancel_resume(&cancel);
    return rc;
}
