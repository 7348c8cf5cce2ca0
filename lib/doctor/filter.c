/* SPDX-License-Identifier: MIT */
/* What a seccomp filter does with the system calls of a recording. */
#include "base/error.h"
#include "core/check/system_calls.h"
#include "upmu/upmu.h"

static int32_t filter_answer(enum system_call_answer a)
{
    static const int32_t answers[] = {
        [SYSTEM_CALL_ALLOWED] = UPMU_FILTER_ALLOWED,
        [SYSTEM_CALL_REFUSED] = UPMU_FILTER_REFUSED,
        [SYSTEM_CALL_ASKED] = UPMU_FILTER_ASKED,
        [SYSTEM_CALL_KILLED] = UPMU_FILTER_KILLED,
    };
    return answers[a];
}

int upmu_filter_judge(const void *program, size_t n, int (*found)(const struct upmu_filter_call *call, void *arg),
                      void *arg)
{
    if ((!program && n > 0) || !found)
        return upmu_fail(UPMU_E_INVAL, "upmu_filter_judge: `%s` is NULL", found ? "program" : "found");
    for (size_t i = 0; i < system_calls_count; i++) {
        const struct system_call *c = &system_calls[i];
        if (c->uses == SYSTEM_CALL_TIMER) /* not of every recording */
            continue;
        struct upmu_filter_call call = {
            .name = c->name,
            .number = (int32_t)c->number,
            .answer = filter_answer(system_call_answer(system_call_filter(program, n, c))),
            .at_start = (c->uses & SYSTEM_CALL_START) != 0,
            .later = (c->uses & (SYSTEM_CALL_RUN | SYSTEM_CALL_END)) != 0,
            .with_counters = (c->uses & SYSTEM_CALL_COUNTERS) != 0,
        };
        if (c->uses & SYSTEM_CALL_INSTEAD)
            continue;
        int rc = found(&call, arg);
        if (rc != 0)
            return rc;
    }
    return 0;
}
