/* SPDX-License-Identifier: MIT */
/* Prints the events of a recording through the public reader, one per line. */
#include <inttypes.h>
#include <stdio.h>

#include "support/flat_event.h"
#include "upmu/trace.h"

static const char *const kinds[] = {
    [UPMU_TRACE_MARK] = "mark",
    [UPMU_TRACE_REGION_BEGIN] = "region_begin",
    [UPMU_TRACE_REGION_END] = "region_end",
    [UPMU_TRACE_LOCK_BLOCK] = "block",
    [UPMU_TRACE_LOCK_ACQUIRED] = "acquired",
    [UPMU_TRACE_LOCK_ACQUIRE] = "acquire",
    [UPMU_TRACE_LOCK_RELEASE] = "release",
    [UPMU_TRACE_LOCK_FAILED] = "failed",
    [UPMU_TRACE_LOCK_INIT] = "init",
    [UPMU_TRACE_LOCK_DESTROY] = "destroy",
    [UPMU_TRACE_LOCK_COUNTS] = "counts",
    [UPMU_TRACE_LOCK_NAME] = "lock_name",
    [UPMU_TRACE_LOCK_MISUSE] = "misuse",
    [UPMU_TRACE_COND_WAIT] = "cond_wait",
    [UPMU_TRACE_COND_WAKE] = "cond_wake",
    [UPMU_TRACE_COND_SIGNAL] = "cond_signal",
    [UPMU_TRACE_COND_BROADCAST] = "cond_broadcast",
    [UPMU_TRACE_SEM_POST] = "sem_post",
    [UPMU_TRACE_THREAD_CREATE] = "create",
    [UPMU_TRACE_THREAD_START] = "start",
    [UPMU_TRACE_THREAD_EXIT] = "exit",
    [UPMU_TRACE_THREAD_JOIN] = "join",
    [UPMU_TRACE_THREAD_JOINED] = "joined",
    [UPMU_TRACE_THREAD_NAME] = "thread_name",
    [UPMU_TRACE_THREAD_DETACH] = "detach",
    [UPMU_TRACE_THREAD_CANCEL] = "cancel",
    [UPMU_TRACE_LOCK_CONSISTENT] = "consistent",
    [UPMU_TRACE_LOCK_ORDER] = "order",
    [UPMU_TRACE_LOCK_REQUEST] = "request",
    [UPMU_TRACE_SEM_OPEN] = "sem_open",
    [UPMU_TRACE_SEM_CLOSE] = "sem_close",
    [UPMU_TRACE_SEM_UNLINK] = "sem_unlink",
    [UPMU_TRACE_SEM_VALUE] = "sem_value",
    [UPMU_TRACE_BARRIER_ARRIVE] = "barrier_arrive",
    [UPMU_TRACE_BARRIER_LEAVE] = "barrier_leave",
    [UPMU_TRACE_FUTEX_WAIT] = "futex_wait",
    [UPMU_TRACE_FUTEX_WOKEN] = "futex_woken",
    [UPMU_TRACE_FUTEX_WAKE] = "futex_wake",
};

static const char *kind_name(int32_t kind)
{
    const char *name = kind > 0 && kind < (int32_t)(sizeof kinds / sizeof *kinds) ? kinds[kind] : NULL;
    return name ? name : "unknown";
}

static uint32_t frames_of(const struct upmu_trace *t, const struct upmu_trace_event *e)
{
    struct upmu_trace_stack s = {.size = sizeof s};
    if (e->stack == 0)
        return 0;
    /* A stack that is named and not there yet is a failure every script looks for. */
    return upmu_trace_stack_find(t, e->process, e->stack, &s) == 0 ? s.n_frames : UINT32_MAX;
}

static void print_event(const struct upmu_trace *t, const struct upmu_trace_event *e)
{
    const struct flat_event flat = flat_event(e);
    printf("%s pid=%d tid=%d time=%" PRIu64 " object=%" PRIx64 " object2=%" PRIx64 " type=%d result=%d peer=%d "
           "site=%" PRIx64 " holder_site=%" PRIx64 " holder_since=%" PRIu64 " count=%" PRIu64 " contended=%" PRIu64
           " flags=%" PRIu32 " frames=%" PRIu32 " name=%s\n",
           kind_name(e->kind), (int)e->pid, (int)e->tid, e->time_ns, e->object, flat.object2, (int)e->object_type,
           (int)e->result, (int)flat.peer, e->site, flat.holder_site, flat.holder_since, flat.count, flat.contended,
           e->flags, frames_of(t, e), e->name);
}

static int print_ends(const struct upmu_trace *t)
{
    for (size_t i = 0; i < upmu_trace_process_count(t); i++) {
        struct upmu_trace_process p = {.size = sizeof p};
        struct upmu_trace_module m = {.size = sizeof m};
        if (upmu_trace_process_at(t, i, &p) != 0)
            return 1;
        printf("process pid=%d filtered=%u failed=%u complete=%u lost=%" PRIu64 "\n", (int)p.pid, p.children_filtered,
               p.children_failed, p.complete, p.lost);
        for (size_t k = 0; upmu_trace_module_at(t, i, k, &m) == 0; k++)
            printf("module pid=%d build_id=%s path=%s\n", (int)p.pid, m.build_id, m.path);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int rc;
    if (argc != 2 || upmu_trace_open(&t, argv[1]) != 0) {
        fprintf(stderr, "dump: %s\n", argc == 2 ? upmu_error() : "usage: dump DIR");
        return 1;
    }
    while ((rc = upmu_trace_next(t, &e)) > 0)
        print_event(t, e);
    if (rc < 0) {
        fprintf(stderr, "dump: %s\n", upmu_error());
        return 1;
    }
    rc = print_ends(t);
    upmu_trace_close(t);
    return rc;
}
