/* SPDX-License-Identifier: MIT */
/* Functions that lock holders executed while other threads waited: waits of the timeline joined with samples. */
#include "samples/holders.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ui/memory.h"
#include "ui/output.h"
#include "samples/samples.h"
#include "upmu/samples.h"
#include "upmu/timeline.h"

enum { WAITS_MAX = 1000000, NAMED = 3, PERCENT = 100 };

/** Time in which a thread held a lock that others waited for. */
struct held_interval {
    uint32_t process, generation; /**< of the lock */
    uint64_t address;
    pid_t pid, tid; /**< of the holder */
    uint64_t begin_ns, end_ns;
};

/** A sample of a thread. */
struct thread_sample {
    pid_t pid, tid;
    uint64_t ns; /**< time of the sample */
    uint32_t function;
};

struct samples_holders {
    struct samples_report report;
    struct held_interval *intervals; /**< by object, holder and time; those of one holder do not overlap */
    size_t n_intervals;
    struct thread_sample *samples; /**< by thread and time */
    size_t n_samples;
};

static int holders_by_thread(pid_t pid, pid_t tid, pid_t other_pid, pid_t other_tid)
{
    if (pid != other_pid)
        return pid < other_pid ? -1 : 1;
    return tid < other_tid ? -1 : tid > other_tid;
}

static int holders_by_lock(const struct held_interval *x, const struct held_interval *y)
{
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->generation < y->generation ? -1 : x->generation > y->generation;
}

static int holders_compare_intervals(const void *a, const void *b)
{
    const struct held_interval *x = a, *y = b;
    int by_lock = holders_by_lock(x, y);
    if (by_lock)
        return by_lock;
    int by_thread = holders_by_thread(x->pid, x->tid, y->pid, y->tid);
    return by_thread ? by_thread : x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static int holders_compare_samples(const void *a, const void *b)
{
    const struct thread_sample *x = a, *y = b;
    int by_thread = holders_by_thread(x->pid, x->tid, y->pid, y->tid);
    return by_thread ? by_thread : x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Several threads may wait at once: their time counts once. */
static void holders_merge(struct samples_holders *h)
{
    size_t n = 0;
    if (h->n_intervals == 0)
        return;
    qsort(h->intervals, h->n_intervals, sizeof *h->intervals, holders_compare_intervals);
    for (size_t i = 1; i < h->n_intervals; i++) {
        struct held_interval *last = &h->intervals[n], *s = &h->intervals[i];
        bool same = holders_by_lock(last, s) == 0 && holders_by_thread(last->pid, last->tid, s->pid, s->tid) == 0;
        if (!same || s->begin_ns > last->end_ns)
            h->intervals[++n] = *s;
        else if (s->end_ns > last->end_ns)
            last->end_ns = s->end_ns;
    }
    h->n_intervals = n + 1;
}

static bool holders_read_waits(struct samples_holders *h, const struct report_request *q)
{
    const struct upmu_timeline_opts opts = {
        .size = sizeof opts, .kinds = 1U << UPMU_ROW_WAIT, .rows = WAITS_MAX, .from_ns = q->from_ns, .to_ns = q->to_ns};
    struct upmu_timeline_row row = {.size = sizeof row};
    struct upmu_overview_thread holder = {.size = sizeof holder};
    struct upmu_overview_object lock = {.size = sizeof lock};
    struct upmu_timeline *waits = NULL;
    if (upmu_timeline_open(&waits, q->dir, &opts) < 0)
        return false;
    h->intervals = memory_array(upmu_timeline_row_count(waits) + 1, sizeof *h->intervals);
    for (size_t i = 0; upmu_timeline_row_at(waits, i, &row) == 0; i++)
        if (row.object != UPMU_NO_INDEX && row.holder != UPMU_NO_INDEX &&
            upmu_overview_thread_at(upmu_timeline_overview(waits), row.holder, &holder) == 0 &&
            upmu_overview_object_at(upmu_timeline_overview(waits), row.object, &lock) == 0)
            h->intervals[h->n_intervals++] = (struct held_interval){
                lock.process, lock.generation, lock.address, holder.pid, holder.tid, row.begin_ns, row.end_ns};
    upmu_timeline_close(waits);
    holders_merge(h);
    return true;
}

static void holders_read_samples(struct samples_holders *h)
{
    struct upmu_sample s = {.size = sizeof s};
    struct upmu_sample_thread t = {.size = sizeof t};
    struct upmu_sample_path p = {.size = sizeof p};
    h->samples = memory_array(upmu_samples_count(h->report.samples) + 1, sizeof *h->samples);
    for (size_t i = 0; upmu_samples_at(h->report.samples, i, &s) == 0; i++)
        if (upmu_samples_thread_at(h->report.samples, s.thread, &t) == 0 &&
            upmu_samples_path_at(h->report.samples, s.path, &p) == 0 && p.function != UPMU_NO_INDEX)
            h->samples[h->n_samples++] = (struct thread_sample){t.pid, t.tid, s.time_ns, p.function};
    qsort(h->samples, h->n_samples, sizeof *h->samples, holders_compare_samples);
}

struct samples_holders *samples_holders_open(const struct report_request *q)
{
    const struct upmu_samples_opts opts = {
        .size = sizeof opts, .stacks = q->stacks, .from_ns = q->from_ns, .to_ns = q->to_ns};
    struct upmu_samples *samples = NULL;
    int rc = upmu_samples_open(&samples, q->dir, &opts);
    if (rc < 0) {
        if (rc != UPMU_E_STATE) /* none were recorded */
            complain("samples: %s", upmu_error());
        return NULL;
    }
    struct samples_holders *h = memory_array(1, sizeof *h);
    h->report.samples = samples;
    if (!holders_read_waits(h, q)) {
        complain("samples: %s", upmu_error());
        samples_holders_close(h);
        return NULL;
    }
    holders_read_samples(h);
    return h;
}

void samples_holders_close(struct samples_holders *h)
{
    if (!h)
        return;
    upmu_samples_close(h->report.samples);
    free(h->intervals);
    free(h->samples);
    free(h);
}

/* ------------------------------------------------------------------------------------------------------ one lock */

/* Index of the first sample of the interval's thread at or after its begin. */
static size_t holders_find(const struct samples_holders *h, const struct held_interval *s)
{
    const struct thread_sample wanted = {s->pid, s->tid, s->begin_ns, 0};
    size_t low = 0, high = h->n_samples;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (holders_compare_samples(&h->samples[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Add the samples of an interval to the counts of their functions. @return their number. */
static uint64_t holders_count(const struct samples_holders *h, const struct held_interval *s, uint64_t *by_function)
{
    uint64_t n = 0;
    for (size_t i = holders_find(h, s); i < h->n_samples; i++, n++) {
        const struct thread_sample *m = &h->samples[i];
        if (holders_by_thread(m->pid, m->tid, s->pid, s->tid) != 0 || m->ns > s->end_ns)
            break;
        by_function[m->function]++;
    }
    return n;
}

/* Text of the NAMED functions with most samples of `all`, whose counts it clears: to be freed. */
static char *holders_most(const struct samples_holders *h, uint64_t *by_function, size_t n_functions, uint64_t all)
{
    char *text = memory_copy("");
    for (int k = 0; k < NAMED; k++) {
        size_t best = 0;
        for (size_t i = 1; i < n_functions; i++)
            best = by_function[i] > by_function[best] ? i : best;
        if (by_function[best] * PERCENT < all)
            break;
        char *name = samples_function_text(&h->report, (uint32_t)best);
        char *longer = memory_format("%s%s%s %.0f %%", text, k > 0 ? ", " : "", name,
                                     (double)by_function[best] * PERCENT / (double)all);
        free(name);
        free(text);
        text = longer;
        by_function[best] = 0;
    }
    char *whole = memory_format("%s (%" PRIu64 " sample%s)", text, all, all == 1 ? "" : "s");
    free(text);
    return whole;
}

char *samples_holders_text(const struct samples_holders *h, const struct upmu_overview_object *object)
{
    const struct held_interval wanted = {
        .process = object->process, .generation = object->generation, .address = object->address};
    size_t n_functions = h ? upmu_samples_function_count(h->report.samples) : 0;
    uint64_t all = 0;
    if (n_functions == 0)
        return NULL;
    uint64_t *by_function = memory_array(n_functions, sizeof *by_function);
    for (size_t i = 0; i < h->n_intervals; i++)
        if (holders_by_lock(&h->intervals[i], &wanted) == 0)
            all += holders_count(h, &h->intervals[i], by_function);
    char *text = all ? holders_most(h, by_function, n_functions, all) : NULL;
    free(by_function);
    return text;
}
