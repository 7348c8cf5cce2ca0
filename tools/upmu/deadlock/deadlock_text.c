/* SPDX-License-Identifier: MIT */
/* Deadlocks and lock-order cycles as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deadlock.h"
#include "mpi/mpi.h"
#include "ui/memory.h"

/* Characters of a frame's line beside function, file and label. */
enum { FRAME_OTHERS = 24 };

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

static void text_clean(struct output *out, char *text)
{
    output_clean(out->file, text);
    free(text);
}

static void text_location(struct output *out, const struct deadlock_report *r, uint32_t process, uint64_t address)
{
    text_clean(out, deadlock_location(r, process, address, 0));
}

/* Where in a module, and what is near if it has no name. */
static void text_offset(struct output *out, const struct upmu_symbol *s)
{
    output_clean(out->file, s->module);
    fprintf(out->file, "+0x%" PRIx64, s->offset);
    if (s->function || !s->previous)
        return;
    fprintf(out->file, " (no symbol; 0x%" PRIx64 " after ", s->previous_offset);
    output_clean(out->file, s->previous);
    fputc(')', out->file);
}

void deadlock_write_frame(struct output *out, const struct upmu_symbol *s, unsigned *number)
{
    const char *label = upmu_frame_label(s);
    if (s->kind >= UPMU_FRAME_TRUNCATED) {
        fprintf(out->file, "      (%s)\n", label);
        return;
    }
    if (s->kind == UPMU_FRAME_TAIL_CALL)
        fputs("          ", out->file);
    else
        fprintf(out->file, "      #%-2u ", (*number)++);
    if (s->function)
        output_name(out, s->function,
                    FRAME_OTHERS +
                        strlen(s->file     ? s->file
                               : s->module ? s->module
                                           : "") +
                        strlen(label));
    if (s->function && s->file) {
        fputs(" at ", out->file);
        output_clean(out->file, s->file);
        fprintf(out->file, ":%" PRIu32, s->line);
    } else if (s->module) {
        fputs(s->function ? " (" : "", out->file);
        text_offset(out, s);
        fputs(s->function ? ")" : "", out->file);
    } else {
        fprintf(out->file, "0x%" PRIx64 " (in no module: generated at run time, or an unwinder error)", s->address);
    }
    fprintf(out->file, label[0] ? " (%s)\n" : "%s\n", label);
}

void deadlock_write_stack(struct output *out, struct upmu_overview *o, uint32_t process, uint32_t id, uint64_t site)
{
    struct upmu_symbol s = {.size = sizeof s};
    unsigned number = 0;
    size_t i = 0;
    for (; upmu_overview_frame_at(o, process, id, i, &s) == 0; i++)
        deadlock_write_frame(out, &s, &number);
    if (i > 0)
        return;
    for (; site && upmu_overview_symbol_at(o, process, site, i, &s) == 0; i++)
        deadlock_write_frame(out, &s, &number);
    fputs("      (the call stack was not recorded)\n", out->file);
}

static void text_stack(struct output *out, const struct deadlock_report *r, uint32_t process, uint32_t id,
                       uint64_t site)
{
    deadlock_write_stack(out, upmu_deadlocks_overview(r->deadlocks), process, id, site);
}

/* The time of day, and how long ago. */
void deadlock_write_since(struct output *out, uint64_t ns)
{
    time_t seconds = (time_t)(ns / NS_PER_S);
    struct tm tm;
    char text[32];
    if (ns == 0 || !localtime_r(&seconds, &tm) || strftime(text, sizeof text, "%H:%M:%S", &tm) == 0)
        fputs("start not recorded", out->file);
    else
        fprintf(out->file, "since %s.%03u", text, (unsigned)(ns % NS_PER_S / NS_PER_MS));
}

static void text_held(struct output *out, const struct deadlock_report *r, const struct upmu_deadlock *d, size_t i,
                      size_t k)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    for (size_t n = 0; upmu_deadlocks_held_at(r->deadlocks, i, k, n, &h) == 0; n++) {
        if (h.lock == 0)
            continue;
        fprintf(out->file, "    holds %s", h.shared ? "for reading " : "");
        text_clean(out, deadlock_object(r, d->process, UPMU_OBJECT_NONE, h.lock));
        if (h.site == 0 && h.since_ns == 0) {
            fputs(", whose acquisition is not recorded", out->file);
        } else {
            fputs(", acquired at ", out->file);
            text_location(out, r, d->process, h.site);
            fputs(", ", out->file);
            deadlock_write_since(out, h.since_ns);
        }
        fputs(h.wanted ? " - other threads wait for it\n" : "\n", out->file);
        if (h.stack != 0)
            text_stack(out, r, d->process, h.stack, h.site);
    }
}

static void text_thread(struct output *out, const struct deadlock_report *r, const struct upmu_deadlock *d, size_t i,
                        size_t k, const struct upmu_deadlock_thread *t)
{
    fprintf(out->file, "  %s", output_style(out, STYLE_TITLE));
    text_clean(out, deadlock_thread_name(t->tid, t->name));
    fprintf(out->file, "%s ", output_plain(out));
    text_clean(out, deadlock_wait(r, d->process, t));
    fputs(", ", out->file);
    if (t->inspected)
        fputs("not recorded: found in the kernel and the lock", out->file);
    else
        deadlock_write_since(out, t->since_ns);
    fputc('\n', out->file);
    text_stack(out, r, d->process, t->stack, t->site);
    text_held(out, r, d, i, k);
    if (t->n_unlisted)
        fprintf(out->file, "    and holds %" PRIu32 " more locks that are not listed\n", t->n_unlisted);
}

static void deadlock_text_title(struct output *out, const struct upmu_deadlock *d)
{
    static const char *const words[] = {
        [UPMU_DEADLOCK_CERTAIN] = "deadlock",
        [UPMU_DEADLOCK_STALLED] = "stalled",
        [UPMU_DEADLOCK_BREAKABLE] = "waiting for a timeout",
        [UPMU_DEADLOCK_WAKEABLE] = "waiting for an external event",
    };
    char *headline = deadlock_headline(d);
    bool known = d->certainty >= 0 && (size_t)d->certainty < sizeof words / sizeof *words;
    fprintf(out->file, "%s%s%s [%s] in process %ld: %s\n",
            output_style(out, d->certainty == UPMU_DEADLOCK_CERTAIN ? STYLE_BAD : STYLE_WARNING),
            known ? words[d->certainty] : "?", output_plain(out), upmu_deadlock_kind_name(d->kind), (long)d->pid,
            headline);
    free(headline);
    if (d->could_end[0]) {
        fputs("  no thread can end it, but could be ended by: ", out->file);
        output_clean(out->file, d->could_end);
        fputc('\n', out->file);
    }
}

void deadlock_write_one(struct output *out, const struct deadlock_report *r, size_t i)
{
    struct upmu_deadlock d = {.size = sizeof d};
    struct upmu_deadlock_thread t = {.size = sizeof t};
    if (upmu_deadlocks_at(r->deadlocks, i, &d) != 0)
        return;
    deadlock_text_title(out, &d);
    (void)fflush(out->file); /* before the slow lookup of locations; an error is reported at close */
    if (d.owner) {
        fputs("  ", out->file);
        text_clean(out, deadlock_thread_name(d.owner, d.owner_name));
        fputs(" acquired it at ", out->file);
        text_location(out, r, d.process, d.owner_site);
        fputs(" and has ended\n", out->file);
    }
    for (size_t k = 0; upmu_deadlocks_thread_at(r->deadlocks, i, k, &t) == 0; k++) {
        if (k == d.n_threads)
            fputs("  blocked behind them:\n", out->file);
        text_thread(out, r, &d, i, k, &t);
    }
}

/* ------------------------------------------------------------------------------------------------- order of locks */

static void text_acquisition(struct output *out, const struct deadlock_report *r, size_t i, size_t k,
                             const struct upmu_lock_acquisition *t, bool whole)
{
    uint32_t process = t->process;
    fputs("  ", out->file);
    if (deadlock_cycle_spans(r, i))
        fprintf(out->file, "process %ld, ", (long)t->pid);
    text_clean(out, report_thread_text(&r->report, process, t->tid));
    fprintf(out->file, " acquires %s", t->shared ? "for reading " : "");
    text_clean(out, deadlock_cycle_lock(r, i, k, false));
    fprintf(out->file, "%s%s while holding %s", t->tried ? " with trylock" : "", t->timed ? " with a timeout" : "",
            t->held_shared ? "for reading " : "");
    text_clean(out, deadlock_cycle_lock(r, i, k, true));
    fputs(", acquired at ", out->file);
    text_location(out, r, process, t->held_site);
    fputc('\n', out->file);
    if (whole)
        text_stack(out, r, process, t->stack, 0);
    if (whole && t->held_stack != 0) {
        fputs("    the lock held was acquired:\n", out->file);
        text_stack(out, r, process, t->held_stack, 0);
    }
}

static void text_gates(struct output *out, const struct deadlock_report *r, uint32_t process, size_t i, size_t k)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    for (size_t n = 0; upmu_deadlocks_acquisition_held_at(r->deadlocks, i, k, n, &h) == 0; n++) {
        if (!h.wanted)
            continue;
        fputs("    prevented by ", out->file);
        text_clean(out, deadlock_object(r, process, UPMU_OBJECT_NONE, h.lock));
        fputs(", acquired at ", out->file);
        text_location(out, r, process, h.site);
        fputc('\n', out->file);
    }
}

static void text_cycle(struct output *out, const struct deadlock_report *r, size_t i, const struct upmu_lock_cycle *c)
{
    struct upmu_lock_acquisition t = {.size = sizeof t};
    bool inversion = c->class_number == UPMU_LOCK_INVERSION, reusable = false;
    char *headline = deadlock_cycle_headline(c);
    fprintf(out->file, "%slock order%s [%s] ", output_style(out, inversion ? STYLE_BAD : STYLE_DIM), output_plain(out),
            upmu_lock_cycle_class_name(c->class_number));
    if (deadlock_cycle_spans(r, i))
        fprintf(out->file, "across processes: %s\n", headline);
    else
        fprintf(out->file, "in process %ld: %s\n", (long)c->pid, headline);
    free(headline);
    for (size_t k = 0; upmu_deadlocks_acquisition_at(r->deadlocks, i, k, &t) == 0; k++) {
        reusable |= t.reusable;
        text_acquisition(out, r, i, k, &t, inversion);
        if (c->class_number == UPMU_LOCK_GATED)
            text_gates(out, r, t.process, i, k);
    }
    if (reusable && inversion)
        fputs("  note: no initialization of these locks is recorded: where the program reuses their memory without "
              "free(),\n"
              "  an address may have been several locks\n",
              out->file);
}

static void text_order(struct output *out, const struct deadlock_report *r, bool any, size_t suppressed)
{
    struct upmu_deadlocks_totals order = {.size = sizeof order};
    const char *other = suppressed > 0 ? "other " : "";
    if (suppressed > 0)
        fprintf(out->file, "%zu finding%s suppressed\n", suppressed, suppressed > 1 ? "s are" : " is");
    if (upmu_deadlocks_totals_read(r->deadlocks, &order) != 0)
        return;
    if (!any)
        fprintf(out->file, "no %sdeadlock in %s, and no %slock-order inversion among %" PRIu64 " nested acquisitions\n",
                other, r->subject, other, order.acquisitions);
    if (order.without_wait_state)
        fprintf(out->file, "%" PRIu32 " of the processes have no wait-state files\n", order.without_wait_state);
    if (order.counted)
        fprintf(out->file,
                "lock order is not recorded in mode counts: %" PRIu32 " process%s in it, at least for a time\n",
                order.counted, order.counted > 1 ? "es were" : " was");
    if (order.incomplete)
        fprintf(out->file, "%" PRIu64 " nested acquisitions were recorded incompletely and are left out\n",
                order.incomplete);
    if (order.truncated)
        fputs("the search for inversions was stopped early: there may be more\n", out->file);
}

void deadlock_write_text(struct output *out, const struct deadlock_report *r)
{
    struct upmu_deadlock d = {.size = sizeof d};
    struct upmu_lock_cycle c = {.size = sizeof c};
    bool any = false;
    size_t suppressed = 0;
    for (size_t i = 0; upmu_deadlocks_at(r->deadlocks, i, &d) == 0; i++) {
        suppressed += d.suppressed;
        if (d.suppressed)
            continue;
        fputs(any ? "\n" : "", out->file);
        deadlock_write_one(out, r, i);
        any = true;
    }
    for (size_t i = 0; upmu_deadlocks_cycle_at(r->deadlocks, i, &c) == 0; i++) {
        suppressed += c.suppressed;
        if (c.suppressed)
            continue;
        fputs(any ? "\n" : "", out->file);
        text_cycle(out, r, i, &c);
        any = true;
    }
    if (any && suppressed > 0)
        fputc('\n', out->file);
    struct upmu_mpi_deadlock m = {.size = sizeof m};
    for (size_t i = 0; r->mpi && upmu_mpi_deadlock_at(r->mpi, i, &m) == 0; i++) {
        fputs(any ? "\n" : "", out->file);
        mpi_write_deadlock(out, upmu_deadlocks_overview(r->deadlocks), r->mpi, i);
        any = true;
    }
    text_order(out, r, any, suppressed);
}
