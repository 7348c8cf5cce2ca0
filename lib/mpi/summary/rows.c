/* SPDX-License-Identifier: MIT */
/* Statistics of one number over the ranks that have it, and their merge. */
#include "mpi/summary/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "upmu/upmu.h"

static uint64_t row_hash(const char *name, const char *metric)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    h *= UINT64_C(0x100000001b3);
    for (; *metric; metric++)
        h = (h ^ (unsigned char)*metric) * UINT64_C(0x100000001b3);
    return h;
}

static int row_compare(const void *x, const void *y)
{
    const struct summary_row *a = x, *b = y;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    int c = strcmp(a->name, b->name);
    return c ? c : strcmp(a->metric, b->metric);
}

static bool summary_reserve(struct summary *s, uint32_t n)
{
    if (n <= s->cap)
        return true;
    uint32_t cap = n < 2 * s->cap ? 2 * s->cap : n;
    struct summary_row *more = realloc(s->rows, cap * sizeof *more);
    if (!more)
        return false;
    s->rows = more;
    s->cap = cap;
    return true;
}

void summary_add(struct summary *s, enum summary_kind kind, const char *name, const char *metric, uint64_t value,
                 int rank, int status)
{
    if (!summary_reserve(s, s->n + 1)) {
        s->incomplete = 1;
        return;
    }
    struct summary_row *r = &s->rows[s->n++];
    *r = (struct summary_row){.kind = kind,
                              .status = status,
                              .hash = row_hash(name, metric),
                              .ranks = 1,
                              .sum = value,
                              .min = value,
                              .max = value,
                              .min_rank = rank,
                              .max_rank = rank,
                              .mean = (double)value};
    snprintf(r->name, sizeof r->name, "%s", name);
    snprintf(r->metric, sizeof r->metric, "%s", metric);
}

static void summary_cut(struct summary *s)
{
    s->incomplete |= s->n > SUMMARY_ROWS_MAX;
    s->n = s->n > SUMMARY_ROWS_MAX ? SUMMARY_ROWS_MAX : s->n;
}

void summary_sort(struct summary *s)
{
    if (s->n)
        qsort(s->rows, s->n, sizeof *s->rows, row_compare);
    summary_cut(s);
}

static void row_merge(struct summary_row *a, const struct summary_row *b)
{
    double na = (double)a->ranks, nb = (double)b->ranks, d = b->mean - a->mean;
    a->m2 += b->m2 + d * d * na * nb / (na + nb);
    a->mean += d * nb / (na + nb);
    a->ranks += b->ranks;
    a->sum = sat_add_u64(a->sum, b->sum);
    if (b->min < a->min || (b->min == a->min && b->min_rank < a->min_rank)) {
        a->min = b->min;
        a->min_rank = b->min_rank;
    }
    if (b->max > a->max || (b->max == a->max && b->max_rank < a->max_rank)) {
        a->max = b->max;
        a->max_rank = b->max_rank;
    }
    a->status = upmu_status_weakest(a->status, b->status);
}

void summary_merge(struct summary *s, const struct summary_row *rows, uint32_t n, bool incomplete)
{
    uint32_t i = 0, k = 0, cap = s->n + n + 1;
    struct summary out = {.rows = malloc(cap * sizeof *out.rows), .cap = cap, .incomplete = s->incomplete | incomplete};
    if (!out.rows) {
        s->incomplete = 1;
        return;
    }
    while (i < s->n || k < n) {
        int c = i == s->n ? 1 : k == n ? -1 : row_compare(&s->rows[i], &rows[k]);
        out.rows[out.n] = c <= 0 ? s->rows[i] : rows[k];
        if (c == 0)
            row_merge(&out.rows[out.n], &rows[k]);
        out.n++;
        i += c <= 0;
        k += c >= 0;
    }
    summary_cut(&out);
    free(s->rows);
    *s = out;
}

void summary_free(struct summary *s)
{
    free(s->rows);
    *s = (struct summary){0};
}

const struct summary_row *summary_find(const struct summary *s, enum summary_kind kind, const char *name,
                                       const char *metric)
{
    struct summary_row key = {.kind = kind, .hash = row_hash(name, metric)};
    snprintf(key.name, sizeof key.name, "%s", name);
    snprintf(key.metric, sizeof key.metric, "%s", metric);
    return s->n ? bsearch(&key, s->rows, s->n, sizeof key, row_compare) : NULL;
}

double summary_deviation(const struct summary_row *r)
{
    return r->ranks ? sqrt(r->m2 / (double)r->ranks) : 0;
}

double summary_imbalance(const struct summary_row *r)
{
    return r->mean > 0 ? (double)r->max / r->mean - 1 : 0;
}
