/* SPDX-License-Identifier: MIT */
/* Wakeups and kernel lock waits from the kernel's tracepoints. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "facts/facts.h"
#include "ui/json.h"
#include "ui/memory.h"
#include "report.h"
#include "report_cells.h"

static const struct {
    uint32_t bit;
    const char *name;
} kinds[] = {
    {UPMU_KERNEL_LOCK_MUTEX, "mutex"}, {UPMU_KERNEL_LOCK_RT, "rt"},       {UPMU_KERNEL_LOCK_PERCPU, "percpu"},
    {UPMU_KERNEL_LOCK_READ, "read"},   {UPMU_KERNEL_LOCK_WRITE, "write"}, {UPMU_KERNEL_LOCK_SPIN, "spin"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* "read, write": to be freed. */
static char *kernel_lock_kinds(uint32_t bits)
{
    char *text = memory_copy("");
    for (size_t i = 0; i < KINDS; i++) {
        if (!(bits & kinds[i].bit))
            continue;
        char *longer = memory_format("%s%s%s", text, text[0] ? ", " : "", kinds[i].name);
        free(text);
        text = longer;
    }
    return text;
}

static void kernel_cell_waits(struct table *t, const struct upmu_wait_sum *w)
{
    table_cell(t, STYLE_PLAIN, "%" PRIu64, w->count);
    cell_total(t, w, false);
    cell_duration(t, w->count ? w->total_ns / w->count : 0);
    cell_duration(t, w->max_ns);
}

static void kernel_text_wakers(struct output *out, const struct report *r)
{
    static const struct table_column columns[] = {
        {"THREAD", true}, {"NAME", TABLE_NAME},  {"WOKEN BY", true}, {"NAME", TABLE_NAME},
        {"COUNT", true},  {"SCHED DELAY", true}, {"MEAN", true},     {"MAX", true},
    };
    struct upmu_overview_thread t = {.size = sizeof t};
    struct upmu_overview_waker w = {.size = sizeof w};
    struct table table;
    size_t n = 0;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_overview_thread_at(r->overview, i, &t) == 0; i++)
        for (size_t k = 0; upmu_overview_waker_at(r->overview, i, k, &w) == 0; k++) {
            if (n++ >= r->top)
                continue;
            table_cell(&table, STYLE_PLAIN, "%ld", (long)t.tid);
            table_cell(&table, STYLE_PLAIN, "%s", t.name);
            table_cell(&table, STYLE_PLAIN, "%ld", (long)w.tid);
            table_cell(&table, STYLE_PLAIN, "%s", w.name);
            kernel_cell_waits(&table, &w.waits);
        }
    if (n > 0)
        report_title(out, "Wakeups between threads and their scheduling delay (kernel tracepoints)");
    table_end(&table, out, 2);
    report_more(out, n, n < r->top ? n : r->top);
}

static void kernel_text_locks(struct output *out, const struct report *r)
{
    static const struct table_column columns[] = {
        {"KERNEL LOCK", false}, {"KIND", false}, {"WAITED", true}, {"TOTAL", true}, {"MEAN", true}, {"MAX", true},
    };
    struct upmu_overview_kernel_lock l = {.size = sizeof l};
    struct table table;
    size_t n = 0;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    for (; upmu_overview_kernel_lock_at(r->overview, n, &l) == 0; n++) {
        if (n >= r->top)
            continue;
        table_cell(&table, STYLE_PLAIN, "0x%" PRIx64, l.address);
        cell_free(&table, STYLE_PLAIN, kernel_lock_kinds(l.kinds));
        kernel_cell_waits(&table, &l.waits);
    }
    if (n > 0)
        report_title(out, "Kernel locks, by total wait");
    table_end(&table, out, 2);
    report_more(out, n, n < r->top ? n : r->top);
}

void report_text_kernel(struct output *out, const struct report *r)
{
    kernel_text_wakers(out, r);
    kernel_text_locks(out, r);
}

static void kernel_json_sum(struct textbuf *j, const struct upmu_wait_sum *w)
{
    json_uint(j, "count", w->count);
    json_uint(j, "total_ns", w->total_ns);
    json_uint(j, "max_ns", w->max_ns);
}

void report_json_kernel(struct textbuf *j, const struct report *r)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    struct upmu_overview_waker w = {.size = sizeof w};
    struct upmu_overview_kernel_lock l = {.size = sizeof l};
    json_array(j, "wake_ups");
    for (size_t i = 0; upmu_overview_thread_at(r->overview, i, &t) == 0; i++)
        for (size_t k = 0; upmu_overview_waker_at(r->overview, i, k, &w) == 0; k++) {
            json_object(j, NULL);
            json_int(j, "tid", t.tid);
            json_int(j, "waker", w.tid);
            kernel_json_sum(j, &w.waits);
            json_object_end(j);
        }
    json_array_end(j);
    json_array(j, "kernel_locks");
    for (size_t i = 0; i < r->top && upmu_overview_kernel_lock_at(r->overview, i, &l) == 0; i++) {
        json_object(j, NULL);
        json_int(j, "process", l.process);
        facts_address(j, "address", l.address);
        json_array(j, "kinds");
        for (size_t k = 0; k < KINDS; k++)
            if (l.kinds & kinds[k].bit)
                json_string(j, NULL, kinds[k].name);
        json_array_end(j);
        kernel_json_sum(j, &l.waits);
        json_object_end(j);
    }
    json_array_end(j);
}
