/* SPDX-License-Identifier: MIT */
/* Table cells of reports. */
#include "report_cells.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ui/memory.h"
#include "report.h"

void cell_free(struct table *t, enum output_style style, char *text)
{
    table_cell(t, style, "%s", text);
    free(text);
}

void cell_duration(struct table *t, uint64_t ns)
{
    cell_free(t, STYLE_PLAIN, ns ? report_duration(ns) : memory_copy(""));
}

void cell_process(struct table *t, const struct report *r, uint32_t process, bool by_id)
{
    if (r->totals.n_processes < 2)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        cell_free(t, STYLE_PLAIN, by_id ? report_process_text(r, process) : report_program(r, process));
}

/* A wait that is unfinished at the end of the recording counts as a lower bound. "not known": no event of the process follows
 * the begin of its only wait. */
char *wait_total_text(const struct upmu_wait_sum *w)
{
    if (w->unfinished > 0 && w->total_ns + w->unfinished_ns == 0)
        return memory_copy("not known");
    char *ns = report_duration(w->total_ns + w->unfinished_ns);
    if (w->unfinished == 0)
        return ns;
    char *text = memory_format(">= %s", ns);
    free(ns);
    return text;
}

void cell_total(struct table *t, const struct upmu_wait_sum *w, bool least)
{
    bool any = w->count + w->unfinished > 0, marked = w->unfinished > 0;
    char *text = any ? wait_total_text(w) : memory_copy("");
    if (least && any && !marked) {
        char *ns = text;
        text = memory_format(">= %s", ns);
        free(ns);
    }
    cell_free(t, least || marked ? STYLE_WARNING : STYLE_PLAIN, text);
}

void cell_count(struct table *t, uint64_t n, bool exact)
{
    table_cell(t, exact ? STYLE_PLAIN : STYLE_WARNING, "%s%" PRIu64, exact ? "" : ">= ", n);
}

void cell_share(struct table *t, uint64_t part, uint64_t whole)
{
    if (part > 0 && whole > 0)
        table_cell(t, STYLE_PLAIN, "%.1f %%", 100.0 * (double)part / (double)whole);
    else
        table_cell(t, STYLE_PLAIN, "%s", "");
}

static char *change_text(uint64_t before, uint64_t after)
{
    bool more = after >= before;
    char *ns = report_duration(more ? after - before : before - after);
    char *text = before ? memory_format("%s%s (%+.1f %%)", more ? "+" : "-", ns,
                                        ((double)after - (double)before) / (double)before * 100)
                        : memory_format("+%s", ns);
    free(ns);
    return text;
}

void cell_change(struct table *t, bool was_there, bool is_there, uint64_t before, uint64_t after)
{
    if (!was_there || !is_there)
        table_cell(t, STYLE_PLAIN, "%s", was_there ? "gone" : "new");
    else
        cell_free(t, STYLE_PLAIN, before == after ? memory_copy("") : change_text(before, after));
}
