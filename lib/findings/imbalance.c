/* SPDX-License-Identifier: MIT */
/* Findings about unequal work: threads that wait for the last one, at a barrier or for its end. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "findings/findings_list.h"

static void threads_write_gain(struct textbuf *b, const struct upmu_finding *found)
{
    textbuf_printf(b, "; with equal shares of the work the run would be ");
    sentence_gain(b, found);
    textbuf_printf(b, " shorter");
}

/* ---------------------------------------------------------------------------------------------------- barriers */

/* Find the thread that arrived last in most rounds of a barrier. @param last out, unchanged if there is none. @return its rounds
 * as the last. */
static uint64_t barrier_last_thread(const struct upmu_findings *f, uint32_t object,
                                    struct upmu_overview_object_thread *last)
{
    struct upmu_overview_object_thread t = {.size = sizeof t};
    uint64_t most = 0;
    for (size_t k = 0; upmu_overview_object_thread_at(f->overview, object, k, &t) == 0; k++) {
        if (t.last_arrivals <= most)
            continue;
        most = t.last_arrivals;
        *last = t;
    }
    return most;
}

static uint32_t threads_index(const struct upmu_findings *f, uint32_t process, pid_t tid)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    for (uint32_t i = 0; upmu_overview_thread_at(f->overview, i, &t) == 0; i++)
        if (t.process == process && t.tid == tid)
            return i;
    return UPMU_NO_INDEX;
}

static int barrier_add(struct upmu_findings *f, const struct upmu_overview_path *path, uint32_t index,
                       const struct upmu_overview_object *o)
{
    struct upmu_overview_object_thread last = {.size = sizeof last};
    struct upmu_finding found = finding_of(path, o->process, UPMU_FINDING_IMBALANCE);
    struct textbuf b = {0};
    /* The last one does not wait: the mean wait is by how much the last arrival is later than the mean one. */
    found.gain_ns = (uint64_t)((double)o->waits.total_ns * (double)o->rounds / (double)o->acquisitions);
    if (!finding_counts(f, path, found.gain_ns))
        return 0;
    uint64_t rounds = barrier_last_thread(f, index, &last);
    found.object = index;
    found.begin_ns = o->longest.begin_ns;
    found.end_ns = o->longest.begin_ns + o->longest.ns;
    textbuf_printf(&b, "Threads wait ");
    sentence_duration(&b, o->waits.total_ns);
    textbuf_printf(&b, " in all at the barrier ");
    sentence_object(&b, o);
    textbuf_printf(&b, " for the last one to arrive");
    if (o->rounds >= 2 && rounds * 2 > o->rounds) {
        found.thread = threads_index(f, o->process, last.tid);
        textbuf_printf(&b, ", which is ");
        sentence_thread(&b, last.tid, last.thread_name);
        textbuf_printf(&b, " in %" PRIu64 " of %" PRIu64 " rounds", rounds, o->rounds);
    }
    threads_write_gain(&b, &found);
    return findings_add(f, found, &b);
}

int findings_in_barriers(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path)
{
    struct upmu_overview_object o = {.size = sizeof o};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && upmu_overview_object_at(f->overview, i, &o) == 0; i++)
        if (o.process == process && o.type == UPMU_OBJECT_BARRIER && o.rounds > 0 && o.acquisitions > 0)
            rc = barrier_add(f, path, i, &o);
    return rc;
}

/* ------------------------------------------------------------------------------------------------------- joins */

/* Threads of one creator that ran at the same time. */
struct batch {
    size_t n;
    uint64_t first_end_ns, last_end_ns, sum_ns; /* `sum_ns`: of the ends, since `first_end_ns` */
    uint32_t last;                              /* the one that ended last */
};

/* How long thread `thread` determines the run, running or asleep in a call that no thread ended, after `since_ns`. */
static uint64_t batch_path_ns(const struct upmu_findings *f, uint32_t process, uint32_t thread, uint64_t since_ns)
{
    struct upmu_overview_path_segment s = {.size = sizeof s};
    uint64_t sum = 0;
    for (size_t i = 0; upmu_overview_path_segment_at(f->overview, process, i, &s) == 0; i++)
        if (s.thread == thread && s.kind != UPMU_PATH_WAKEUP && s.end_ns > since_ns)
            sum += s.end_ns - (s.begin_ns > since_ns ? s.begin_ns : since_ns);
    return sum;
}

/* Whether the thread was ready for longer than it ran: it is late for want of a CPU. */
static bool batch_lacks_cpu(const struct upmu_findings *f, uint32_t thread)
{
    struct upmu_overview_sched s = {.size = sizeof s};
    return upmu_overview_sched_at(f->overview, thread, &s) == 0 && s.recorded && s.preempted_ns > s.running_ns;
}

static int batch_add(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path,
                     const struct batch *batch)
{
    struct upmu_overview_thread last = {.size = sizeof last};
    struct textbuf b = {0};
    struct upmu_finding found = finding_of(path, process, UPMU_FINDING_IMBALANCE);
    if (batch->n < 2 || upmu_overview_thread_at(f->overview, batch->last, &last) != 0 ||
        batch_lacks_cpu(f, batch->last))
        return 0;
    uint64_t mean_ns = batch->first_end_ns + batch->sum_ns / batch->n, alone = batch->last_end_ns - mean_ns;
    uint64_t on_path = batch_path_ns(f, process, batch->last, mean_ns);
    found.gain_ns = alone < on_path ? alone : on_path;
    if (!finding_counts(f, path, found.gain_ns))
        return 0;
    found.thread = batch->last;
    found.begin_ns = mean_ns;
    found.end_ns = batch->last_end_ns;
    textbuf_printf(&b, "Of %zu threads that were created together, ", batch->n);
    sentence_thread(&b, last.tid, last.name);
    textbuf_printf(&b, " ends ");
    sentence_duration(&b, batch->last_end_ns - batch->first_end_ns);
    textbuf_printf(&b, " after the first one");
    threads_write_gain(&b, &found);
    return findings_add(f, found, &b);
}

static int joins_compare(const void *a, const void *b)
{
    const struct upmu_overview_thread *x = a, *y = b;
    if (x->creator != y->creator)
        return x->creator < y->creator ? -1 : 1;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Threads of a process whose begin, end and creator are recorded; `n_counts` is replaced by their index. */
static struct upmu_overview_thread *joins_threads(const struct upmu_findings *f, uint32_t process, size_t *n)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    struct upmu_overview_thread *all = calloc(upmu_overview_thread_count(f->overview) + 1, sizeof *all);
    *n = 0;
    for (size_t i = 0; all && upmu_overview_thread_at(f->overview, i, &t) == 0; i++) {
        if (t.process != process || !t.started || !t.ended || t.creator == 0)
            continue;
        all[*n] = t;
        all[(*n)++].n_counts = i;
    }
    if (*n > 0)
        qsort(all, *n, sizeof *all, joins_compare);
    return all;
}

static void batch_join(struct batch *batch, const struct upmu_overview_thread *t)
{
    if (batch->n == 0)
        *batch = (struct batch){.first_end_ns = t->end_ns};
    if (t->end_ns < batch->first_end_ns) {
        batch->sum_ns += batch->n * (batch->first_end_ns - t->end_ns);
        batch->first_end_ns = t->end_ns;
    }
    batch->sum_ns += t->end_ns - batch->first_end_ns;
    if (t->end_ns >= batch->last_end_ns) {
        batch->last_end_ns = t->end_ns;
        batch->last = (uint32_t)t->n_counts;
    }
    batch->n++;
}

int findings_in_joins(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path)
{
    size_t n;
    struct batch batch = {0};
    struct upmu_overview_thread *all = joins_threads(f, process, &n);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool same = i > 0 && all[i].creator == all[i - 1].creator && all[i].begin_ns < batch.first_end_ns;
        if (!same) {
            rc = batch_add(f, process, path, &batch);
            batch = (struct batch){0};
        }
        batch_join(&batch, &all[i]);
    }
    rc = rc == 0 ? batch_add(f, process, path, &batch) : rc;
    free(all);
    return rc;
}
