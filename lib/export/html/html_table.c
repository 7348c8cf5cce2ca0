/* SPDX-License-Identifier: MIT */
/*
 * Spans of the page in bounded memory.
 *
 * When a table is full, short adjacent spans of a row are merged into one, which keeps their number, the time they
 * cover, and the details of the longest. The limits of length and distance grow by half until a fourth of the table
 * is free. Merged spans stay short, so a picture of the whole recording looks the same.
 */
#include "export/html/html.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_GAP_NS = 128, MERGED_GAPS = 16 };

static int table_by_row_and_time(const void *a, const void *b)
{
    const struct html_span *x = a, *y = b;
    if (x->row_a != y->row_a)
        return x->row_a < y->row_a ? -1 : 1;
    if (x->row_b != y->row_b)
        return x->row_b < y->row_b ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static void table_sort(struct html_table *t)
{
    if (t->n > 1)
        qsort(t->spans, t->n, sizeof *t->spans, table_by_row_and_time);
}

static bool table_may_merge(const struct html_table *t, const struct html_span *a, const struct html_span *b)
{
    uint64_t a_end = a->begin_ns + a->ns, b_end = b->begin_ns + b->ns;
    bool one_row = a->row_a == b->row_a && a->row_b == b->row_b;
    bool are_short = (a->ns <= t->gap_ns || a->count > 1) && (b->ns <= t->gap_ns || b->count > 1);
    bool certain = ((a->flags | b->flags) & HTML_UNFINISHED) == 0;
    return one_row && are_short && certain && b->begin_ns >= a_end && b->begin_ns - a_end <= t->gap_ns &&
           b_end - a->begin_ns <= MERGED_GAPS * t->gap_ns;
}

static void table_merge_spans(struct html_span *a, const struct html_span *b)
{
    if (a->what != b->what)
        a->what = MAP_NONE;
    if (b->longest_ns > a->longest_ns) {
        a->longest_ns = b->longest_ns;
        a->extra = b->extra;
        a->flags = b->flags;
    }
    a->ns = b->begin_ns + b->ns - a->begin_ns;
    a->busy_ns += b->busy_ns;
    a->count += b->count;
}

/* The extras still in use move together. */
static bool table_keep_extras(struct html_table *t)
{
    char *kept = malloc(t->n * t->extra_size + 1);
    if (!kept)
        return false;
    for (size_t i = 0; i < t->n; i++) {
        memcpy(kept + i * t->extra_size, t->extras + t->spans[i].extra * t->extra_size, t->extra_size);
        t->spans[i].extra = (uint32_t)i;
    }
    free(t->extras);
    t->extras = kept;
    t->n_extras = t->cap_extras = t->n;
    return true;
}

/* The table is sorted. */
static bool table_merge(struct html_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (n > 0 && table_may_merge(t, &t->spans[n - 1], &t->spans[i]))
            table_merge_spans(&t->spans[n - 1], &t->spans[i]);
        else
            t->spans[n++] = t->spans[i];
    }
    t->n = n;
    return t->extra_size == 0 || table_keep_extras(t);
}

static bool table_reserve(struct html_table *t)
{
    table_sort(t);
    while (t->n > (size_t)HTML_SPANS_MAX / 4 * 3) {
        t->gap_ns = t->gap_ns ? t->gap_ns + t->gap_ns / 2 : FIRST_GAP_NS;
        if (t->gap_ns > UINT64_MAX / MERGED_GAPS / 2)
            break; /* as many rows: there are no adjacent spans */
        if (!table_merge(t))
            return false;
    }
    return true;
}

static void *table_new_extra(struct html_table *t)
{
    if (t->n_extras == t->cap_extras) {
        size_t cap = t->cap_extras ? t->cap_extras * 2 : 256;
        char *all = reallocarray(t->extras, cap, t->extra_size);
        if (!all)
            return NULL;
        t->extras = all;
        t->cap_extras = cap;
    }
    return memset(t->extras + t->n_extras++ * t->extra_size, 0, t->extra_size);
}

int html_table_start(struct html_table *t, size_t extra_size, uint64_t from_ns, uint64_t to_ns)
{
    *t = (struct html_table){
        .extra_size = extra_size, .from_ns = from_ns, .to_ns = to_ns, .spare = malloc(extra_size + 1)};
    return t->spare ? 0 : export_no_memory();
}

void *html_add(struct html_table *t, const struct html_span *span)
{
    if (span->begin_ns > t->to_ns || span->begin_ns + span->ns < t->from_ns)
        return t->spare;
    if (t->n >= HTML_SPANS_MAX && t->n % (HTML_SPANS_MAX / 4) == 0 && !table_reserve(t))
        return NULL;
    struct html_span *all = array_reserve(t->spans, t->n, &t->cap, sizeof *all);
    if (!all)
        return NULL;
    t->spans = all;
    void *extra = t->extra_size ? table_new_extra(t) : t->spare;
    if (!extra)
        return NULL;
    all[t->n] = *span;
    all[t->n].count = span->count ? span->count : 1;
    all[t->n].busy_ns = span->busy_ns ? span->busy_ns : span->ns;
    all[t->n].longest_ns = span->ns;
    all[t->n].extra = t->extra_size ? (uint32_t)(t->n_extras - 1) : 0;
    t->n++;
    return extra;
}

int html_table_finish(struct html_table *t)
{
    table_sort(t);
    return t->gap_ns == 0 || table_merge(t) ? 0 : export_no_memory();
}

void html_table_free(struct html_table *t)
{
    free(t->spans);
    free(t->extras);
    free(t->spare);
}

/* ------------------------------------------------------------------------------------------------------- points */

/* The first and the last reading are kept: the thread's total is unchanged. */
static void table_thin(struct html_points *p, size_t columns, uint64_t gap_ns)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        uint64_t at = p->rows[i * columns];
        if (n > 0 && i + 1 < p->n && at - p->rows[(n - 1) * columns] < gap_ns)
            continue;
        memmove(p->rows + n * columns, p->rows + i * columns, columns * sizeof *p->rows);
        n++;
    }
    p->n = n;
}

void html_points_thin(struct html *h, size_t n_threads)
{
    while (h->n_points > HTML_POINTS_MAX / 2 && h->points_gap_ns < UINT64_MAX / 4) {
        h->points_gap_ns = h->points_gap_ns ? h->points_gap_ns * 2 : FIRST_GAP_NS;
        h->n_points = 0;
        for (size_t i = 0; i < n_threads; i++) {
            table_thin(&h->points[i], 1 + h->n_counters, h->points_gap_ns);
            h->n_points += h->points[i].n;
        }
    }
}
