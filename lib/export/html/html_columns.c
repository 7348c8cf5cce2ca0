/* SPDX-License-Identifier: MIT */
/* Columns of small numbers, which compress well: time differences, ranks of threads and locks plus one (0: none). */
#include "export/html/html.h"

#include <stdio.h>

struct column_input {
    const struct export_job *job;
    const struct html_table *table;
    const struct html_span *span;
    uint64_t before_ns; /**< begin of the preceding span in its row */
};

typedef uint64_t (*column_number)(const struct column_input *p);

struct column {
    const char *name;
    column_number number;
};

static uint64_t columns_rank_or_zero(const uint32_t *rank, uint32_t index)
{
    return index == MAP_NONE ? 0 : (uint64_t)rank[index] + 1;
}

static uint64_t column_begin(const struct column_input *p)
{
    return p->span->begin_ns - p->before_ns;
}

static uint64_t column_ns(const struct column_input *p)
{
    return p->span->ns;
}

static uint64_t column_idle(const struct column_input *p)
{
    return p->span->ns > p->span->busy_ns ? p->span->ns - p->span->busy_ns : 0;
}

static uint64_t column_more(const struct column_input *p)
{
    return p->span->count - 1;
}

static uint64_t column_flags(const struct column_input *p)
{
    return p->span->flags;
}

static uint64_t column_region(const struct column_input *p)
{
    return columns_rank_or_zero(p->job->html->region_rank, p->span->what);
}

static uint64_t column_object(const struct column_input *p)
{
    return columns_rank_or_zero(p->job->html->object_rank, p->span->what);
}

static const struct html_wait *column_wait(const struct column_input *p)
{
    return (const struct html_wait *)(const void *)p->table->extras + p->span->extra;
}

static uint64_t column_kind(const struct column_input *p)
{
    return column_wait(p)->kind;
}

static uint64_t column_holder(const struct column_input *p)
{
    return columns_rank_or_zero(p->job->html->thread_rank, column_wait(p)->holder);
}

/* How long the holder had held the object at the begin of the wait, plus one. */
static uint64_t column_since(const struct column_input *p)
{
    uint64_t since = column_wait(p)->holder_since;
    return since == 0 ? 0 : since < p->span->begin_ns ? p->span->begin_ns - since + 1 : 1;
}

static uint64_t column_site(const struct column_input *p)
{
    return column_wait(p)->site;
}

static uint64_t column_holder_site(const struct column_input *p)
{
    return column_wait(p)->holder_site;
}

static uint64_t column_stack(const struct column_input *p)
{
    return column_wait(p)->stack;
}

static uint64_t column_waker(const struct column_input *p)
{
    return columns_rank_or_zero(p->job->html->thread_rank, column_wait(p)->waker);
}

static uint64_t column_waker_stack(const struct column_input *p)
{
    return column_wait(p)->waker_stack;
}

static uint64_t column_holder_stack(const struct column_input *p)
{
    return column_wait(p)->holder_stack;
}

static uint64_t column_waker_ns(const struct column_input *p)
{
    uint64_t end = p->span->begin_ns + p->span->ns, at = column_wait(p)->waker_ns;
    return at != 0 && at < end ? end - at : 0;
}

static uint64_t column_hold_site(const struct column_input *p)
{
    return ((const struct html_hold *)(const void *)p->table->extras)[p->span->extra].site;
}

static uint64_t column_cpu(const struct column_input *p)
{
    return ((const struct html_run *)(const void *)p->table->extras)[p->span->extra].cpu;
}

static uint64_t column_state(const struct column_input *p)
{
    return p->span->what == MAP_NONE ? 0 : p->span->what;
}

static const struct html_call *column_call(const struct column_input *p)
{
    return (const struct html_call *)(const void *)p->table->extras + p->span->extra;
}

static uint64_t column_function(const struct column_input *p)
{
    return p->span->what == MAP_NONE ? 0 : (uint64_t)p->span->what + 1;
}

/* The least special value, UPMU_MPI_UNKNOWN, becomes 0. */
static uint64_t column_peer(const struct column_input *p)
{
    return (uint64_t)(column_call(p)->peer - UPMU_MPI_UNKNOWN);
}

static uint64_t column_tag(const struct column_input *p)
{
    return (uint64_t)((int64_t)column_call(p)->tag - UPMU_MPI_UNKNOWN);
}

static uint64_t column_bytes(const struct column_input *p)
{
    uint64_t bytes = column_call(p)->bytes;
    return bytes == UPMU_NO_VALUE ? 0 : bytes + 1;
}

static uint64_t column_comm(const struct column_input *p)
{
    return column_call(p)->comm;
}

static uint64_t column_sequence(const struct column_input *p)
{
    return column_call(p)->sequence;
}

static uint64_t column_pattern(const struct column_input *p)
{
    return column_call(p)->wait;
}

static uint64_t column_wait_ns(const struct column_input *p)
{
    return column_call(p)->wait_ns;
}

static uint64_t column_cause(const struct column_input *p)
{
    return column_call(p)->cause;
}

static uint64_t column_call_site(const struct column_input *p)
{
    return column_call(p)->site;
}

static uint64_t column_call_stack(const struct column_input *p)
{
    return column_call(p)->stack;
}

static const struct column of_all[] = {
    {"begin", column_begin}, {"ns", column_ns},       {"idle", column_idle},
    {"more", column_more},   {"flags", column_flags}, {NULL, NULL},
};
static const struct column of_regions[] = {{"what", column_region}, {NULL, NULL}};
static const struct column of_waits[] = {
    {"what", column_object},
    {"kind", column_kind},
    {"holder", column_holder},
    {"since", column_since},
    {"site", column_site},
    {"stack", column_stack},
    {"waker", column_waker},
    {"wakerNs", column_waker_ns},
    {"wakerStack", column_waker_stack},
    {"holderSite", column_holder_site},
    {"holderStack", column_holder_stack},
    {NULL, NULL},
};
static const struct column of_runs[] = {{"what", column_state}, {"cpu", column_cpu}, {NULL, NULL}};
static const struct column of_calls[] = {
    {"what", column_function}, {"peer", column_peer},         {"tag", column_tag},          {"bytes", column_bytes},
    {"comm", column_comm},     {"sequence", column_sequence}, {"wait", column_pattern},     {"waitNs", column_wait_ns},
    {"cause", column_cause},   {"site", column_call_site},    {"stack", column_call_stack}, {NULL, NULL},
};
static const struct column of_holds[] = {{"site", column_hold_site}, {NULL, NULL}};

static bool columns_new_row(const struct html_table *t, size_t i)
{
    return i == 0 || t->spans[i].row_a != t->spans[i - 1].row_a || t->spans[i].row_b != t->spans[i - 1].row_b;
}

static int columns_pack(struct export_job *job, const char *table, const char *column, size_t n, struct textbuf *b)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", table, column);
    int rc = html_pack_section(job, name, n, b);
    textbuf_free(b);
    return rc;
}

static int write_columns(struct export_job *job, const char *name, const struct html_table *t, const struct column *c)
{
    int rc = 0;
    for (; rc == 0 && c->name; c++) {
        struct textbuf b = {0};
        struct column_input p = {.job = job, .table = t};
        for (size_t i = 0; i < t->n; i++) {
            p.before_ns = columns_new_row(t, i) ? job->html->base_ns : t->spans[i - 1].begin_ns;
            p.span = &t->spans[i];
            html_varint(&b, c->number(&p));
        }
        rc = columns_pack(job, name, c->name, t->n, &b);
    }
    return rc;
}

/* Rows: owner, index among its rows, number of spans. */
static int columns_write_rows(struct export_job *job, const char *name, const struct html_table *t,
                              const uint32_t *rank_a, const uint32_t *rank_b)
{
    struct textbuf b = {0};
    size_t rows = 0;
    for (size_t i = 0, next; i < t->n; i = next, rows++) {
        for (next = i + 1; next < t->n && !columns_new_row(t, next); next++)
            ;
        html_varint(&b, rank_a[t->spans[i].row_a]);
        html_varint(&b, rank_b ? rank_b[t->spans[i].row_b] : t->spans[i].row_b);
        html_varint(&b, next - i);
    }
    return columns_pack(job, name, "rows", 3 * rows, &b);
}

static int columns_write_table(struct export_job *job, const char *name, const struct html_table *t,
                               const struct column *columns)
{
    int rc = write_columns(job, name, t, of_all);
    return rc == 0 ? write_columns(job, name, t, columns) : rc;
}

/* Counters of single instances: merged spans have none. */
static int columns_write_counts(struct export_job *job)
{
    const struct html *h = job->html;
    const struct html_table *t = &h->regions;
    int rc = 0;
    for (size_t c = 0; rc == 0 && c < h->n_counters; c++) {
        struct textbuf b = {0};
        char name[40];
        for (size_t i = 0; i < t->n; i++) {
            const uint64_t *counts = (const uint64_t *)(const void *)t->extras + t->spans[i].extra * h->n_counters;
            html_varint(&b, t->spans[i].count > 1 ? 0 : counts[c]);
        }
        snprintf(name, sizeof name, "count%zu", c);
        rc = columns_pack(job, "regions", name, t->n, &b);
    }
    return rc;
}

/* Difference to the preceding reading, in zigzag plus one; 0: no value, and the next difference is to the last
 * value. */
static uint64_t columns_point_delta(uint64_t now, uint64_t *before)
{
    if (now == UPMU_NO_VALUE)
        return 0;
    uint64_t up = now - *before, down = *before - now, less = now < *before;
    *before = now;
    return (less ? down * 2 - 1 : up * 2) + 1;
}

static int write_point_column(struct export_job *job, size_t column)
{
    const struct html *h = job->html;
    const struct overview *o = &job->facts->pass;
    struct textbuf b = {0};
    char name[40] = "ns";
    for (size_t i = 0; i < o->n_threads; i++) {
        const struct html_points *p = &h->points[o->thread_order[i]];
        uint64_t before = column == 0 ? h->base_ns : 0;
        for (size_t k = 0; k < p->n; k++)
            html_varint(&b, columns_point_delta(p->rows[k * (1 + h->n_counters) + column], &before));
    }
    if (column > 0)
        snprintf(name, sizeof name, "value%zu", column - 1);
    return columns_pack(job, "points", name, h->n_points, &b);
}

static int columns_write_points(struct export_job *job)
{
    const struct html *h = job->html;
    const struct overview *o = &job->facts->pass;
    struct textbuf b = {0};
    for (size_t i = 0; i < o->n_threads; i++)
        html_varint(&b, h->points[o->thread_order[i]].n);
    int rc = columns_pack(job, "points", "rows", o->n_threads, &b);
    for (size_t c = 0; rc == 0 && h->n_counters > 0 && c <= h->n_counters; c++)
        rc = write_point_column(job, c);
    return rc;
}

int html_columns_write(struct export_job *job)
{
    const struct html *h = job->html;
    int rc = columns_write_rows(job, "regions", &h->regions, h->thread_rank, NULL);
    if (rc == 0)
        rc = columns_write_table(job, "regions", &h->regions, of_regions);
    if (rc == 0)
        rc = columns_write_counts(job);
    if (rc == 0)
        rc = columns_write_rows(job, "waits", &h->waits, h->thread_rank, NULL);
    if (rc == 0)
        rc = columns_write_table(job, "waits", &h->waits, of_waits);
    if (rc == 0)
        rc = columns_write_rows(job, "holds", &h->holds, h->object_rank, h->thread_rank);
    if (rc == 0)
        rc = columns_write_table(job, "holds", &h->holds, of_holds);
    if (rc == 0)
        rc = columns_write_rows(job, "runs", &h->runs, h->thread_rank, NULL);
    if (rc == 0)
        rc = columns_write_table(job, "runs", &h->runs, of_runs);
    if (rc == 0 && h->mpi)
        rc = columns_write_rows(job, "calls", &h->calls, h->thread_rank, NULL);
    if (rc == 0 && h->mpi)
        rc = columns_write_table(job, "calls", &h->calls, of_calls);
    return rc == 0 ? columns_write_points(job) : rc;
}
