/* SPDX-License-Identifier: MIT */
/* Sources of overflows: an event of perf_event, or a timer of the thread's CPU time where that is refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "core/check/refusal.h"
#include "core/kernel_ops.h"
#include "core/machine/machine.h"
#include "core/overflow/overflow.h"

enum { CLOCK_PERIOD_MIN = 10000 /* the kernel's own limit for clocks */ };

static uint64_t source_cpu_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool source_is_clock(const struct event *e)
{
    return e->type == KERNEL_TYPE_SOFTWARE && (e->config == KERNEL_SW_CPU_CLOCK || e->config == KERNEL_SW_TASK_CLOCK);
}

static int source_find_event(struct upmu_overflow *o)
{
    struct event *e = &o->event;
    int rc = event_resolve(o->opts.event ? o->opts.event : "task-clock", e);
    if (rc != 0)
        return rc;
    if (e->formula)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "event %s is a sum of events, which does not overflow. Use one of them: %s", e->name,
                         e->formula);
    if (e->cpu >= 0)
        return upmu_fail(UPMU_E_UNSUPPORTED, "event %s counts whole CPUs and does not overflow per thread", e->name);
    if (e->class == EVENT_USAGE)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "event %s is accounting of the kernel, which does not overflow. Use task-clock", e->name);
    if (source_is_clock(e) && o->opts.period < CLOCK_PERIOD_MIN)
        return upmu_fail(UPMU_E_INVAL, "upmu_overflow_open: the `period` of %s is at least %d nanoseconds", e->name,
                         (int)CLOCK_PERIOD_MIN);
    return 0;
}

static int source_open_modes(struct upmu_overflow *o)
{
    const struct event *e = &o->event;
    struct kernel_open request = {
        .type = e->type,
        .exclude = event_exclude(e),
        .config = e->config,
        .config1 = e->config1,
        .config2 = e->config2,
        .cpu = -1,
        .group_fd = -1,
        .disabled = true,
        .period = o->opts.period,
        .precise = e->precise,
    };
    int fd = core_kernel()->open(&request);
    if ((fd != -EACCES && fd != -EPERM) || !e->kernel || !e->user || e->modes_fixed || e->all_modes_only)
        return fd;
    request.exclude |= UPMU_EXCLUDE_KERNEL;
    int narrowed = core_kernel()->open(&request);
    o->user_only = narrowed >= 0 && !e->mode_blind && !e->filter_ignored;
    return narrowed >= 0 ? narrowed : fd;
}

/* @return 0, or a code with its message. */
static int source_open_event(struct upmu_overflow *o, int signal)
{
    const struct event *e = &o->event;
    int fd = source_open_modes(o);
    int err = fd < 0 ? -fd : -core_kernel()->overflow_signal(fd, signal);
    if (err == 0) {
        o->fd = fd;
        return 0;
    }
    if (fd >= 0)
        core_kernel()->close(fd);
    if (err == EINVAL || err == EOPNOTSUPP)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "event %s: the kernel refuses a period (%s): its counter may not report overflows. Use "
                         "task-clock",
                         e->name, upmu_errno_name(err));
    const struct explain_context context = {.event = e->name,
                                            .type = e->type,
                                            .cpu = -1,
                                            .wants_kernel = e->kernel,
                                            .user_mode_counts = e->user && !e->kernel_only,
                                            .precise = e->precise > 0};
    return explain_open_failure(core_kernel(), err, &context);
}

static int source_open_timer(struct upmu_overflow *o, int signal)
{
    o->reason = strdup(upmu_error());
    if (!o->reason)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for an overflow");
    int rc = core_kernel()->cpu_timer(signal, &o->timer);
    return rc == 0
               ? 0
               : upmu_fail(UPMU_E_SYSTEM, "cannot create a timer of the thread's CPU time: %s", upmu_errno_name(-rc));
}

int overflow_source_open(struct upmu_overflow *o, int signal)
{
    o->fd = o->timer = -1;
    int rc = source_find_event(o);
    if (rc != 0)
        return rc;
    rc = source_open_event(o, signal);
    return rc != 0 && source_is_clock(&o->event) && !core_kernel()->recorded() ? source_open_timer(o, signal) : rc;
}

int overflow_source_start(struct upmu_overflow *o)
{
    if (o->fd >= 0) {
        bool was_armed = o->is_armed;
        o->is_armed = true; /* before a signal arrives */
        return core_kernel()->control(o->fd, was_armed ? KERNEL_ENABLE : KERNEL_REFRESH);
    }
    o->cpu_begun_ns = source_cpu_ns();
    return core_kernel()->cpu_timer_set(o->timer, o->opts.period);
}

void overflow_source_stop(struct upmu_overflow *o)
{
    if (o->fd >= 0) {
        (void)core_kernel()->control(o->fd, KERNEL_DISABLE);
        return;
    }
    (void)core_kernel()->cpu_timer_set(o->timer, 0);
    o->cpu_ns += source_cpu_ns() - o->cpu_begun_ns;
}

void overflow_source_continue(struct upmu_overflow *o)
{
    if (o->fd < 0)
        return;
    o->is_armed = o->is_started;
    if (o->is_started)
        (void)core_kernel()->control(o->fd, KERNEL_REFRESH);
}

uint64_t overflow_source_count(const struct upmu_overflow *o)
{
    uint64_t words[KERNEL_READ_ONE_WORDS];
    if (o->fd < 0)
        return o->cpu_ns + (o->is_started ? source_cpu_ns() - o->cpu_begun_ns : 0);
    return core_kernel()->read(o->fd, words, sizeof words) == (ssize_t)sizeof words ? words[0] : UPMU_NO_VALUE;
}

bool overflow_source_sent(const struct upmu_overflow *o, const siginfo_t *info)
{
    if (o->fd >= 0)
        return info->si_code != SI_TIMER && info->si_fd == o->fd;
    return info->si_code == SI_TIMER && info->si_timerid == o->timer;
}

void overflow_source_close(struct upmu_overflow *o, bool owned)
{
    if (o->fd >= 0) {
        /* A forked child may keep the event alive by its copy of the descriptor. */
        if (owned)
            (void)core_kernel()->control(o->fd, KERNEL_DISABLE);
        core_kernel()->close(o->fd);
    } else if (owned && o->timer >= 0) {
        core_kernel()->cpu_timer_delete(o->timer);
    }
    free(o->reason);
}
