/* SPDX-License-Identifier: MIT */
/* What holders of locks executed while others waited for them: waits of the timeline joined with samples. */
#include "samples/holders.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ui/memory.h"
#include "ui/output.h"
#include "samples/samples.h"
#include "upmu/samples.h"
#include "upmu/timeline.h"

enum { WAITS_MAX = 1000000, NAMED = 3, PERCENT = 100 };

/** A stretch of time in which a thread held a lock that others waited for. */
struct stretch {
    uint32_t object;
    pid_t pid, tid; /**< of the holder */
    uint64_t begin_ns, end_ns;
};

/** A sample by its thread. */
struct moment {
    pid_t pid, tid;
    uint64_t ns;
    uint32_t function;
};

struct samples_holders {
    struct samples_report samples;
    struct stretch *stretches; /**< by object, holder and time; those of one holder do not overlap */
    size_t n_stretches;
    struct moment *moments; /**< by thread and time */
    size_t n_moments;
};

static int holders_by_thread(pid_t pid, pid_t tid, pid_t other_pid, pid_t other_tid)
{
    if (pid != other_pid)
        return pid < other_pid ? -1 : 1;
    return tid < other_tid ? -1 : tid > other_tid;
}

static int holders_compare_stretches(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    int by_thread = holders_by_thread(x->pid, x->tid, y->pid, y->tid);
    return by_thread ? by_thread : x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static int holders_compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    int by_thread = holders_by_thread(x->pid, x->tid, y->pid, y->tid);
    return by_thread ? by_thread : x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Several threads may wait at once: their time counts once. */
static void holders_merge(struct samples_holders *h)
{
    size_t n = 0;
    if (h->n_stretches == 0)
        return;
    qsort(h->stretches, h->n_stretches, sizeof *h->stretches, holders_compare_stretches);
    for (size_t i = 1; i < h->n_stretches; i++) {
        struct stretch *last = &h->stretches[n], *s = &h->stretches[i];
        bool same = last->object == s->object && holders_by_thread(last->pid, last->tid, s->pid, s->tid) == 0;
        if (!same || s->begin_ns > last->end_ns)
            h->stretches[++n] = *s;
        else if (s->end_ns > last->end_ns)
            last->end_ns = s->end_ns;
    }
    h->n_stretches = n + 1;
}

static bool holders_read_waits(struct samples_holders *h, const char *dir)
{
    const struct upmu_timeline_opts opts = {.size = sizeof opts, .kinds = 1U << UPMU_ROW_WAIT, .rows = WAITS_MAX};
    struct upmu_timeline_row row = {.size = sizeof row};
    struct upmu_overview_thread holder = {.size = sizeof holder};
    struct upmu_timeline *waits = NULL;
    if (upmu_timeline_open(&waits, dir, &opts) < 0)
        return false;
    h->stretches = memory_array(upmu_timeline_row_count(waits) + 1, sizeof *h->stretches);
    for (size_t i = 0; upmu_timeline_row_at(waits, i, &row) == 0; i++)
        if (row.object != UPMU_NO_INDEX && row.holder != UPMU_NO_INDEX &&
            upmu_overview_thread_at(upmu_timeline_overview(waits), row.holder, &holder) == 0)
            h->stretches[h->n_stretches++] =
                (struct stretch){row.object, holder.pid, holder.tid, row.begin_ns, row.end_ns};
    upmu_timeline_close(waits);
    holders_merge(h);
    return true;
}

static void holders_read_samples(struct samples_holders *h)
{
    struct upmu_sample s = {.size = sizeof s};
    struct upmu_sample_thread t = {.size = sizeof t};
    struct upmu_sample_path p = {.size = sizeof p};
    h->moments = memory_array(upmu_samples_count(h->samples.samples) + 1, sizeof *h->moments);
    for (size_t i = 0; upmu_samples_at(h->samples.samples, i, &s) == 0; i++)
        if (upmu_samples_thread_at(h->samples.samples, s.thread, &t) == 0 &&
            upmu_samples_path_at(h->samples.samples, s.path, &p) == 0 && p.function != UPMU_NO_INDEX)
            h->moments[h->n_moments++] = (struct moment){t.pid, t.tid, s.time_ns, p.function};
    qsort(h->moments, h->n_moments, sizeof *h->moments, holders_compare_moments);
}

struct samples_holders *samples_holders_open(const char *dir, int32_t stacks)
{
    const struct upmu_samples_opts opts = {.size = sizeof opts, .stacks = stacks};
    struct upmu_samples *samples = NULL;
    int rc = upmu_samples_open(&samples, dir, &opts);
    if (rc < 0) {
        if (rc != UPMU_E_STATE) /* none were recorded */
            complain("samples: %s", upmu_error());
        return NULL;
    }
    struct samples_holders *h = memory_array(1, sizeof *h);
    h->samples.samples = samples;
    if (!holders_read_waits(h, dir)) {
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
    upmu_samples_close(h->samples.samples);
    free(h->stretches);
    free(h->moments);
    free(h);
}

/* ------------------------------------------------------------------------------------------------------ one lock */

/* The first sample of a thread at or after a moment. */
static size_t holders_find(const struct samples_holders *h, const struct stretch *s)
{
    const struct moment wanted = {s->pid, s->tid, s->begin_ns, 0};
    size_t low = 0, high = h->n_moments;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (holders_compare_moments(&h->moments[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t holders_count(const struct samples_holders *h, const struct stretch *s, uint64_t *by_function)
{
    uint64_t n = 0;
    for (size_t i = holders_find(h, s); i < h->n_moments; i++, n++) {
        const struct moment *m = &h->moments[i];
        if (holders_by_thread(m->pid, m->tid, s->pid, s->tid) != 0 || m->ns > s->end_ns)
            break;
        by_function[m->function]++;
    }
    return n;
}

static char *holders_most(const struct samples_holders *h, uint64_t *by_function, size_t n_functions, uint64_t all)
{
    char *text = memory_copy("");
    for (int k = 0; k < NAMED; k++) {
        size_t best = 0;
        for (size_t i = 1; i < n_functions; i++)
            best = by_function[i] > by_function[best] ? i : best;
        if (by_function[best] * PERCENT < all)
            break;
        char *name = samples_function_text(&h->samples, (uint32_t)best);
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

char *samples_holders_text(const struct samples_holders *h, size_t object)
{
    size_t n_functions = h ? upmu_samples_function_count(h->samples.samples) : 0;
    uint64_t all = 0;
    if (n_functions == 0)
        return NULL;
    uint64_t *by_function = memory_array(n_functions, sizeof *by_function);
    for (size_t i = 0; i < h->n_stretches; i++)
        if (h->stretches[i].object == object)
            all += holders_count(h, &h->stretches[i], by_function);
    char *text = all ? holders_most(h, by_function, n_functions, all) : NULL;
    free(by_function);
    return text;
}
