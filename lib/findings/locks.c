/* SPDX-License-Identifier: MIT */
/* Findings about locks: how long they are held, and how long it takes to pass them on. */
#include <inttypes.h>
#include <stdbool.h>

#include "findings/findings_list.h"

enum {
    LEAST_CALLS = 4, /* one in so many parts of a hold is worth to be reported */
    LEAST_WAITS = 3,
    WAKE_MAX_NS = 1000000, /* a mean wakeup that takes longer lacks a CPU, which other programs may have */
};

/* A lock on the critical path. */
struct path_lock {
    struct upmu_overview_path_object part;
    struct upmu_overview_object object;
    struct upmu_overview_call_site holder; /* the call site whose holds others waited for longest; `address` 0: none */
};

/* A semaphore that is waited for once or twice is a signal, such as the end of a thread. */
static bool locks_is_lock(const struct upmu_overview_object *o)
{
    int type = o->type;
    if (type == UPMU_OBJECT_SEM)
        return o->holds > 0 && o->waits.count >= LEAST_WAITS;
    return type == UPMU_OBJECT_MUTEX || type == UPMU_OBJECT_RWLOCK || type == UPMU_OBJECT_SPIN ||
           type == UPMU_OBJECT_CUSTOM || type == UPMU_OBJECT_QMUTEX || type == UPMU_OBJECT_QRWLOCK ||
           type == UPMU_OBJECT_ABSL_MUTEX;
}

static void locks_find_holder(const struct upmu_findings *f, struct path_lock *lock)
{
    struct upmu_overview_call_site site = {.size = sizeof site};
    lock->holder = (struct upmu_overview_call_site){0};
    for (size_t k = 0; upmu_overview_call_site_at(f->overview, lock->part.object, k, &site) == 0; k++)
        if (site.blocked_ns > lock->holder.blocked_ns)
            lock->holder = site;
    if (lock->holder.address == 0)
        lock->holder.address = lock->object.longest.holder_site;
}

static uint64_t locks_lifetime(const struct upmu_findings *f, uint32_t process)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    uint64_t sum = 0;
    uint32_t i = findings_first_thread(f, process), end = findings_end_thread(f, process);
    for (; i < end && upmu_overview_thread_at(f->overview, i, &t) == 0; i++)
        sum += t.end_ns - t.begin_ns - t.stopped_ns;
    return sum;
}

/* "held 3.1 ms at a time (at most 21 ms) in f() file.c:12". Where the holds that others waited for have no recorded begin, the
 * mean of the other holds would mislead. */
static void locks_write_holds(struct textbuf *b, const struct upmu_findings *f, const struct path_lock *lock)
{
    const struct upmu_overview_call_site *h = &lock->holder;
    textbuf_printf(b, "held");
    if (h->holds > 0 && (lock->object.holds_complete || lock->object.longest.holder_since > 0)) {
        textbuf_printf(b, " ");
        sentence_duration(b, h->hold_ns / h->holds);
        textbuf_printf(b, " at a time (at most ");
        sentence_duration(b, h->hold_max_ns);
        textbuf_printf(b, ")");
    }
    sentence_site(b, f->overview, lock->object.process, lock->holder.address, lock->holder.stack);
}

/* Calls that wait, as a part of the recorded holds. */
static double locks_call_share(const struct upmu_overview_object *o)
{
    return o->timed_holds_ns ? (double)o->call_ns / (double)o->timed_holds_ns : 0;
}

/* Mostly input and output: what sleeps or waits for a signal has another remedy. */
static bool locks_is_io(const struct upmu_overview_object *o)
{
    bool io = o->call_kind == UPMU_WAIT_READ || o->call_kind == UPMU_WAIT_WRITE || o->call_kind == UPMU_WAIT_POLL ||
              o->call_kind == UPMU_WAIT_CHILD;
    return io && o->timed_holds_ns > 0 && o->call_kind_ns >= o->timed_holds_ns / 2;
}

/* Without the calls: on the line through the gains of half as long and no time at all. */
static uint64_t locks_io_gain(const struct path_lock *lock)
{
    double share = locks_call_share(&lock->object), half = (double)lock->part.gain_half_ns;
    if (lock->part.gain_ns == UPMU_NO_VALUE || lock->part.gain_half_ns == UPMU_NO_VALUE)
        return UPMU_NO_VALUE;
    return (uint64_t)(half + ((double)lock->part.gain_ns - half) * (share < 1 ? 2 * share - 1 : 1));
}

/* ", 98 % of that time in write" */
static void locks_write_calls(struct textbuf *b, const struct upmu_overview_object *o)
{
    static const char *const calls[] = {"sleep", "poll",           "waits for signals",
                                        "read",  "write or fsync", "waits for child processes"};
    int call = o->call_kind - UPMU_WAIT_SLEEP;
    if (call < 0 || (size_t)call >= sizeof calls / sizeof *calls || locks_call_share(o) * LEAST_CALLS < 1)
        return;
    textbuf_printf(b, ", ");
    sentence_percent(b, o->call_kind_ns, o->timed_holds_ns);
    textbuf_printf(b, " of that time in %s", calls[call]);
}

static void locks_write_section(struct textbuf *b, const struct upmu_findings *f, const struct path_lock *lock,
                                const struct upmu_finding *found)
{
    const struct upmu_wait_sum *w = &lock->object.waits;
    textbuf_printf(b, "Threads spend ");
    sentence_percent(b, w->total_ns + w->unfinished_ns, locks_lifetime(f, lock->object.process));
    textbuf_printf(b, " of their time waiting for ");
    sentence_object(b, &lock->object);
    textbuf_printf(b, ", which is ");
    locks_write_holds(b, f, lock);
    locks_write_calls(b, &lock->object);
    textbuf_printf(b, found->kind == UPMU_FINDING_IO ? "; without that while it is held, the run would be "
                                                     : "; if it was held half as long, the run would be ");
    sentence_gain(b, found);
    textbuf_printf(b, " shorter");
}

static void locks_write_hand_over(struct textbuf *b, const struct upmu_findings *f, const struct path_lock *lock,
                                  const struct upmu_finding *found)
{
    textbuf_printf(b, "Passing ");
    sentence_object(b, &lock->object);
    textbuf_printf(b, " on to a waiting thread takes ");
    sentence_gain(b, found);
    textbuf_printf(b, " of the run, ");
    sentence_duration(b, lock->part.wake_ns / lock->part.wakes);
    textbuf_printf(b, " each of %" PRIu64 " times, while it is ", lock->part.wakes);
    locks_write_holds(b, f, lock);
    textbuf_printf(b, "; fewer and longer critical sections would save most of that");
}

/* No more than the waits: work that no thread waits for is not shorter without the lock. */
static uint64_t locks_gain(const struct path_lock *lock, bool io)
{
    const struct upmu_wait_sum *w = &lock->object.waits;
    uint64_t gain_ns = io ? locks_io_gain(lock) : lock->part.gain_half_ns, waited_ns = w->total_ns + w->unfinished_ns;
    return gain_ns != UPMU_NO_VALUE && gain_ns > waited_ns ? waited_ns : gain_ns;
}

/* @return 0 with the time of hand-overs added to `*handed_ns`, or an error. */
static int locks_add(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path,
                     const struct path_lock *lock, uint64_t *handed_ns)
{
    struct textbuf b = {0};
    bool hand_over = lock->part.wake_ns > lock->part.held_ns && lock->part.wake_ns / lock->part.wakes < WAKE_MAX_NS,
         io = !hand_over && locks_is_io(&lock->object);
    struct upmu_finding found = finding_of(path, process,
                                           hand_over ? UPMU_FINDING_HAND_OVER
                                           : io      ? UPMU_FINDING_IO
                                                     : UPMU_FINDING_SECTION);
    found.gain_ns = hand_over ? lock->part.wake_ns : locks_gain(lock, io);
    if (!finding_counts(f, path, found.gain_ns))
        return 0;
    *handed_ns += hand_over ? lock->part.wake_ns : 0;
    found.object = lock->part.object;
    found.site = lock->holder.address;
    found.stack = lock->holder.stack;
    if (lock->object.longest.ns > 0) {
        found.begin_ns = lock->object.longest.begin_ns;
        found.end_ns = found.begin_ns + lock->object.longest.ns;
    }
    (hand_over ? locks_write_hand_over : locks_write_section)(&b, f, lock, &found);
    return findings_add(f, found, &b);
}

/* Hand-overs that are of no one lock: posts, signals, and locks of which each has a small part. */
static int locks_add_hand_overs(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path,
                                uint64_t handed_ns)
{
    enum { LEAST_PERCENT = 20, LEAST = 10 };
    struct textbuf b = {0};
    struct upmu_finding found = finding_of(path, process, UPMU_FINDING_HAND_OVER);
    found.gain_ns = path->wake_ns - handed_ns;
    if (!finding_counts(f, path, found.gain_ns) || found.gain_ns / LEAST_PERCENT < found.run_ns / 100 ||
        path->handoffs < LEAST || found.gain_ns / path->handoffs >= WAKE_MAX_NS)
        return 0;
    textbuf_printf(&b,
                   "Threads pass the work on to each other %" PRIu64
                   " times on the critical path, and waking the next one "
                   "takes ",
                   path->handoffs);
    sentence_gain(&b, &found);
    textbuf_printf(&b, " of the run; more work for each hand-over would save most of that");
    return findings_add(f, found, &b);
}

int findings_in_locks(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path)
{
    struct path_lock lock = {.part.size = sizeof lock.part, .object.size = sizeof lock.object};
    uint64_t handed_ns = 0;
    int rc = 0;
    for (size_t k = 0; rc == 0 && upmu_overview_path_object_at(f->overview, process, k, &lock.part) == 0; k++) {
        if (upmu_overview_object_at(f->overview, lock.part.object, &lock.object) != 0 || !locks_is_lock(&lock.object) ||
            lock.part.held_ns == 0)
            continue;
        locks_find_holder(f, &lock);
        rc = locks_add(f, process, path, &lock, &handed_ns);
    }
    return rc == 0 ? locks_add_hand_overs(f, process, path, handed_ns) : rc;
}
