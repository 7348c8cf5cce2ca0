/* SPDX-License-Identifier: MIT */
/* Findings about unequal work: threads that wait for the last one, at a barrier or for its end. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "findings/findings_list.h"

enum {
    LEAST_EXCESS_PERCENT = 10
}; /* of the work of the last one; CPU times of equal work differ by caches and other programs */

/* What a thread did itself: on a CPU, or in a call such as sleep() or read(). Other programs can keep it from that. */
struct work {
    uint64_t own_ns;
    uint64_t kept_ns; /* neither that nor a recorded wait: without a CPU, as far as known */
};

static struct work work_of(const struct upmu_findings *f, const struct upmu_overview_thread *t, size_t index)
{
    struct upmu_overview_sched s = {.size = sizeof s};
    struct upmu_overview_thread_wait w = {.size = sizeof w};
    uint64_t life = t->end_ns - t->begin_ns - t->stopped_ns, waited = t->blocked_ns < life ? t->blocked_ns : life,
             called = 0;
    struct work work = {0};
    for (int kind = UPMU_WAIT_SLEEP; upmu_overview_thread_wait_at(f->overview, index, kind, &w) == 0; kind++)
        called += w.waits.total_ns + w.waits.unfinished_ns;
    if (upmu_overview_sched_at(f->overview, index, &s) == 0 && s.recorded)
        work.kept_ns = s.preempted_ns;
    else if (t->cpu_ns != UPMU_NO_VALUE && t->cpu_ns < life - waited)
        work.kept_ns = life - waited - t->cpu_ns;
    /* A thread that polls uses the CPU while it waits. */
    if (work.kept_ns > life - waited)
        work.kept_ns = life - waited;
    work.own_ns = life - waited - work.kept_ns + (called < waited ? called : waited);
    return work;
}

/* By how much the last of `n` threads works more than their mean; 0 if that may be chance. */
static uint64_t work_excess(const struct work *last, uint64_t sum_ns, size_t n)
{
    uint64_t mean_ns = n > 0 ? sum_ns / n : 0, excess_ns = last->own_ns > mean_ns ? last->own_ns - mean_ns : 0;
    return excess_ns >= last->own_ns / 100 * LEAST_EXCESS_PERCENT ? excess_ns : 0;
}

/* How long the excess lasts: other programs slow it down as the rest of the work. */
static uint64_t work_lasts(const struct work *last, uint64_t excess_ns)
{
    double slower = last->own_ns ? (double)last->kept_ns / (double)last->own_ns : 0;
    return excess_ns + (uint64_t)((double)excess_ns * slower);
}

/* " works 400 ms, 263 ms more than the mean" */
static void work_write(struct textbuf *b, uint64_t ns, uint64_t excess_ns)
{
    textbuf_printf(b, " works ");
    sentence_duration(b, ns);
    textbuf_printf(b, ", ");
    sentence_duration(b, excess_ns);
    textbuf_printf(b, " more than the mean");
}

static void threads_write_gain(struct textbuf *b, const struct upmu_finding *found)
{
    textbuf_printf(b, "; with equal shares of the work the run would be ");
    sentence_gain(b, found);
    textbuf_printf(b, " shorter");
}

/* ---------------------------------------------------------------------------------------------------- barriers */

static uint32_t threads_index(const struct upmu_findings *f, uint32_t process, pid_t tid,
                              struct upmu_overview_thread *t)
{
    uint32_t i = findings_first_thread(f, process), end = findings_end_thread(f, process);
    for (; i < end && upmu_overview_thread_at(f->overview, i, t) == 0; i++)
        if (t->tid == tid)
            return i;
    return UPMU_NO_INDEX;
}

/* The threads of a barrier. */
struct party {
    size_t n;
    uint64_t own_ns, kept_ns, lasts;         /* sums */
    struct upmu_overview_object_thread last; /* arrived last in most rounds */
    uint32_t last_index;
    struct work last_work;
};

static struct party party_of(const struct upmu_findings *f, uint32_t process, uint32_t object)
{
    struct upmu_overview_object_thread t = {.size = sizeof t};
    struct upmu_overview_thread thread = {.size = sizeof thread};
    struct party p = {.last_index = UPMU_NO_INDEX};
    for (size_t k = 0; upmu_overview_object_thread_at(f->overview, object, k, &t) == 0; k++) {
        uint32_t index = threads_index(f, process, t.tid, &thread);
        p.lasts += t.last_arrivals;
        if (index == UPMU_NO_INDEX)
            continue;
        struct work work = work_of(f, &thread, index);
        p.n++;
        p.own_ns += work.own_ns;
        p.kept_ns += work.kept_ns;
        if (t.last_arrivals <= p.last.last_arrivals)
            continue;
        p.last = t;
        p.last_index = index;
        p.last_work = work;
    }
    return p;
}

static int barrier_add(struct upmu_findings *f, const struct upmu_overview_path *path, uint32_t index,
                       const struct upmu_overview_object *o)
{
    const struct party party = party_of(f, o->process, index);
    struct upmu_finding found = finding_of(path, o->process, UPMU_FINDING_IMBALANCE);
    struct textbuf b = {0};
    if (party.lasts < o->rounds)
        return 0; /* threads of other processes were last, and their work is not compared */
    /* The last one does not wait: the mean wait is by how much the last arrival is later than the mean one. Waits that began before the
     * recording are no acquisitions. Threads without a CPU delay the others at most as long as they lack it, unless the late one has more
     * work. */
    double arrivals = (double)o->waits.count + (double)o->rounds;
    uint64_t late_ns = (uint64_t)((double)o->waits.total_ns * (double)o->rounds / arrivals);
    uint64_t rounds = party.last.last_arrivals, excess_ns = 0;
    if (rounds * 2 > o->rounds)
        excess_ns = work_excess(&party.last_work, party.own_ns, party.n);
    found.gain_ns = late_ns > party.kept_ns ? late_ns - party.kept_ns : 0;
    uint64_t lasts_ns = work_lasts(&party.last_work, excess_ns);
    if (lasts_ns > found.gain_ns)
        found.gain_ns = lasts_ns < late_ns ? lasts_ns : late_ns;
    if (!finding_counts(f, path, found.gain_ns))
        return 0;
    found.object = index;
    found.begin_ns = o->longest.begin_ns;
    found.end_ns = o->longest.begin_ns + o->longest.ns;
    textbuf_printf(&b, "Threads wait ");
    sentence_duration(&b, o->waits.total_ns);
    textbuf_printf(&b, " in all at the barrier ");
    sentence_object(&b, o);
    textbuf_printf(&b, " for the last one to arrive");
    if (o->rounds >= 2 && rounds * 2 > o->rounds) {
        found.thread = party.last_index;
        textbuf_printf(&b, ", which is ");
        sentence_thread(&b, party.last.tid, party.last.thread_name);
        textbuf_printf(&b, " in %" PRIu64 " of %" PRIu64 " rounds", rounds, o->rounds);
        if (excess_ns > 0) {
            textbuf_printf(&b, "; it");
            work_write(&b, party.last_work.own_ns, excess_ns);
        }
    }
    threads_write_gain(&b, &found);
    return findings_add(f, found, &b);
}

int findings_in_barriers(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path)
{
    struct upmu_overview_object o = {.size = sizeof o};
    size_t n;
    const uint32_t *objects = findings_objects(f, process, &n);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n && upmu_overview_object_at(f->overview, objects[i], &o) == 0; i++)
        if (o.type == UPMU_OBJECT_BARRIER && o.rounds > 0)
            rc = barrier_add(f, path, objects[i], &o);
    return rc;
}

/* ------------------------------------------------------------------------------------------------------- joins */

/* Threads of one creator that ran at the same time. */
struct batch {
    size_t n;
    uint64_t first_end_ns, last_end_ns, sum_ns; /* `sum_ns`: of the ends, since `first_end_ns` */
    uint64_t own_ns;                            /* work of all */
    struct work last_work;
    uint32_t last; /* the one that ended last */
};

/* How long thread `thread` determines the run, running or asleep in a call that no thread ended, after `since_ns`. */
static uint64_t batch_path_ns(const struct upmu_findings *f, uint32_t process, uint32_t thread, uint64_t since_ns)
{
    struct upmu_overview_path_segment s = {.size = sizeof s};
    uint64_t sum = 0;
    for (size_t i = 0; upmu_overview_path_segment_at(f->overview, process, i, &s) == 0; i++)
        if (s.thread == thread && s.kind != UPMU_PATH_WAKEUP && s.kind != UPMU_PATH_STOPPED && s.end_ns > since_ns)
            sum += s.end_ns - (s.begin_ns > since_ns ? s.begin_ns : since_ns);
    return sum;
}

/* From one time to another, without the time in which recording was stopped. */
static uint64_t batch_recorded_ns(const struct upmu_findings *f, uint32_t process, uint64_t begin_ns, uint64_t end_ns)
{
    struct upmu_trace_pause pause = {.size = sizeof pause};
    uint64_t ns = end_ns - begin_ns;
    for (size_t i = 0; upmu_overview_pause_at(f->overview, process, i, &pause) == 0; i++) {
        uint64_t from = pause.begin_ns > begin_ns ? pause.begin_ns : begin_ns;
        uint64_t to = pause.end_ns < end_ns ? pause.end_ns : end_ns;
        ns -= from < to ? to - from : 0;
    }
    return ns;
}

static int batch_add(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path,
                     const struct batch *batch)
{
    struct upmu_overview_thread last = {.size = sizeof last};
    struct textbuf b = {0};
    struct upmu_finding found = finding_of(path, process, UPMU_FINDING_IMBALANCE);
    if (batch->n < 2 || upmu_overview_thread_at(f->overview, batch->last, &last) != 0)
        return 0;
    uint64_t mean_ns = batch->first_end_ns + batch->sum_ns / batch->n;
    uint64_t alone = batch_recorded_ns(f, process, mean_ns, batch->last_end_ns);
    uint64_t on_path = batch_path_ns(f, process, batch->last, mean_ns);
    uint64_t excess_ns = work_excess(&batch->last_work, batch->own_ns, batch->n);
    found.gain_ns = alone < on_path ? alone : on_path;
    uint64_t lasts_ns = work_lasts(&batch->last_work, excess_ns);
    if (lasts_ns < found.gain_ns)
        found.gain_ns = lasts_ns;
    if (!finding_counts(f, path, found.gain_ns))
        return 0;
    found.thread = batch->last;
    found.begin_ns = mean_ns;
    found.end_ns = batch->last_end_ns;
    textbuf_printf(&b, "Of %zu threads that were created together, ", batch->n);
    sentence_thread(&b, last.tid, last.name);
    work_write(&b, batch->last_work.own_ns, excess_ns);
    textbuf_printf(&b, ", and ends ");
    sentence_duration(&b, batch_recorded_ns(f, process, batch->first_end_ns, batch->last_end_ns));
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
    uint32_t i = findings_first_thread(f, process), end = findings_end_thread(f, process);
    struct upmu_overview_thread *all = calloc(end - i + 1, sizeof *all);
    *n = 0;
    for (; all && i < end && upmu_overview_thread_at(f->overview, i, &t) == 0; i++) {
        if (!t.started || !t.ended || t.creator == 0)
            continue;
        all[*n] = t;
        all[(*n)++].n_counts = i;
    }
    if (*n > 0)
        qsort(all, *n, sizeof *all, joins_compare);
    return all;
}

static void batch_join(const struct upmu_findings *f, struct batch *batch, const struct upmu_overview_thread *t)
{
    const struct work work = work_of(f, t, t->n_counts);
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
        batch->last_work = work;
    }
    batch->own_ns += work.own_ns;
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
        batch_join(f, &batch, &all[i]);
    }
    rc = rc == 0 ? batch_add(f, process, path, &batch) : rc;
    free(all);
    return rc;
}
