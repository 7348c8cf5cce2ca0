/* SPDX-License-Identifier: MIT */
/* Report at exit: data and choice of format. */
#include "region/report.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct report_format *const formats[] = {
    [REPORT_TEXT] = &report_text,
    [REPORT_JSON] = &report_json,
    [REPORT_CSV] = &report_csv,
};

/* -------------------------------------------------------------------------------------------------- gathering */

struct gather {
    struct report *report;
    uint32_t id;
    size_t first; /**< row of the region's total */
    struct region_record *sum, *one;
    int rc;
};

static struct report_row *report_new_row(struct report *r)
{
    if (r->n_rows == r->cap_rows) {
        size_t want = r->cap_rows ? r->cap_rows * 2 : 16;
        struct report_row *grown = realloc(r->rows, want * sizeof *grown);
        if (!grown)
            return NULL;
        r->rows = grown;
        r->cap_rows = want;
    }
    struct report_row *row = &r->rows[r->n_rows++];
    memset(row, 0, sizeof *row);
    return row;
}

static int report_gather_thread(const struct region_thread_info *info, void *arg)
{
    struct gather *g = arg;
    if (!region_record_copy(info->thread, g->id, g->one) || (g->one->count == 0 && g->one->open == 0))
        return 0;
    region_record_merge(g->sum, g->one);
    struct report_row *row = report_new_row(g->report);
    if (!row)
        return g->rc = -ENOMEM;
    row->region = region_name_text(g->id);
    row->tid = info->tid;
    row->ended = info->ended;
    row->stats.threads = (uint32_t)g->one->threads;
    memcpy(row->thread, info->name, sizeof row->thread);
    region_record_stats(g->one, &row->stats);
    return 0;
}

static int gather_region(struct gather *g)
{
    struct report *r = g->report;
    size_t first = r->n_rows;
    struct report_row *total = report_new_row(r);
    if (!total)
        return -ENOMEM;
    memset(g->sum, 0, upmu_regions.record_bytes);
    region_each_thread(report_gather_thread, g);
    if (g->rc < 0)
        return g->rc;
    size_t threads = r->n_rows - first - 1;
    if (threads == 0) {
        r->n_rows = first; /* no thread has counted this name */
        return 0;
    }
    total = &r->rows[first];
    total->region = region_name_text(g->id);
    total->all = true;
    total->stats.threads = (uint32_t)g->sum->threads;
    region_record_stats(g->sum, &total->stats);
    if (threads == 1)
        r->n_rows = first + 1;
    return 0;
}

static int gather_regions(struct report *r)
{
    struct gather g = {.report = r};
    g.sum = calloc(2, upmu_regions.record_bytes);
    if (!g.sum)
        return -ENOMEM;
    g.one = (struct region_record *)(void *)((unsigned char *)g.sum + upmu_regions.record_bytes);
    int rc = 0;
    for (uint32_t id = 1; id <= region_name_count() && rc == 0; id++) {
        g.id = id;
        rc = gather_region(&g);
    }
    free(g.sum);
    return rc;
}

static int report_count_thread(const struct region_thread_info *info, void *arg)
{
    if (info->tid != 0)
        ++*(size_t *)arg;
    return 0;
}

static int report_gather(struct report *r)
{
    struct clock_triple now;
    *r = (struct report){.pid = (int)getpid(), .child = upmu_regions.child, .health.size = sizeof r->health};
    clock_sample(&now);
    r->seconds = (double)(now.raw_ns - upmu_regions.start.raw_ns) / 1e9;
    r->clock = clock_source();
    gethostname(r->host, sizeof r->host - 1);
    ssize_t n = readlink("/proc/self/exe", r->program, sizeof r->program - 1);
    if (n < 0)
        r->program[0] = '\0';
    region_blocks_check();
    region_each_thread(report_count_thread, &r->threads);
    r->threads += __atomic_load_n(&upmu_regions.threads_merged, __ATOMIC_RELAXED) +
                  __atomic_load_n(&upmu_regions.threads_empty, __ATOMIC_RELAXED);
    int rc = gather_regions(r);
    if (rc == 0 && upmu_region_health_read(&r->health) < 0)
        r->health = (struct upmu_region_health){.begin_ns = UPMU_NO_VALUE, .end_ns = UPMU_NO_VALUE};
    uint64_t own = r->health.begin_ns != UPMU_NO_VALUE ? r->health.begin_ns + r->health.end_ns : 0;
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct region_stats *s = &r->rows[i].stats;
        r->rows[i].brief = s->count > 0 && s->wall.sum / s->count < 10 * own;
    }
    return rc;
}

int region_report_write(enum region_report format, int fd)
{
    struct report r;
    struct textbuf out = {0};
    /* The program may have set a locale with a decimal comma; use "C" in this thread, for this report. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t theirs = plain ? uselocale(plain) : (locale_t)0;
    int rc = report_gather(&r);
    if (rc == 0) {
        formats[format]->write(&r, &out);
        rc = textbuf_write(&out, fd);
    }
    textbuf_free(&out);
    free(r.rows);
    if (plain) {
        uselocale(theirs);
        freelocale(plain);
    }
    return rc;
}
