/* SPDX-License-Identifier: MIT */
/* Findings about deadlocks. */
#include "findings/findings_list.h"

enum { THREADS_NAMED = 4 };

static const char *stuck_reason(int kind)
{
    static const char *const reasons[] = {
        [UPMU_DEADLOCK_CYCLE] = "threads wait for each other",
        [UPMU_DEADLOCK_SELF] = "a thread waits for a lock that it holds",
        [UPMU_DEADLOCK_OWNER_ENDED] = "the holder of the lock has ended",
        [UPMU_DEADLOCK_JOIN_CYCLE] = "threads wait for each other to end",
        [UPMU_DEADLOCK_JOIN_SELF] = "a thread waits for its own end",
        [UPMU_DEADLOCK_NO_POST] = "no thread is left to post the semaphore",
        [UPMU_DEADLOCK_NO_SIGNAL] = "no thread is left to signal the condition variable",
        [UPMU_DEADLOCK_BARRIER_SHORT] = "no thread is left to arrive at the barrier",
        [UPMU_DEADLOCK_NO_WAKE] = "no thread is left to wake the futex",
        [UPMU_DEADLOCK_ALL_ASLEEP] = "all threads are asleep, and no known event could wake one",
        [UPMU_DEADLOCK_CROSS_PROCESS] = "threads of several processes wait for each other",
    };
    return kind >= 0 && (size_t)kind < sizeof reasons / sizeof *reasons ? reasons[kind] : "threads cannot continue";
}

static void stuck_write_thread(struct textbuf *b, const struct upmu_findings *f, uint32_t process,
                               const struct upmu_deadlock_thread *t)
{
    struct upmu_overview_object o = {.size = sizeof o};
    sentence_thread(b, t->tid, t->name);
    textbuf_printf(b, " waits for ");
    if (t->wait_kind == UPMU_WAIT_JOIN && t->holder) {
        textbuf_printf(b, "the end of ");
        sentence_thread(b, t->holder, upmu_overview_thread_name(f->overview, process, t->holder));
    } else if (upmu_overview_object_find(f->overview, process, t->object_type, t->object, &o) == 0)
        sentence_object(b, &o);
    else
        textbuf_printf(b, "`0x%llx`", (unsigned long long)t->object);
    sentence_site(b, f->overview, process, t->site, t->stack);
}

static int stuck_add(struct upmu_findings *f, uint32_t index, const struct upmu_deadlock *d)
{
    const struct upmu_overview_path none = {0};
    struct upmu_deadlock_thread t = {.size = sizeof t};
    struct textbuf b = {0};
    struct upmu_finding found = finding_of(&none, d->process, UPMU_FINDING_DEADLOCK);
    found.deadlock = index;
    textbuf_printf(&b, "%s: %s: ", d->certainty == UPMU_DEADLOCK_CERTAIN ? "Deadlock" : "Stalled",
                   stuck_reason(d->kind));
    for (size_t k = 0; k < d->n_threads && upmu_deadlocks_thread_at(f->deadlocks, index, k, &t) == 0; k++) {
        if (k == THREADS_NAMED) {
            textbuf_printf(&b, "; and %zu more", d->n_threads - k);
            break;
        }
        if (k == 0) {
            found.site = t.site;
            found.stack = t.stack;
            found.begin_ns = t.since_ns;
            found.end_ns = t.since_ns;
        }
        textbuf_printf(&b, "%s", k > 0 ? "; " : "");
        stuck_write_thread(&b, f, d->process, &t);
    }
    return findings_add(f, found, &b);
}

/* When the last of its threads began to wait. */
static uint64_t stuck_since(const struct upmu_findings *f, uint32_t index, const struct upmu_deadlock *d)
{
    struct upmu_deadlock_thread t = {.size = sizeof t};
    uint64_t since_ns = 0;
    for (size_t k = 0; k < d->n_threads && upmu_deadlocks_thread_at(f->deadlocks, index, k, &t) == 0; k++)
        since_ns = t.since_ns > since_ns ? t.since_ns : since_ns;
    return since_ns;
}

int findings_in_deadlocks(struct upmu_findings *f)
{
    struct upmu_deadlock d = {.size = sizeof d};
    struct upmu_overview_totals t = {.size = sizeof t};
    int rc = 0;
    if (!f->deadlocks)
        return 0;
    rc = upmu_overview_totals_read(f->overview, &t);
    for (uint32_t i = 0; rc == 0 && upmu_deadlocks_at(f->deadlocks, i, &d) == 0; i++)
        if (d.certainty <= UPMU_DEADLOCK_STALLED && !d.suppressed &&
            (t.to_ns >= t.end_ns || stuck_since(f, i, &d) <= t.to_ns))
            rc = stuck_add(f, i, &d);
    return rc;
}
