/* SPDX-License-Identifier: MIT */
/* Round trip of synchronization events, stacks and modules, in every form of writing. */
#include "base/tick.h"
#include "suite.h"
#include "support/flat_event.h"
#include "trace/format/clockmap.h"
#include "trace/format/ctf.h"
#include "trace/write/stream_fast.h"

enum { TID = 77 };

static struct trace_writer *w;
static struct trace_stream *s;
static size_t page;

static void set_up(void)
{
    recording_set_up();
    page = (size_t)sysconf(_SC_PAGESIZE);
    w = writer_with(NULL, 0, page);
    s = stream_of(w, TID);
}

/* The writer's part is over. */
static struct upmu_trace *finished(void)
{
    trace_stream_release(s);
    trace_writer_close(w);
    return trace_of(recording);
}

/* ------------------------------------------------------------------------------------------------- every field */

/* Which fields a kind keeps, repeated here and not taken from the table under test. */
enum {
    TYPE = 1,
    RESULT = 2,
    PEER = 4,
    STACK = 8,
    SITE = 16,
    HOLDER = 32,
    COUNTS = 64,
    NAME = 128,
    OBJECT2 = 256,
    FLAGS = 512,
    COUNT = 1024,
    TAKEN_AT = 2048, /* where the holder took it, without since when */
    PLACE = STACK | SITE,
    LOCK = TYPE | RESULT | PLACE | FLAGS,
    COND = RESULT | PLACE | OBJECT2 | FLAGS,
    THREAD = RESULT | PLACE | PEER | FLAGS,
    WAIT = RESULT | PLACE | FLAGS,
};

static const struct {
    int32_t kind;
    int32_t fixed_type; /* of kinds without TYPE */
    int fields;
} kinds[] = {
    {UPMU_TRACE_LOCK_BLOCK, 0, TYPE | PEER | STACK | SITE | HOLDER | FLAGS},
    {UPMU_TRACE_LOCK_ACQUIRED, 0, LOCK},
    {UPMU_TRACE_LOCK_ACQUIRE, 0, LOCK},
    {UPMU_TRACE_LOCK_RELEASE, 0, LOCK | HOLDER},
    {UPMU_TRACE_LOCK_FAILED, 0, LOCK},
    {UPMU_TRACE_LOCK_INIT, 0, TYPE | STACK | SITE | NAME | FLAGS},
    {UPMU_TRACE_LOCK_DESTROY, 0, LOCK},
    {UPMU_TRACE_LOCK_COUNTS, 0, TYPE | COUNTS | FLAGS | PEER},
    {UPMU_TRACE_LOCK_NAME, 0, TYPE | NAME},
    {UPMU_TRACE_LOCK_MISUSE, 0, LOCK},
    {UPMU_TRACE_COND_WAIT, UPMU_OBJECT_COND, COND | HOLDER},
    {UPMU_TRACE_COND_WAKE, UPMU_OBJECT_COND, COND},
    {UPMU_TRACE_COND_SIGNAL, UPMU_OBJECT_COND, COND},
    {UPMU_TRACE_COND_BROADCAST, UPMU_OBJECT_COND, COND},
    {UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, RESULT | STACK | SITE | FLAGS},
    {UPMU_TRACE_THREAD_CREATE, UPMU_OBJECT_THREAD, THREAD},
    {UPMU_TRACE_THREAD_START, UPMU_OBJECT_THREAD, PEER | SITE},
    {UPMU_TRACE_THREAD_EXIT, UPMU_OBJECT_THREAD, COUNTS | FLAGS | OBJECT2 | PEER},
    {UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, THREAD},
    {UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, THREAD},
    {UPMU_TRACE_THREAD_NAME, UPMU_OBJECT_THREAD, PEER | NAME},
    {UPMU_TRACE_THREAD_DETACH, UPMU_OBJECT_THREAD, THREAD},
    {UPMU_TRACE_LOCK_CONSISTENT, 0, LOCK},
    {UPMU_TRACE_SEM_OPEN, UPMU_OBJECT_SEM, RESULT | PLACE | NAME},
    {UPMU_TRACE_SEM_CLOSE, UPMU_OBJECT_SEM, RESULT | PLACE},
    {UPMU_TRACE_SEM_UNLINK, UPMU_OBJECT_SEM, RESULT | PLACE | NAME},
    {UPMU_TRACE_SEM_VALUE, UPMU_OBJECT_SEM, COUNT | PLACE},
    {UPMU_TRACE_THREAD_CANCEL, UPMU_OBJECT_THREAD, THREAD},
    {UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, WAIT},
    {UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, WAIT},
    {UPMU_TRACE_FUTEX_WAIT, UPMU_OBJECT_FUTEX, WAIT | COUNT},
    {UPMU_TRACE_FUTEX_WOKEN, UPMU_OBJECT_FUTEX, WAIT | COUNT},
    {UPMU_TRACE_FUTEX_WAKE, UPMU_OBJECT_FUTEX, RESULT | PLACE | OBJECT2 | COUNT},
    {UPMU_TRACE_FUTEX_ALSO, UPMU_OBJECT_FUTEX, 0},
    {UPMU_TRACE_LOCK_ORDER, 0, TYPE | OBJECT2 | TAKEN_AT | STACK | COUNT | FLAGS},
    {UPMU_TRACE_LOCK_REQUEST, 0, TYPE | STACK | FLAGS},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Every field set, each to another number that uses the whole width. */
static struct trace_sync full_event(size_t i, uint64_t tick)
{
    uint64_t n = (uint64_t)i << 32;
    return (struct trace_sync){
        .kind = kinds[i].kind,
        .object_type = UPMU_OBJECT_SEM,
        .object = 0xf000000000000001 + n,
        .object2 = 0xe000000000000002 + n,
        .result = i % 2 ? -110 : 2147483647,
        .peer = 1000000 + (int32_t)i,
        .stack = 0xfffffff0u + (uint32_t)i % 8,
        .site = 0xd000000000000003 + n,
        .holder_site = 0xc000000000000004 + n,
        .holder_since = tick - 1000,
        .count = 0xb000000000000005 + n,
        .contended = 0xa000000000000006 + n,
        .flags = 0xff00 + (uint32_t)i,
        .name = "a name of \xe4\xb8\xad\n",
    };
}

static void expect_fields(const struct upmu_trace_event *e, const struct trace_sync *in, size_t i)
{
    int has = kinds[i].fields;
    const struct flat_event flat = flat_event(e);
    ck_assert_int_eq(e->kind, in->kind);
    ck_assert_int_eq(e->tid, TID);
    ck_assert_uint_eq(e->object, in->object);
    ck_assert_int_eq(e->object_type, has & TYPE ? in->object_type : kinds[i].fixed_type);
    ck_assert_uint_eq(flat.object2, has & OBJECT2 ? in->object2 : 0);
    ck_assert_int_eq(e->result, has & RESULT ? in->result : 0);
    ck_assert_int_eq(flat.peer, has & PEER ? in->peer : 0);
    ck_assert_uint_eq(e->stack, has & STACK ? in->stack : 0);
    ck_assert_uint_eq(e->site, has & SITE ? in->site : 0);
    ck_assert_uint_eq(flat.holder_site, has & (HOLDER | TAKEN_AT) ? in->holder_site : 0);
    ck_assert_uint_eq(flat.count, has & (COUNTS | COUNT) ? in->count : 0);
    ck_assert_uint_eq(flat.contended, has & COUNTS ? in->contended : 0);
    ck_assert_uint_eq(e->flags, has & FLAGS ? in->flags : 0);
    ck_assert_str_eq(e->name, has & NAME ? in->name : "");
    ck_assert_uint_eq(e->n_values, 0);
    ck_assert_ptr_null(e->values);
}

START_TEST(every_kind_keeps_its_fields_and_no_other)
{
    uint64_t tick = tick_now();
    for (size_t i = 0; i < 3 * KINDS; i++) {
        struct trace_sync e = full_event(i % KINDS, tick);
        ck_assert(upmu_trace_sync_(s, tick + i, &e));
    }
    struct upmu_trace *t = finished();
    uint64_t since = 0;
    for (size_t i = 0; i < 3 * KINDS; i++) {
        struct trace_sync in = full_event(i % KINDS, tick);
        const struct upmu_trace_event *e = must_read(t);
        ck_assert_uint_eq(e->tick, tick + i);
        expect_fields(e, &in, i % KINDS);
        if (kinds[i % KINDS].fields & HOLDER) { /* a tick in the trace, a time for the caller */
            uint64_t now = flat_event(e).holder_since;
            ck_assert_uint_lt(now, e->time_ns);
            ck_assert_uint_gt(now, e->time_ns - 100000);
            ck_assert(since == 0 || since == now);
            since = now;
        } else {
            ck_assert_uint_eq(flat_event(e).holder_since, 0);
        }
    }
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(an_unknown_holder_time_stays_unknown_and_a_long_name_is_cut)
{
    char name[UPMU_REGION_NAME_MAX + 10];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    struct trace_sync block = {.kind = UPMU_TRACE_LOCK_BLOCK, .object = 1};
    struct trace_sync named = {.kind = UPMU_TRACE_LOCK_NAME, .object = 1, .name = name};
    ck_assert(upmu_trace_sync_(s, tick_now(), &block));
    ck_assert(upmu_trace_sync_(s, tick_now(), &named));
    named.name = NULL;
    ck_assert(upmu_trace_sync_(s, tick_now(), &named));
    struct upmu_trace *t = finished();
    ck_assert_uint_eq(must_read(t)->lock_block.holder_since, 0);
    ck_assert_uint_eq(strlen(must_read(t)->name), UPMU_REGION_NAME_MAX);
    ck_assert_str_eq(must_read(t)->name, "");
    upmu_trace_close(t);
}
END_TEST

START_TEST(a_kind_that_is_none_is_lost_and_counted)
{
    static const int32_t none[] = {INT32_MIN, -1, 0, UPMU_TRACE_MARK, 30, 63, INT32_MAX};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct trace_sync e = {.kind = none[i]};
        ck_assert(!upmu_trace_sync_(s, tick_now(), &e));
    }
    ck_assert_uint_eq(trace_writer_lost(w), sizeof none / sizeof *none);
}
END_TEST

/* ------------------------------------------------------------------------------------------------- scheduling */

/* They are written long after they were made, and read in their place among the thread's other events. */
START_TEST(switches_are_ordered_by_time_among_events)
{
    static const struct {
        int32_t kind;
        uint64_t count;
        uint32_t flags;
    } switches[] = {
        {UPMU_TRACE_SCHED_BEGIN, 3, 0},         {UPMU_TRACE_SCHED_OUT, 3, UPMU_TRACE_FLAG_PREEMPTED},
        {UPMU_TRACE_SCHED_IN, UINT32_MAX, 0},   {UPMU_TRACE_SCHED_OUT, 4095, 0},
        {UPMU_TRACE_SCHED_LOST, UINT64_MAX, 0}, {UPMU_TRACE_SCHED_SEEN, UINT64_MAX - 1, 0},
    };
    enum { SWITCHES = sizeof switches / sizeof *switches };
    struct trace_stream *beside = stream_of(w, TID);
    uint64_t tick = tick_now();
    struct trace_sync lock = {.kind = UPMU_TRACE_LOCK_MISUSE};
    for (size_t i = 0; i < SWITCHES; i++)
        ck_assert(upmu_trace_sync_(s, tick + 1000 * (2 * i + 1), &lock));
    for (size_t i = 0; i < SWITCHES; i++)
        ck_assert(trace_sched(beside, tick + 1000 * 2 * i, switches[i].kind, switches[i].count, switches[i].flags));
    trace_stream_release(beside);
    struct upmu_trace *t = finished();
    for (size_t i = 0; i < (size_t)2 * SWITCHES; i++) {
        const struct upmu_trace_event *e = must_read(t);
        ck_assert_uint_eq(e->tick, tick + 1000 * i);
        ck_assert_int_eq(e->tid, TID);
        ck_assert_int_eq(e->kind, i % 2 ? UPMU_TRACE_LOCK_MISUSE : switches[i / 2].kind);
        ck_assert_uint_eq(flat_event(e).count, i % 2 ? 0 : switches[i / 2].count);
        ck_assert_uint_eq(e->flags, i % 2 ? 0 : switches[i / 2].flags);
        ck_assert_uint_eq(e->object, 0);
    }
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(counts_of_waits_for_futexes_come_back_as_they_were)
{
    struct trace_stream *beside = stream_of(w, TID);
    ck_assert(trace_futexes(beside, tick_now(), UINT64_MAX, UINT64_MAX - 5));
    trace_stream_release(beside);
    trace_writer_futex_note(w, "because");
    struct upmu_trace *t = finished();
    const struct upmu_trace_event *e = must_read(t);
    struct upmu_trace_process p = {.size = sizeof p};
    ck_assert_int_eq(e->kind, UPMU_TRACE_FUTEX_COUNTS);
    ck_assert_int_eq(e->tid, TID);
    ck_assert_uint_eq(e->futex_counts.waits, UINT64_MAX);
    ck_assert_uint_eq(e->futex_counts.recorded, UINT64_MAX - 5);
    must_end(t);
    ck_assert_int_eq(upmu_trace_process_at(t, 0, &p), 0);
    ck_assert_str_eq(p.futex_note, "because");
    upmu_trace_close(t);
}
END_TEST

/* --------------------------------------------------------------------------------------------------- compact */

static const struct {
    int32_t kind, type;
    uint32_t flags;
} compact[] = {
    {UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_MUTEX, 0},
    {UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_MUTEX, 0},
    {UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_CUSTOM, 0},
    {UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_CUSTOM, 0},
    {UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_SEM, 0},
    {UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, 0},
    {UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_RWLOCK, 0},
    {UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_RWLOCK, 0},
    {UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_RWLOCK, UPMU_TRACE_FLAG_SHARED},
    {UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_RWLOCK, UPMU_TRACE_FLAG_SHARED},
    {UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_SPIN, 0},
    {UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_SPIN, 0},
    {UPMU_TRACE_LOCK_REQUEST, UPMU_OBJECT_MUTEX, 0},
};
enum { COMPACT = sizeof compact / sizeof *compact };

START_TEST(frequent_events_take_16_bytes_by_either_way)
{
    uint64_t tick = tick_now();
    struct trace_sync first = {.kind = UPMU_TRACE_LOCK_ACQUIRE, .object_type = UPMU_OBJECT_MUTEX, .object = 1};
    ck_assert(upmu_trace_sync_(s, tick, &first));
    const uint8_t *before = s->pos;
    for (size_t i = 0; i < COMPACT; i++) {
        struct trace_sync e = {.kind = compact[i].kind,
                               .object_type = compact[i].type,
                               .flags = compact[i].flags,
                               .object = UINT64_MAX - i,
                               .stack = UINT32_MAX};
        ck_assert(upmu_trace_sync_(s, tick + i, &e));
        ck_assert(stream_fast_flags(s, tick + i, e.kind, e.object_type, e.flags, e.object, e.stack));
    }
    ck_assert_int_eq(s->pos - before, 2 * COMPACT * STREAM_COMPACT_BYTES);
    struct upmu_trace *t = finished();
    ck_assert_uint_eq(must_read(t)->object, 1);
    for (size_t i = 0; i < (size_t)2 * COMPACT; i++) {
        const struct upmu_trace_event *e = must_read(t);
        ck_assert_uint_eq(e->tick, tick + i / 2);
        ck_assert_int_eq(e->kind, compact[i / 2].kind);
        ck_assert_int_eq(e->object_type, compact[i / 2].type);
        ck_assert_uint_eq(e->flags, compact[i / 2].flags);
        ck_assert_uint_eq(e->object, UINT64_MAX - i / 2);
        ck_assert_uint_eq(e->stack, UINT32_MAX);
    }
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

/* Written out by the fast way, by the table of classes by the other. */
START_TEST(events_of_waits_are_alike_by_either_way)
{
    static const int32_t kinds_of_waits[] = {UPMU_TRACE_LOCK_BLOCK, UPMU_TRACE_LOCK_ACQUIRED, UPMU_TRACE_LOCK_RELEASE};
    uint64_t tick = tick_now();
    struct trace_sync first = {.kind = UPMU_TRACE_LOCK_ACQUIRE, .object_type = UPMU_OBJECT_MUTEX, .object = 1};
    ck_assert(upmu_trace_sync_(s, tick, &first));
    for (size_t i = 0; i < 3; i++) {
        struct trace_sync e = full_event(i, tick);
        e.kind = kinds_of_waits[i];
        const uint8_t *before = s->pos;
        ck_assert(stream_fast_wait(s, tick, &e));
        size_t bytes = (size_t)(s->pos - before);
        ck_assert_uint_le(bytes, STREAM_WAIT_BYTES);
        ck_assert(upmu_trace_sync_(s, tick, &e));
        ck_assert_uint_eq((size_t)(s->pos - before), 2 * bytes);
        ck_assert_mem_eq(before, before + bytes, bytes);
    }
    ck_assert_uint_eq(stream_packet_events(s), 7);
}
END_TEST

START_TEST(fields_are_alike_by_either_way)
{
    enum { BYTES = 3 * sizeof(uint64_t) };
    const uint64_t numbers[] = {1ull << 40, 3, 4, 1ull << 41};
    uint64_t tick = tick_now();
    struct trace_sync first = {.kind = UPMU_TRACE_LOCK_ACQUIRE, .object_type = UPMU_OBJECT_MUTEX, .object = 1};
    ck_assert(upmu_trace_sync_(s, tick, &first));
    const uint8_t *before = s->pos;
    uint8_t *p = stream_fast_short(s, tick, SCHEMA_ID_OMP_PARALLEL, BYTES);
    ck_assert_ptr_nonnull(p);
    p = stream_put_u32_pair(stream_put_u64(p, numbers[0]), (uint32_t)numbers[1], (uint32_t)numbers[2]);
    stream_fast_short_end(s, tick, stream_put_u64(p, numbers[3]), BYTES);
    size_t bytes = (size_t)(s->pos - before);
    ck_assert_uint_eq(bytes, CTF_SHORT_HEAD_BYTES + BYTES);
    ck_assert(upmu_trace_numbers_(s, tick, SCHEMA_ID_OMP_PARALLEL, numbers, NULL));
    ck_assert_uint_eq((size_t)(s->pos - before), 2 * bytes);
    ck_assert_mem_eq(before, before + bytes, bytes);
    ck_assert_uint_eq(stream_packet_events(s), 3);
    s->busy = 1; /* as a signal handler finds it */
    ck_assert_ptr_null(stream_fast_short(s, tick, SCHEMA_ID_OMP_PARALLEL, BYTES));
    ck_assert(!stream_fast_numbers(s, tick, STREAM_COMPACT_FIRST(SCHEMA_ID_OMP, 0), 0));
    s->busy = 0;
    ck_assert(!stream_fast_numbers(s, tick - 1, STREAM_COMPACT_FIRST(SCHEMA_ID_OMP, 0), 0));
    ck_assert_uint_eq(s->busy, 0);
    ck_assert_uint_eq(stream_packet_events(s), 3);
}
END_TEST

START_TEST(waits_by_the_fast_way_go_on_over_packets)
{
    uint64_t tick = tick_now(), n = 4 * page / STREAM_WAIT_BYTES;
    struct trace_sync e = {.kind = UPMU_TRACE_LOCK_BLOCK, .object_type = UPMU_OBJECT_MUTEX};
    for (; e.object < n; e.object++)
        ck_assert(stream_fast_wait(s, tick + e.object, &e));
    struct upmu_trace *t = finished();
    for (uint64_t i = 0; i < n; i++) {
        const struct upmu_trace_event *read = must_read(t);
        ck_assert(read->object == i && read->tick == tick + i && read->kind == UPMU_TRACE_LOCK_BLOCK);
    }
    must_end(t);
    ck_assert_uint_eq(process_of(t, 0).events, n);
    upmu_trace_close(t);
}
END_TEST

static bool fast(uint64_t tick, uint64_t object)
{
    return stream_fast_sync(s, tick, UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_MUTEX, object, 0);
}

START_TEST(the_fast_way_goes_on_over_packets_pauses_and_ticks_that_go_back)
{
    uint64_t tick = tick_now(), n = 4 * page / STREAM_COMPACT_BYTES;
    for (uint64_t i = 0; i < n; i++)
        ck_assert(fast(tick + i, i));
    ck_assert(fast(tick, n));                                         /* back: raised to the one before */
    ck_assert(fast(tick + n + CTF_TICK_MASK, n + 1));                 /* forward by more than the short head holds */
    ck_assert(fast(tick + n + CTF_TICK_MASK + CTF_TICK_MASK, n + 2)); /* and by just as much as it holds */
    ck_assert_uint_eq(trace_writer_control(w)->clamped, 1);
    struct upmu_trace *t = finished();
    for (uint64_t i = 0; i < n + 3; i++) {
        const struct upmu_trace_event *e = must_read(t);
        ck_assert_uint_eq(e->object, i);
        uint64_t wanted = i < n ? tick + i : i == n ? tick + n - 1 : tick + n + (i - n) * CTF_TICK_MASK;
        ck_assert_uint_eq(e->tick, wanted);
    }
    must_end(t);
    ck_assert_uint_eq(process_of(t, 0).events, n + 3);
    upmu_trace_close(t);
}
END_TEST

START_TEST(every_event_is_committed_when_the_fast_way_returns)
{
    for (uint64_t i = 0; i < 500; i++) {
        ck_assert(fast(tick_now(), i));
        if (i % 50 != 7)
            continue;
        struct upmu_trace *t = trace_of(recording);
        for (uint64_t k = 0; k <= i; k++)
            ck_assert_uint_eq(must_read(t)->object, k);
        must_end(t);
        upmu_trace_close(t);
    }
}
END_TEST

START_TEST(what_a_handler_left_during_the_fast_way_follows_its_event)
{
    struct trace_sync e = {.kind = UPMU_TRACE_LOCK_MISUSE, .object = 2};
    static const uint64_t frames[256] = {3};
    ck_assert(fast(tick_now(), 0));
    s->busy = 1; /* as a handler finds it */
    ck_assert(upmu_trace_sync_(s, tick_now(), &e));
    ck_assert(upmu_trace_stack_(s, tick_now(), 9, UPMU_STACK_LIBGCC, false, frames, 256));
    ck_assert(fast(tick_now(), 3));
    s->busy = 0;
    ck_assert(fast(tick_now(), 1));
    ck_assert_uint_eq(s->claimed, 0);
    struct upmu_trace *t = finished();
    for (uint64_t i = 0; i < 4; i++) /* the event in between is 1: what waited follows it */
        ck_assert_uint_eq(must_read(t)->object, i);
    must_end(t);
    struct upmu_trace_stack stack = {.size = sizeof stack};
    ck_assert_int_eq(upmu_trace_stack_find(t, 0, 9, &stack), 0);
    ck_assert_uint_eq(stack.n_frames, 256);
    upmu_trace_close(t);
}
END_TEST

START_TEST(after_the_end_nothing_is_recorded_by_either_way)
{
    ck_assert(fast(tick_now(), 0));
    trace_writer_close(w);
    ck_assert(!fast(tick_now(), 1));
    struct trace_sync e = {.kind = UPMU_TRACE_LOCK_BLOCK};
    ck_assert(!upmu_trace_sync_(s, tick_now(), &e));
    struct upmu_trace *t = trace_of(recording);
    must_read(t);
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

/* --------------------------------------------------------------------------------------------- stacks, modules */

static uint64_t frame_of(uint32_t id, uint32_t i)
{
    return (uint64_t)id << 40 | i << 8 | 1;
}

static bool put_stack(uint32_t id, uint32_t n, bool truncated)
{
    uint64_t frames[300];
    for (uint32_t i = 0; i < n; i++)
        frames[i] = frame_of(id, i);
    return upmu_trace_stack_(s, tick_now(), id, 1 + id % 3, truncated, frames, n);
}

static void expect_stack(const struct upmu_trace *t, uint32_t id, uint32_t n, bool truncated)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    ck_assert_msg(upmu_trace_stack_find(t, 0, id, &stack) == 0, "%s", upmu_error());
    ck_assert_uint_eq(stack.n_frames, n);
    ck_assert_uint_eq(stack.method, 1 + id % 3);
    ck_assert_uint_eq(stack.truncated, truncated);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_uint_eq(stack.frames[i], frame_of(id, i));
}

START_TEST(stacks_are_found_by_their_ids)
{
    enum { STACKS = 3000 };
    struct trace_sync last = {.kind = UPMU_TRACE_LOCK_BLOCK, .stack = UINT32_MAX};
    for (uint32_t id = 1; id <= STACKS; id++)
        ck_assert(put_stack(id, id % 65, false));
    ck_assert(put_stack(UINT32_MAX, 2, true));
    ck_assert(put_stack(UINT32_MAX - 1, 300, false)); /* more than are kept */
    ck_assert(put_stack(1, 7, true));                 /* an id given twice: the first counts */
    ck_assert(upmu_trace_sync_(s, tick_now(), &last));
    struct upmu_trace *t = finished();
    struct upmu_trace_stack stack = {.size = sizeof stack};
    ck_assert_int_eq(upmu_trace_stack_find(t, 0, 1, &stack), UPMU_E_NAME);
    ck_assert_uint_eq(must_read(t)->stack, UINT32_MAX);
    for (uint32_t id = 1; id <= STACKS; id++)
        expect_stack(t, id, id % 65, false);
    expect_stack(t, UINT32_MAX, 2, true);
    expect_stack(t, UINT32_MAX - 1, 256, true);
    must_end(t);
    ck_assert_int_eq(upmu_trace_stack_find(t, 0, 0, &stack), UPMU_E_NAME);
    ck_assert_int_eq(upmu_trace_stack_find(t, 0, STACKS + 1, &stack), UPMU_E_NAME);
    ck_assert_int_eq(upmu_trace_stack_find(t, 1, 1, &stack), UPMU_E_END);
    ck_assert_int_eq(upmu_trace_stack_find(NULL, 0, 1, &stack), UPMU_E_INVAL);
    stack.size = sizeof stack - 1;
    ck_assert_int_eq(upmu_trace_stack_find(t, 0, 1, &stack), UPMU_E_INVAL);
    upmu_trace_close(t);
}
END_TEST

START_TEST(modules_come_in_their_order_with_their_texts)
{
    char path[5000];
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    ck_assert(upmu_trace_module_(s, tick_now(), 1, 0x2000, UINT64_MAX, "00ff", "/usr/lib/lib one.so"));
    ck_assert(upmu_trace_module_(s, tick_now(), 3, 4, 5, NULL, "/bin/x"));
    /* Longer than the packets of this trace: lost, and reported; the same path fits into the usual ones. */
    bool kept = page > STREAM_EVENT_MAX + sizeof(struct ctf_packet) + CTF_LONG_HEAD_BYTES;
    ck_assert(upmu_trace_module_(s, tick_now(), 6, 7, 8, "", path) == kept);
    ck_assert_uint_eq(trace_writer_lost(w), kept ? 0 : 1);
    ck_assert(fast(tick_now(), 1));
    struct upmu_trace *t = finished();
    must_read(t);
    must_end(t);
    struct upmu_trace_module m = {.size = sizeof m};
    ck_assert_int_eq(upmu_trace_module_at(t, 0, 0, &m), 0);
    ck_assert(m.base == 1 && m.start == 0x2000 && m.end == UINT64_MAX);
    ck_assert_str_eq(m.build_id, "00ff");
    ck_assert_str_eq(m.path, "/usr/lib/lib one.so");
    ck_assert_int_eq(upmu_trace_module_at(t, 0, 1, &m), 0);
    ck_assert(m.base == 3 && m.start == 4 && m.end == 5);
    ck_assert_str_eq(m.build_id, "");
    ck_assert_str_eq(m.path, "/bin/x");
    ck_assert_int_eq(upmu_trace_module_at(t, 0, kept ? 3 : 2, &m), UPMU_E_END);
    ck_assert_int_eq(upmu_trace_module_at(t, 1, 0, &m), UPMU_E_END);
    m.size = 8;
    ck_assert_int_eq(upmu_trace_module_at(t, 0, 0, &m), UPMU_E_INVAL);
    upmu_trace_close(t);
}
END_TEST

/* Another thread has called into the second module before the one that records it did so. */
START_TEST(a_call_into_a_module_not_recorded_yet_is_not_of_the_unloaded_one)
{
    enum { STACK_ID = 9, OTHER = 78 };
    const uint64_t at = tick_now(), call = 0x1500, frames[] = {call}, second = call + ((uint64_t)1 << 56);
    const struct trace_sync none = {.kind = UPMU_TRACE_LOCK_ACQUIRED},
                            there = {.kind = UPMU_TRACE_LOCK_BLOCK, .site = call, .stack = STACK_ID};
    struct trace_stream *other = stream_of(w, OTHER);
    ck_assert(upmu_trace_module_(s, at + 10, 0x1000, 0x1000, 0x2000, "1", "first"));
    ck_assert(upmu_trace_module_gone_(s, at + 20, 0x1000, 0x1000, 0x2000));
    ck_assert(upmu_trace_sync_(s, at + 21, &none));
    ck_assert(upmu_trace_sync_(s, at + 35, &none));
    ck_assert(upmu_trace_module_(s, at + 50, 0x1000, 0x1000, 0x2000, "2", "second"));
    ck_assert(upmu_trace_sync_(s, at + 51, &there));
    ck_assert(upmu_trace_sync_(other, at + 1, &none));
    ck_assert(upmu_trace_stack_(other, at + 30, STACK_ID, 1, false, frames, 1));
    ck_assert(upmu_trace_sync_(other, at + 30, &there));
    trace_stream_release(other);
    struct upmu_trace *t = finished();
    struct upmu_trace_stack stack = {.size = sizeof stack};
    for (int i = 0; i < 5; i++) {
        const struct upmu_trace_event *e = must_read(t);
        if (e->kind == UPMU_TRACE_LOCK_BLOCK) {
            ck_assert_uint_eq(e->site, second);
            ck_assert_int_eq(upmu_trace_stack_find(t, 0, STACK_ID, &stack), 0);
            ck_assert_uint_eq(stack.frames[0], second);
        }
    }
    must_end(t);
    ck_assert_uint_eq(upmu_trace_module_count(t, 0), 2);
    upmu_trace_close(t);
}
END_TEST

START_TEST(a_path_of_any_legal_length_fits_into_the_usual_packets)
{
    char path[4096];
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    struct trace_writer *usual = writer_with(NULL, 0, 0);
    struct trace_stream *other = stream_of(usual, TID + 1);
    for (uint64_t i = 0; i < 20; i++)
        ck_assert(upmu_trace_module_(other, tick_now(), 0, i, i + 1, "ab", path));
    ck_assert_uint_eq(trace_writer_lost(usual), 0);
    trace_stream_release(other);
    trace_writer_close(usual);
    struct upmu_trace *t = trace_of(trace_writer_dir(usual));
    must_end(t);
    struct upmu_trace_module m = {.size = sizeof m};
    ck_assert_int_eq(upmu_trace_module_at(t, 0, 19, &m), 0);
    ck_assert_str_eq(m.path, path);
    upmu_trace_close(t);
}
END_TEST

/* ------------------------------------------------------------------------------------------------------- clock */

START_TEST(times_in_steps_are_the_same_to_the_nanosecond)
{
    static const struct clock_map maps[] = {
        {.hz = 2500000001, .offset_s = 1700000000, .offset = 2499999999},
        {.hz = 1000000000, .offset_s = 0, .offset = 0},
        {.hz = 3, .offset_s = -1, .offset = 2},
        {.hz = 24000000, .offset_s = -5000000000, .offset = 1},
        {.hz = UINT64_MAX, .offset_s = INT64_MAX, .offset = 7},
        {.hz = 1, .offset_s = INT64_MIN, .offset = 0},
    };
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) {
        struct clock_steps steps = {0};
        uint64_t x = 88172645463325252, tick = 0;
        for (int i = 0; i < 20000; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            tick = i % 97 == 0 ? x : tick + (x & ((UINT64_C(1) << (i % 40)) - 1)); /* steps of all sizes, and jumps */
            ck_assert_uint_eq(clock_steps_ns(&steps, &maps[k], tick), clock_map_ns(&maps[k], tick));
        }
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sync");
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, set_up, recording_tear_down);
    tcase_add_test(cases, every_kind_keeps_its_fields_and_no_other);
    tcase_add_test(cases, an_unknown_holder_time_stays_unknown_and_a_long_name_is_cut);
    tcase_add_test(cases, a_kind_that_is_none_is_lost_and_counted);
    tcase_add_test(cases, switches_are_ordered_by_time_among_events);
    tcase_add_test(cases, counts_of_waits_for_futexes_come_back_as_they_were);
    tcase_add_test(cases, frequent_events_take_16_bytes_by_either_way);
    tcase_add_test(cases, events_of_waits_are_alike_by_either_way);
    tcase_add_test(cases, fields_are_alike_by_either_way);
    tcase_add_test(cases, waits_by_the_fast_way_go_on_over_packets);
    tcase_add_test(cases, the_fast_way_goes_on_over_packets_pauses_and_ticks_that_go_back);
    tcase_add_test(cases, every_event_is_committed_when_the_fast_way_returns);
    tcase_add_test(cases, what_a_handler_left_during_the_fast_way_follows_its_event);
    tcase_add_test(cases, after_the_end_nothing_is_recorded_by_either_way);
    tcase_add_test(cases, stacks_are_found_by_their_ids);
    tcase_add_test(cases, modules_come_in_their_order_with_their_texts);
    tcase_add_test(cases, a_call_into_a_module_not_recorded_yet_is_not_of_the_unloaded_one);
    tcase_add_test(cases, a_path_of_any_legal_length_fits_into_the_usual_packets);
    tcase_add_test(cases, times_in_steps_are_the_same_to_the_nanosecond);
    return run_suite("trace sync", cases);
}
