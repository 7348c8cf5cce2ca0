/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording with synchronization events of every kind, stacks and modules, from several threads:
 *     sync_scribe write DIR
 * and prints one through the public reader, a line per event with every field by its name, then stacks and modules:
 *     sync_scribe print DIR
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tick.h"
#include "trace/write/stream_fast.h"
#include "trace/write/writer.h"
#include "support/flat_event.h"
#include "upmu/trace.h"

enum { THREADS = 4, ROUNDS = 300, STACKS = 40 };

static int failed(const char *what)
{
    fprintf(stderr, "sync_scribe: %s: %s\n", what, upmu_error());
    return 1;
}

/* ------------------------------------------------------------------------------------------------------ write */

static const int32_t kinds[] = {
    UPMU_TRACE_LOCK_BLOCK,     UPMU_TRACE_LOCK_ACQUIRED,  UPMU_TRACE_LOCK_ACQUIRE,    UPMU_TRACE_LOCK_RELEASE,
    UPMU_TRACE_LOCK_FAILED,    UPMU_TRACE_LOCK_INIT,      UPMU_TRACE_LOCK_DESTROY,    UPMU_TRACE_LOCK_COUNTS,
    UPMU_TRACE_LOCK_NAME,      UPMU_TRACE_LOCK_MISUSE,    UPMU_TRACE_COND_WAIT,       UPMU_TRACE_COND_WAKE,
    UPMU_TRACE_COND_SIGNAL,    UPMU_TRACE_COND_BROADCAST, UPMU_TRACE_SEM_POST,        UPMU_TRACE_THREAD_CREATE,
    UPMU_TRACE_THREAD_START,   UPMU_TRACE_THREAD_EXIT,    UPMU_TRACE_THREAD_JOIN,     UPMU_TRACE_THREAD_JOINED,
    UPMU_TRACE_THREAD_NAME,    UPMU_TRACE_THREAD_DETACH,  UPMU_TRACE_LOCK_CONSISTENT, UPMU_TRACE_SEM_OPEN,
    UPMU_TRACE_SEM_CLOSE,      UPMU_TRACE_SEM_UNLINK,     UPMU_TRACE_SEM_VALUE,       UPMU_TRACE_THREAD_CANCEL,
    UPMU_TRACE_BARRIER_ARRIVE, UPMU_TRACE_BARRIER_LEAVE,  UPMU_TRACE_FUTEX_WAIT,      UPMU_TRACE_FUTEX_WOKEN,
    UPMU_TRACE_FUTEX_WAKE,     UPMU_TRACE_LOCK_ORDER,     UPMU_TRACE_LOCK_REQUEST,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool write_stack(struct trace_stream *s, uint32_t id)
{
    uint64_t frames[STACKS];
    for (uint32_t i = 0; i < STACKS; i++)
        frames[i] = UINT64_C(0xffff000000000000) + id * 1000 + i;
    return upmu_trace_stack_(s, tick_now(), id, UPMU_STACK_LIBUNWIND, id % 2, frames, id % STACKS);
}

static bool write_kind(struct trace_stream *s, int32_t kind, uint64_t n)
{
    uint64_t tick = tick_now();
    const struct trace_sync e = {
        .kind = kind,
        .object_type = 1 + (int32_t)(n % 10),
        .flags = n % 7 ? 0 : 1u << (n / 7 % 10),
        .object = UINT64_C(0x7fff00000000) + n,
        .object2 = UINT64_C(0xffffffff00000000) + n,
        .result = n % 3 ? -(int32_t)n : 0,
        .peer = 1 + (int32_t)n,
        .stack = 1 + (uint32_t)n % STACKS,
        .site = n % 2 ? 0x400000 + n : 0,
        .holder_site = 0x500000 + n,
        .holder_since = n % 5 ? tick - n : 0,
        .count = UINT64_MAX - n,
        .contended = n,
        .name = n % 2 ? "queue \"main\" \xe4\xb8\xad" : "q",
    };
    return upmu_trace_sync_(s, tick, &e);
}

static void *writer_thread(void *arg)
{
    struct trace_stream *s;
    bool good = trace_stream_acquire(arg, gettid(), "sync worker", &s) == 0;
    for (uint32_t id = 1; good && id <= STACKS; id++)
        good = write_stack(s, id);
    good = good && upmu_trace_module_(s, tick_now(), 0x1000, 0x2000, UINT64_MAX, "00aaff", "/usr/lib/a \"b\".so");
    for (uint64_t n = 0; good && n < ROUNDS; n++) {
        for (size_t k = 0; good && k < KINDS; k++)
            good = write_kind(s, kinds[k], n);
        good = good &&
               stream_fast_flags(s, tick_now(), UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_RWLOCK, UPMU_TRACE_FLAG_SHARED, n,
                                 0) &&
               stream_fast_sync(s, tick_now(), UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_RWLOCK, n, 0) &&
               stream_fast_sync(s, tick_now(), UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_SPIN, n, 0);
        good = good && stream_fast_sync(s, tick_now(), UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_MUTEX, n, 0) &&
               stream_fast_sync(s, tick_now(), UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_MUTEX, n, (uint32_t)n);
    }
    if (good)
        trace_stream_release(s);
    return good ? arg : NULL;
}

static int write_recording(const char *dir)
{
    struct trace_writer *w;
    struct trace_config config = {.dir = dir, .packet_bytes = 16384};
    pthread_t threads[THREADS];
    if (trace_writer_open(&w, &config) != 0)
        return failed("open");
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, writer_thread, w) != 0)
            return failed("pthread_create");
    int result = 0;
    for (int i = 0; i < THREADS; i++) {
        void *good = NULL;
        if (pthread_join(threads[i], &good) != 0 || !good)
            result = failed("an event was lost");
    }
    trace_writer_close(w);
    return result;
}

/* ------------------------------------------------------------------------------------------------------ print */

static void print_event(const struct upmu_trace_event *e)
{
    const struct flat_event flat = flat_event(e);
    printf("E tick=%" PRIu64 " tid=%d kind=%" PRId32 " object=%" PRIu64 " object2=%" PRIu64 " object_type=%" PRId32
           " result=%" PRId32 " peer=%d stack=%" PRIu32 " site=%" PRIu64 " holder_site=%" PRIu64 " holder=%" PRIu64
           " count=%" PRIu64 " contended=%" PRIu64 " flags=%" PRIu32 " name=",
           e->tick, (int)e->tid, e->kind, e->object, flat.object2, e->object_type, e->result, (int)flat.peer, e->stack,
           e->site, flat.holder_site, flat.holder_since ? e->time_ns - flat.holder_since : 0, flat.count,
           flat.contended, e->flags);
    for (const unsigned char *p = (const unsigned char *)e->name; *p; p++)
        printf("%02x", *p);
    printf("\n");
}

static void print_context(const struct upmu_trace *t)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    struct upmu_trace_module m = {.size = sizeof m};
    for (uint32_t id = 1; upmu_trace_stack_find(t, 0, id, &stack) == 0; id++) {
        printf("S %" PRIu32 " %" PRIu32 " %" PRIu32, id, stack.method, stack.truncated);
        for (uint32_t i = 0; i < stack.n_frames; i++)
            printf(" %" PRIu64, stack.frames[i]);
        printf("\n");
    }
    for (size_t i = 0; upmu_trace_module_at(t, 0, i, &m) == 0; i++)
        printf("M %" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s\n", m.base, m.start, m.end, m.build_id, m.path);
}

static int print_recording(const char *dir)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int rc, result = 0;
    if (upmu_trace_open(&t, dir) != 0)
        return failed("open");
    while ((rc = upmu_trace_next(t, &e)) != 0) {
        if (rc > 0)
            print_event(e);
        else
            result = failed("next");
    }
    print_context(t);
    upmu_trace_close(t);
    return result;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        return write_recording(argv[2]);
    if (argc == 3 && strcmp(argv[1], "print") == 0)
        return print_recording(argv[2]);
    fprintf(stderr, "usage: sync_scribe write|print DIR\n");
    return 2;
}
