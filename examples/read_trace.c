/* SPDX-License-Identifier: MIT */
/*
 * Reading a trace from C: every wait of a recording, with the holder of the lock, and the counts of each lock.
 *
 *     cc read_trace.c $(pkg-config --cflags --libs upmu-analysis)
 *     ./a.out upmu-trace
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <upmu/trace.h>

static void print_event(const struct upmu_trace *trace, const struct upmu_trace_event *e)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};

    switch (e->kind) {
    case UPMU_TRACE_LOCK_NAME:
        printf("lock %" PRIx64 " is called \"%s\"\n", e->object, e->name);
        break;
    case UPMU_TRACE_LOCK_BLOCK:
        printf("%" PRIu64 " thread %d waits for %" PRIx64, e->time_ns, (int)e->tid, e->object);
        if (e->lock_block.holder)
            printf(", held by thread %d", (int)e->lock_block.holder);
        if (upmu_trace_stack_find(trace, e->process, e->stack, &stack) == 0)
            printf(", %u frames", stack.n_frames);
        putchar('\n');
        break;
    case UPMU_TRACE_LOCK_ACQUIRED:
        printf("%" PRIu64 " thread %d has %" PRIx64 "\n", e->time_ns, (int)e->tid, e->object);
        break;
    case UPMU_TRACE_LOCK_COUNTS:
        printf("thread %d took %" PRIx64 " %" PRIu64 " times and waited %" PRIu64 " times so far\n",
               (int)e->lock_counts.thread, e->object, e->lock_counts.acquisitions, e->lock_counts.contended);
        break;
    default: /* a reader skips unknown events */
        break;
    }
}

int main(int argc, char **argv)
{
    struct upmu_trace *trace;
    const struct upmu_trace_event *event;
    int rc;

    if (argc != 2) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    if (upmu_trace_open(&trace, argv[1]) != 0) {
        fprintf(stderr, "%s\n", upmu_error());
        return 1;
    }
    while ((rc = upmu_trace_next(trace, &event)) > 0)
        print_event(trace, event);
    if (rc < 0)
        fprintf(stderr, "%s\n", upmu_error());
    upmu_trace_close(trace);
    return rc < 0 ? 1 : 0;
}
