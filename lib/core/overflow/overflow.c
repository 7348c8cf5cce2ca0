/* SPDX-License-Identifier: MIT */
/* Public functions of overflows. */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/kernel_ops.h"
#include "core/overflow/overflow.h"
#include "core/set/caller.h"

static int overflow_open(struct upmu_overflow *o)
{
    int number = overflow_signal_number();
    if (number == 0)
        return upmu_fail(UPMU_E_LIMIT, "upmu_overflow_open: the program uses all real-time signals. Leave one free");
    int rc = overflow_source_open(o, number);
    if (rc == 0)
        overflow_signal_add(o);
    else
        overflow_source_close(o, true);
    return rc;
}

int upmu_overflow_open(struct upmu_overflow **overflow, const struct upmu_overflow_opts *opts)
{
    if (!overflow || !opts)
        return ARGUMENT_NULL(overflow, opts);
    *overflow = NULL;
    struct upmu_overflow *o = calloc(1, sizeof *o);
    if (!o)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for an overflow");
    int rc = OPTS_TAKE(o->opts, opts, UPMU_OVERFLOW_OPTS_SIZE_V1);
    if (rc == 0 && !o->opts.callback)
        rc = upmu_fail(UPMU_E_INVAL, "upmu_overflow_open: `callback` is NULL");
    if (rc == 0 && o->opts.period == 0)
        rc = upmu_fail(UPMU_E_INVAL, "upmu_overflow_open: `period` is 0");
    o->thread = caller_thread();
    o->process = caller_process();
    o->tid = core_kernel()->gettid();
    if (rc == 0)
        rc = overflow_open(o);
    if (rc == 0)
        *overflow = o;
    else
        free(o);
    return rc;
}

static bool overflow_is_callers(const struct upmu_overflow *o)
{
    return o->thread == caller_thread() && o->process == caller_process();
}

static int overflow_foreign(const char *function)
{
    return upmu_fail(UPMU_E_STATE, "%s: another thread, or the parent process, has opened it", function);
}

int upmu_overflow_start(struct upmu_overflow *overflow)
{
    if (!overflow)
        return argument_null(__func__, "overflow");
    if (!overflow_is_callers(overflow))
        return overflow_foreign(__func__);
    int rc = overflow->is_started ? 0 : overflow_signal_check();
    if (rc != 0 || overflow->is_started)
        return rc;
    overflow->is_started = true;
    rc = overflow_source_start(overflow);
    if (rc == 0)
        return 0;
    overflow->is_started = false;
    return upmu_fail(UPMU_E_SYSTEM, "upmu_overflow_start: %s", upmu_errno_name(-rc));
}

int upmu_overflow_stop(struct upmu_overflow *overflow)
{
    if (!overflow)
        return argument_null(__func__, "overflow");
    if (!overflow_is_callers(overflow))
        return overflow_foreign(__func__);
    int saved = errno;
    if (overflow->is_started) {
        overflow->is_started = false;
        overflow_source_stop(overflow);
    }
    errno = saved;
    return 0;
}

int upmu_overflow_info_read(const struct upmu_overflow *overflow, struct upmu_overflow_info *info)
{
    if (!overflow || !info)
        return ARGUMENT_NULL(overflow, info);
    if (!overflow_is_callers(overflow))
        return overflow_foreign(__func__);
    const struct upmu_overflow_info ours = {
        .size = sizeof ours,
        .event = overflow->event.name,
        .reason = overflow->reason ? overflow->reason : "",
        .period = overflow->opts.period,
        .calls = overflow->calls,
        .events = overflow->events,
        .count = overflow_source_count(overflow),
        .source = overflow->fd >= 0 ? UPMU_OVERFLOW_PERF : UPMU_OVERFLOW_TIMER,
        .signal = overflow_signal_number(),
        .user_only = overflow->user_only,
    };
    return OPTS_GIVE(info, ours, UPMU_OVERFLOW_INFO_SIZE_V1);
}

int upmu_overflow_close(struct upmu_overflow *overflow)
{
    if (!overflow)
        return 0;
    bool owned = overflow->process == caller_process();
    bool is_callers = overflow->thread == caller_thread();
    if (owned && !is_callers && core_kernel()->thread_lives(overflow->tid)) /* it may be in the handler */
        return overflow_foreign(__func__);
    if (owned && is_callers)
        (void)upmu_overflow_stop(overflow);
    overflow_signal_remove(overflow);
    overflow_source_close(overflow, owned);
    free(overflow);
    return 0;
}
