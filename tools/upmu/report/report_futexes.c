/* SPDX-License-Identifier: MIT */
/* Futex waits outside of recorded waits. */
#include <inttypes.h>
#include <string.h>

#include "ui/json.h"
#include "report.h"

enum { NAMED_MAX = 3 };

/* Of one process. */
struct futexes {
    uint64_t waits, outside;
    size_t known, unknown; /* threads */
    size_t n_threads;      /* with waits outside */
    struct {
        pid_t tid;
        uint64_t outside;
    } most[NAMED_MAX];
    bool switches_recorded;
};

/* Those with most come first. */
static void futexes_name_thread(struct futexes *f, pid_t tid, uint64_t outside)
{
    size_t at = f->n_threads < NAMED_MAX ? f->n_threads : NAMED_MAX;
    f->n_threads++;
    while (at > 0 && f->most[at - 1].outside < outside) {
        if (at < NAMED_MAX)
            f->most[at] = f->most[at - 1];
        at--;
    }
    if (at < NAMED_MAX) {
        f->most[at].tid = tid;
        f->most[at].outside = outside;
    }
}

static struct futexes futexes_count(const struct report *r, size_t process)
{
    struct futexes f = {.known = 0};
    struct upmu_overview_thread t = {.size = sizeof t};
    struct upmu_overview_sched s = {.size = sizeof s};
    for (size_t i = 0; upmu_overview_thread_at(r->overview, i, &t) == 0; i++) {
        if (t.process != process || upmu_overview_sched_at(r->overview, i, &s) != 0)
            continue;
        f.switches_recorded |= s.recorded != 0;
        f.known += s.futexes_counted != 0;
        f.unknown += s.futexes_counted == 0;
        if (!s.futexes_counted)
            continue;
        uint64_t outside = s.futex_waits > s.futex_recorded ? s.futex_waits - s.futex_recorded : 0;
        f.waits += s.futex_waits;
        f.outside += outside;
        if (outside)
            futexes_name_thread(&f, t.tid, outside);
    }
    return f;
}

#define NOT_ASKED "they are counted only by 'upmu record --sched' as root"

/* Why there is no count of some threads, or of any. */
static const char *futexes_reason(const struct futexes *f, const struct upmu_trace_process *p)
{
    if (p->futex_note[0])
        return p->futex_note;
    if (p->sched_note[0])
        return p->sched_note;
    if (f->switches_recorded || f->known)
        return "they ended or were killed before the count was written";
    return NOT_ASKED;
}

static void futexes_text_known(struct output *out, const struct futexes *f)
{
    fprintf(out->file, "    futex waits counted by the kernel: %" PRIu64 ", ", f->waits);
    if (f->outside == 0) {
        fputs("all within recorded waits", out->file);
        return;
    }
    fprintf(out->file, "%s%" PRIu64 " outside of recorded waits%s (", output_style(out, STYLE_WARNING), f->outside,
            output_plain(out));
    for (size_t i = 0; i < f->n_threads && i < NAMED_MAX; i++)
        fprintf(out->file, "%sthread %ld: %" PRIu64, i ? ", " : "", (long)f->most[i].tid, f->most[i].outside);
    if (f->n_threads > NAMED_MAX)
        fprintf(out->file, ", and %zu more", f->n_threads - NAMED_MAX);
    fputs(")\n      from locks that are not traced, such as the C library's own, or in times when "
          "recording was paused or in mode counts",
          out->file);
}

bool report_text_futexes(struct output *out, const struct report *r, size_t process, const struct upmu_trace_process *p)
{
    struct futexes f = futexes_count(r, process);
    const char *reason = futexes_reason(&f, p);
    if (f.known + f.unknown == 0)
        return true;
    if (f.known == 0 && strcmp(reason, NOT_ASKED) == 0)
        return false;
    if (f.known)
        futexes_text_known(out, &f);
    if (f.known && f.unknown)
        fprintf(out->file, "\n      unknown for %zu %s: ", f.unknown, f.unknown == 1 ? "thread" : "threads");
    else if (f.unknown)
        fputs("    futex waits that are not traced: unknown, because ", out->file);
    if (f.unknown)
        output_clean(out->file, reason);
    fputc('\n', out->file);
    return true;
}

void report_text_no_futexes(struct output *out)
{
    fputs("  futex waits that are not traced: unknown, because " NOT_ASKED "\n", out->file);
}

void report_json_futexes(struct textbuf *j, const struct report *r, size_t process, const struct upmu_trace_process *p)
{
    struct futexes f = futexes_count(r, process);
    json_object(j, "futexes");
    json_uint_if(j, "waits", f.known > 0, f.waits);
    json_uint_if(j, "not_recorded", f.known > 0, f.outside);
    json_uint(j, "threads_known", f.known);
    json_uint(j, "threads_unknown", f.unknown);
    json_string(j, "unknown_because", f.unknown ? futexes_reason(&f, p) : NULL);
    json_object_end(j);
}
