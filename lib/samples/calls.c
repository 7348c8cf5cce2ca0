/* SPDX-License-Identifier: MIT */
/*
 * Calls that uprobes timed: each entry with its exit.
 *
 * They are matched by the address of the return address, which no two active calls of a stack share. A call that ended otherwise
 * (longjmp, exception) is found when a later one has a return address above its own, in the same stack.
 */
#include <stdlib.h>

#include "samples/records.h"

enum { OPEN_MAX = 65536, SAME_STACK = 8 << 20 /* bytes; coroutines and signal handlers have other stacks */ };

struct timed_call {
    uint64_t stack, time;
    uint64_t nested; /* ns of calls within, with their probes */
    uint64_t jumped; /* time of a jump by which it may have ended; 0: none */
    uint64_t jumped_nested;
    size_t entry; /* in the index */
};

struct timed_thread {
    struct timed_call *open;
    size_t n, cap;
};

struct timed_calls {
    struct upmu_samples *s;
    struct record_file *f;
    struct map by_tid;
    struct timed_thread *threads;
    size_t n, cap;
};

/* A timed sample. */
struct timed_sample {
    uint32_t tid;
    bool is_exit, jumps;
    uint64_t stack;
};

static bool calls_take_sample(const struct upmu_samples *s, struct record_cursor *c, struct timed_sample *out)
{
    uint64_t type = s->header.sample_type;
    (void)take_u64(c); /* ip */
    (void)take_u32_pair(c, &out->tid);
    (void)take_bytes(c, type & PERF_SAMPLE_PERIOD ? 24 : 16); /* time, CPU */
    uint64_t n = type & PERF_SAMPLE_CALLCHAIN ? take_u64(c) : 0;
    (void)take_bytes(c, n <= c->left / sizeof n ? (size_t)n * sizeof n : SIZE_MAX);
    out->is_exit = take_u32(c) == sizeof(struct sampling_exit) + SAMPLING_RAW_PADDING;
    (void)take_bytes(c, offsetof(struct sampling_entry, stack));
    out->stack = take_u64(c);
    out->jumps = out->is_exit && take_u64(c) != out->stack;
    return !c->failed;
}

static struct timed_thread *calls_thread(struct timed_calls *t, uint32_t tid)
{
    uint32_t i = map_find(&t->by_tid, tid, 0);
    if (i != MAP_NONE)
        return &t->threads[i];
    struct timed_thread *all = array_reserve(t->threads, t->n, &t->cap, sizeof *all);
    if (all)
        t->threads = all;
    if (!all || !map_put(&t->by_tid, tid, 0, (uint32_t)t->n))
        return NULL;
    all[t->n] = (struct timed_thread){.open = NULL};
    return &all[t->n++];
}

/* ---------------------------------------------------------------------------------------------------- ends of calls */

static uint64_t calls_without(uint64_t ns, uint64_t part)
{
    return ns > part ? ns - part : 0;
}

static void calls_count(struct upmu_samples_totals *t, uint64_t ns)
{
    t->shortest_ns = t->returned == 0 || ns < t->shortest_ns ? ns : t->shortest_ns;
    t->longest_ns = ns > t->longest_ns ? ns : t->longest_ns;
    t->returned++;
}

static void calls_remove(struct timed_thread *thread, size_t i)
{
    thread->n--;
    memmove(&thread->open[i], &thread->open[i + 1], (thread->n - i) * sizeof *thread->open);
}

/* Call `i` of a thread ended at `time`, after `nested` ns of calls within. */
static void calls_end(struct timed_calls *t, struct timed_thread *thread, size_t i, uint64_t time, uint64_t nested)
{
    const struct sampling_header *h = &t->s->header;
    const struct timed_call *call = &thread->open[i];
    uint64_t spent = time - call->time;
    t->f->index[call->entry].weight = calls_without(spent, nested + h->call_inner_ns);
    calls_count(&t->s->totals, calls_without(spent, h->call_inner_ns));
    if (i > 0)
        thread->open[i - 1].nested += spent + h->call_outer_ns;
    calls_remove(thread, i);
}

/* Call `i` of a thread was left. */
static void calls_leave(struct timed_calls *t, struct timed_thread *thread, size_t i)
{
    const struct timed_call *call = &thread->open[i];
    if (call->jumped > 0) {
        calls_end(t, thread, i, call->jumped, call->jumped_nested);
        return;
    }
    if (i > 0)
        thread->open[i - 1].nested += call->nested;
    t->s->totals.not_returned++;
    calls_remove(thread, i);
}

static void calls_leave_all(struct timed_calls *t, struct timed_thread *thread)
{
    while (thread->n > 0)
        calls_leave(t, thread, thread->n - 1);
}

/* ---------------------------------------------------------------------------------------------------------- records */

static bool calls_enter(struct timed_calls *t, struct timed_thread *thread, uint64_t stack, size_t entry)
{
    while (thread->n > 0) {
        uint64_t above = stack - thread->open[thread->n - 1].stack; /* huge if it is below */
        if (above >= SAME_STACK && thread->n < OPEN_MAX)
            break;
        calls_leave(t, thread, thread->n - 1);
    }
    struct timed_call *all = array_reserve(thread->open, thread->n, &thread->cap, sizeof *all);
    if (!all)
        return false;
    thread->open = all;
    all[thread->n++] = (struct timed_call){.stack = stack, .time = t->f->index[entry].time, .entry = entry};
    return true;
}

/* An exit without a call is of one that began before the recording did, or a jump within a function. */
static void calls_exit(struct timed_calls *t, struct timed_thread *thread, const struct timed_sample *s, uint64_t time)
{
    size_t i = thread->n;
    while (i > 0 && thread->open[i - 1].stack != s->stack)
        i--;
    if (i-- == 0)
        return;
    if (s->jumps) {
        thread->open[i].jumped = time;
        thread->open[i].jumped_nested = thread->open[i].nested;
        return;
    }
    for (size_t k = thread->n; k-- > i + 1;)
        if (s->stack - thread->open[k].stack < SAME_STACK)
            calls_leave(t, thread, k);
    calls_end(t, thread, i, time, thread->open[i].nested);
}

/* The thread whose calls end with a record that is no sample; 0: none. */
static uint32_t calls_ended_thread(struct record_cursor *c, const struct perf_event_header *h)
{
    uint32_t tid = 0, parent;
    bool exits = h->type == PERF_RECORD_EXIT;
    if (exits)
        (void)take_u32_pair(c, &parent);
    if (exits)
        tid = take_u32(c);
    else if (h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC)
        (void)take_u32_pair(c, &tid);
    return c->failed ? 0 : tid;
}

static bool calls_take(struct timed_calls *t, size_t i)
{
    struct perf_event_header h;
    struct record_cursor c = record_open(t->f, t->f->index[i].offset, &h);
    struct timed_sample sample = {0};
    bool is_sample = h.type == PERF_RECORD_SAMPLE;
    uint32_t tid = 0;
    if (!is_sample)
        tid = calls_ended_thread(&c, &h);
    else if (calls_take_sample(t->s, &c, &sample)) /* or it is damaged, which is reported when it is read again */
        tid = sample.tid;
    if (tid == 0)
        return true;
    struct timed_thread *thread = calls_thread(t, tid);
    if (!thread)
        return false;
    if (!is_sample) {
        calls_leave_all(t, thread);
    } else if (sample.is_exit) {
        calls_exit(t, thread, &sample, t->f->index[i].time);
        t->f->index[i].weight = RECORD_IS_EXIT;
    } else {
        return calls_enter(t, thread, sample.stack, i);
    }
    return true;
}

bool samples_time_calls(struct upmu_samples *s, struct record_file *f)
{
    struct timed_calls t = {.s = s, .f = f};
    bool ok = true;
    for (size_t i = 0; ok && i < f->n; i++)
        ok = calls_take(&t, i);
    for (size_t i = 0; i < t.n; i++) {
        calls_leave_all(&t, &t.threads[i]);
        free(t.threads[i].open);
    }
    free(t.threads);
    map_free(&t.by_tid);
    return ok;
}
