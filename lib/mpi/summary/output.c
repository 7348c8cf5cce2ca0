/* SPDX-License-Identifier: MIT */
/* The summary of a job as JSON and as a table. */
#include "mpi/summary/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "upmu/upmu.h"

/** Efficiencies by the definitions of POP. */
struct efficiencies {
    uint64_t begin, end;
    double parallel, balance, communication;
};

static struct efficiencies efficiencies_of(const struct summary *s)
{
    const struct summary_row *begin = summary_find(s, SUMMARY_RANK, "rank", "begin");
    const struct summary_row *end = summary_find(s, SUMMARY_RANK, "rank", "end");
    const struct summary_row *useful = summary_find(s, SUMMARY_RANK, "rank", "useful");
    struct efficiencies e = {.begin = begin ? begin->min : 0, .end = end ? end->max : 0};
    if (!useful || e.end <= e.begin || useful->max == 0)
        return e;
    e.balance = useful->mean / (double)useful->max;
    e.communication = (double)useful->max / (double)(e.end - e.begin);
    e.parallel = useful->mean / (double)(e.end - e.begin);
    return e;
}

/* Rows that are part of the heading. */
static bool summary_is_head(const struct summary_row *r)
{
    return r->kind == SUMMARY_RANK &&
           (strcmp(r->metric, "begin") == 0 || strcmp(r->metric, "end") == 0 || strcmp(r->metric, "recorded") == 0);
}

/* Ranks whose calls are in traces; the others have counted theirs for this table. */
static uint64_t summary_recorded(const struct summary *s)
{
    const struct summary_row *r = summary_find(s, SUMMARY_RANK, "rank", "recorded");
    return r ? r->ranks : 0;
}

/* ----------------------------------------------------------------------------------------------------------- JSON */

static void json_row(struct textbuf *out, const struct summary_row *r, bool first)
{
    textbuf_printf(out, "%s\n    {\"name\": ", first ? "" : ",");
    textbuf_json(out, r->name);
    textbuf_printf(out, ", \"metric\": ");
    textbuf_json(out, r->metric);
    textbuf_printf(out,
                   ", \"status\": \"%s\", \"ranks\": %" PRIu64 ", \"sum\": %" PRIu64 ", \"min\": %" PRIu64
                   ", \"min_rank\": %d, \"max\": %" PRIu64
                   ", \"max_rank\": %d, \"mean\": %.3f, \"deviation\": %.3f, \"imbalance\": %.6f}",
                   upmu_status_name(r->status), r->ranks, r->sum, r->min, (int)r->min_rank, r->max, (int)r->max_rank,
                   r->mean, summary_deviation(r), summary_imbalance(r));
}

static void json_rows(struct textbuf *out, const struct summary *s, const char *title, uint32_t kind)
{
    bool first = true;
    textbuf_printf(out, ",\n  \"%s\": [", title);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct summary_row *r = &s->rows[i];
        if (r->kind != kind || summary_is_head(r))
            continue;
        json_row(out, r, first);
        first = false;
    }
    textbuf_printf(out, "]");
}

void summary_json(const struct summary *s, int world, struct textbuf *out)
{
    struct efficiencies e = efficiencies_of(s);
    textbuf_printf(out,
                   "{\"version\": 1, \"world\": %d, \"recorded\": %" PRIu64 ", \"complete\": %s, \"begin_ns\": %" PRIu64
                   ", \"end_ns\": %" PRIu64
                   ",\n  \"parallel_efficiency\": %.9f, \"load_balance\": %.9f, \"communication_efficiency\": %.9f",
                   world, summary_recorded(s), s->incomplete ? "false" : "true", e.begin, e.end, e.parallel, e.balance,
                   e.communication);
    json_rows(out, s, "ranks", SUMMARY_RANK);
    json_rows(out, s, "functions", SUMMARY_FUNCTION);
    json_rows(out, s, "regions", SUMMARY_REGION);
    textbuf_printf(out, "\n}\n");
}

/* ---------------------------------------------------------------------------------------------------------- table */

/* The largest first, of each metric. */
static int row_compare_mean(const void *x, const void *y)
{
    const struct summary_row *const *a = x, *const *b = y;
    double m = (*a)->mean * (double)(*a)->ranks, n = (*b)->mean * (double)(*b)->ranks;
    int c = strcmp((*b)->metric, (*a)->metric);
    return c ? c : m > n ? -1 : m < n;
}

static void text_number(struct textbuf *out, const struct summary_row *r, double value)
{
    bool is_time = strcmp(r->metric, "ns") == 0 || r->kind == SUMMARY_RANK;
    if (is_time)
        textbuf_printf(out, " %11.6f s", value / 1e9);
    else
        textbuf_printf(out, " %13.*f", value < 1000 ? 2 : 0, value);
}

static void text_row(struct textbuf *out, const struct summary_row *r)
{
    char name[SUMMARY_NAME_MAX];
    size_t n = 0;
    for (; r->name[n]; n++) /* the terminal's controls */
        name[n] = (unsigned char)r->name[n] < ' ' || r->name[n] == 0x7f ? '?' : r->name[n];
    name[n] = '\0';
    textbuf_printf(out, "%-24s %-14s %6" PRIu64, name, r->metric, r->ranks);
    text_number(out, r, r->mean);
    text_number(out, r, (double)r->min);
    textbuf_printf(out, " %6d", (int)r->min_rank);
    text_number(out, r, (double)r->max);
    textbuf_printf(out, " %6d", (int)r->max_rank);
    text_number(out, r, summary_deviation(r));
    textbuf_printf(out, " %9.1f %%%s%s\n", 100 * summary_imbalance(r), r->status == UPMU_EXACT ? "" : "  ",
                   r->status == UPMU_EXACT ? "" : upmu_status_name(r->status));
}

static void text_rows(struct textbuf *out, const struct summary *s, const char *title, uint32_t kind)
{
    uint32_t n = 0;
    const struct summary_row **rows = malloc((s->n + 1) * sizeof(const struct summary_row *));
    for (uint32_t i = 0; rows && i < s->n; i++)
        if (s->rows[i].kind == kind && !summary_is_head(&s->rows[i]))
            rows[n++] = &s->rows[i];
    if (n) {
        qsort(rows, n, sizeof *rows, row_compare_mean);
        textbuf_printf(out, "\n%-24s %-14s %6s %13s %13s %6s %13s %6s %13s %11s\n", title, "", "ranks", "mean", "min",
                       "rank", "max", "rank", "deviation", "imbalance");
    }
    for (uint32_t i = 0; i < n; i++)
        text_row(out, rows[i]);
    free(rows);
}

void summary_text(const struct summary *s, int world, struct textbuf *out)
{
    struct efficiencies e = efficiencies_of(s);
    textbuf_printf(out,
                   "%d ranks, %.6f s. Parallel efficiency %.1f %% = load balance %.1f %% x communication %.1f %%.\n"
                   "Serialization and transfer efficiency, and waits, need the traces: upmu report --mpi.\n"
                   "%" PRIu64 " of %d ranks have their calls in traces.\n",
                   world, (double)(e.end - e.begin) / 1e9, 100 * e.parallel, 100 * e.balance, 100 * e.communication,
                   summary_recorded(s), world);
    if (s->incomplete)
        textbuf_printf(
            out, "Some rows are left out: there were more than %d, a rank had more than 2048 regions, or no memory.\n",
            SUMMARY_ROWS_MAX);
    text_rows(out, s, "rank", SUMMARY_RANK);
    text_rows(out, s, "function", SUMMARY_FUNCTION);
    text_rows(out, s, "region", SUMMARY_REGION);
}
