/* SPDX-License-Identifier: MIT */
/* Whether a command's seccomp filters allow the system calls of a recording. */
#include "doctor_filters.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text/textbuf.h"
#include "doctor_command.h"
#include "ui/memory.h"

struct filters {
    int (*found)(const struct upmu_diagnosis *f, void *arg);
    void *arg;
    int rc;
    size_t n;
    char **reported; /* each text once: many threads may install the same filter */
    size_t n_reported;
};

/* Names of calls, each once. */
struct filter_names {
    struct textbuf text;
    const char *last;
};

struct filter_result {
    struct filter_names killed, killed_counting, killed_at_start, refused, asked;
};

static void names_add(struct filter_names *names, const char *name)
{
    if (names->last && strcmp(names->last, name) == 0)
        return; /* another set of arguments */
    textbuf_printf(&names->text, "%s%s", names->last ? ", " : "", name);
    names->last = name;
}

static int filter_call(const struct upmu_filter_call *c, void *arg)
{
    struct filter_result *r = arg;
    if (c->answer == UPMU_FILTER_KILLED)
        names_add(c->later ? &r->killed : c->with_counters ? &r->killed_counting : &r->killed_at_start, c->name);
    else if (c->answer == UPMU_FILTER_REFUSED)
        names_add(&r->refused, c->name);
    else if (c->answer == UPMU_FILTER_ASKED)
        names_add(&r->asked, c->name);
    return 0;
}

static void filters_report(struct filters *f, int state, const char *text, const char *remedy)
{
    for (size_t i = 0; i < f->n_reported; i++)
        if (strcmp(f->reported[i], text) == 0)
            return;
    f->reported = memory_resize(f->reported, f->n_reported + 1, sizeof *f->reported);
    f->reported[f->n_reported++] = memory_copy(text);
    const struct upmu_diagnosis d = {.topic = "seccomp", .state = state, .text = text, .remedy = remedy};
    if (f->rc == 0)
        f->rc = f->found(&d, f->arg);
}

static void filters_names_free(struct filter_result *r)
{
    textbuf_free(&r->killed.text);
    textbuf_free(&r->killed_counting.text);
    textbuf_free(&r->killed_at_start.text);
    textbuf_free(&r->refused.text);
    textbuf_free(&r->asked.text);
}

#define UNSEEN "the recorder cannot see that, because the call does not come from the C library: "

static void filters_report_filter(struct filters *f, const struct restricted *r, const char *name)
{
    struct filter_result result = {0};
    struct textbuf b = {0};
    int state = UPMU_DIAGNOSIS_OK;
    (void)upmu_filter_judge(r->program, r->n, filter_call, &result); /* the arguments are valid */
    textbuf_printf(&b, "%s installs a seccomp filter of %u instructions: ", name, r->n);
    if (result.killed.last) {
        state = UPMU_DIAGNOSIS_MISSING;
        textbuf_printf(&b,
                       r->bypasses_libc ? UNSEEN "a recorded process would be ended for %s"
                                        : "recording ends there, because it would end the process for %s",
                       result.killed.text.data);
    } else if (result.killed_counting.last) {
        state = UPMU_DIAGNOSIS_LIMITED;
        textbuf_printf(
            &b,
            r->bypasses_libc
                ? UNSEEN "a process recorded with counters would be ended for %s"
                : "recording continues; one with counters ends there, because it would end the process for %s",
            result.killed_counting.text.data);
    } else if (result.refused.last || result.asked.last) {
        state = UPMU_DIAGNOSIS_LIMITED;
        textbuf_printf(&b, "recording continues%s%s%s%s; events that are lost by that are counted",
                       result.refused.last ? " and finds errors in " : "",
                       result.refused.last ? result.refused.text.data : "",
                       result.asked.last ? ", while another process decides about " : "",
                       result.asked.last ? result.asked.text.data : "");
    } else {
        textbuf_printf(&b, "it allows all system calls of a recording");
    }
    if (result.killed_at_start.last)
        textbuf_printf(&b, "; programs executed under it cannot be recorded (%s)", result.killed_at_start.text.data);
    if (!b.failed)
        filters_report(f, state, b.data, state == UPMU_DIAGNOSIS_OK ? "" : "run it without its sandbox");
    textbuf_free(&b);
    filters_names_free(&result);
}

static void filters_found(const struct restricted *r, void *arg)
{
    struct filters *f = arg;
    const char *name = r->name[0] ? r->name : "a thread";
    const char *consequence = r->bypasses_libc ? UNSEEN "a recorded process would be ended" : "recording ends there";
    char *text = NULL;
    f->n++;
    if (r->kind == RESTRICTION_FILTER && r->program) {
        filters_report_filter(f, r, name);
        return;
    }
    if (r->kind == RESTRICTION_FILTER)
        text = memory_format("%s installs a seccomp filter that could not be read", name);
    else if (r->kind == RESTRICTION_STRICT)
        text = memory_format("%s enters the strict mode of seccomp: %s", name, consequence);
    else
        text = memory_format("%s disables time stamps (PR_SET_TSC): %s", name, consequence);
    filters_report(f, r->kind == RESTRICTION_FILTER ? UPMU_DIAGNOSIS_LIMITED : UPMU_DIAGNOSIS_MISSING, text,
                   "run it without its sandbox");
    free(text);
}

int doctor_filters(char **argv, int (*found)(const struct upmu_diagnosis *f, void *arg), void *arg, int *status)
{
    struct filters f = {.found = found, .arg = arg};
    int result = doctor_watch(argv, filters_found, &f, status);
    if (result >= 0 && f.n == 0)
        filters_report(&f, UPMU_DIAGNOSIS_OK, "the command does not restrict its system calls", "");
    char *ended = result < 0            ? NULL
                  : WIFSIGNALED(result) ? memory_format("the command was ended by signal %d (%s)", WTERMSIG(result),
                                                        strsignal(WTERMSIG(result)))
                                        : memory_format("the command ended with status %d", WEXITSTATUS(result));
    if (ended)
        filters_report(&f, UPMU_DIAGNOSIS_INFO, ended, "");
    free(ended);
    for (size_t i = 0; i < f.n_reported; i++)
        free(f.reported[i]);
    free(f.reported);
    return result < 0 ? -1 : f.rc;
}
