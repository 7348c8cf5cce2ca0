/* SPDX-License-Identifier: MIT */
/*
 * Methods view and detect: rows of the documents of `upmu report --json` and `upmu deadlock --json`.
 *
 * The document is kept, so that the rows of all pages are of the same moment: a request from row 0 on makes a new one unless the
 * recording has ended. The timeline has a document for each filter.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "serve.h"
#include "ui/command.h"
#include "ui/memory.h"
#include "upmu/control.h"

enum { ROWS_DEFAULT = 100, ROWS_MAX = 1000000, REPLY_HEAD = 8 << 10 };
/* Rows of a timeline's document: with a stack of 20 frames one has 4 KiB, so that they fit into SERVE_DOCUMENT_MAX. */
#define TIMELINE_ROWS "4000"
#define FUNCTION_ROWS "10000"

struct view {
    const char *name;
    const char *command;
    const char *outer, *member; /* where its rows are in the document */
};

static const struct view views[] = {
    {"overview", "report", NULL, NULL},
    {"findings", "report", NULL, "findings"},
    {"processes", "report", NULL, "processes"},
    {"threads", "report", NULL, "threads"},
    {"locks", "report", NULL, "objects"},
    {"regions", "report", NULL, "regions"},
    {"pairs", "report", NULL, "pairs"},
    {"wake-ups", "report", NULL, "wake_ups"},
    {"kernel-locks", "report", NULL, "kernel_locks"},
    {"paths", "report", NULL, "paths"},
    {"timeline", "timeline", NULL, "rows"},
    {"deadlocks", "deadlock", NULL, "deadlocks"},
    {"inversions", "deadlock", "lock_order", "cycles"},
    {"functions", "samples", NULL, "functions"},
};
enum { N_VIEWS = sizeof views / sizeof *views };

static const struct view *view_named(const char *name)
{
    for (int i = 0; i < N_VIEWS; i++)
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    return NULL;
}

void view_names(struct textbuf *j)
{
    for (int i = 0; i < N_VIEWS; i++)
        json_string(j, NULL, views[i].name);
}

void view_forget(struct client *c)
{
    bytes_free(&c->document.text);
    free(c->document.filter);
    c->document = (struct view_document){0};
}

/* ------------------------------------------------------------------------------------------------------ the reply */

static struct json_slice view_table(const struct view_document *d, const struct view *view)
{
    return json_find(view->outer ? json_find(d->root, view->outer) : d->root, view->member);
}

/* Rows from `from` on, as many as are wanted and fit into a line. @return the number of the row behind them. */
static size_t view_cut(struct json_slice table, size_t from, size_t most, struct bytes *rows)
{
    struct json_rest rest = json_elements(table);
    struct json_slice row;
    size_t i = 0;
    bytes_add(rows, "[", 1);
    for (; i < from && json_next(&rest, NULL, &row); i++)
        ;
    while (i - from < most && json_next(&rest, NULL, &row)) {
        size_t before = rows->n;
        if (i > from)
            bytes_add(rows, ",", 1);
        bytes_add_json(rows, row);
        if (rows->n > SERVE_LINE_MAX - REPLY_HEAD) {
            rows->n = before;
            break;
        }
        i++;
    }
    bytes_add(rows, "]", 1);
    return i;
}

static void view_overview(struct textbuf *j, const struct view_document *d)
{
    static const char *const members[] = {"totals", "damages", "processes", "findings"};
    json_object(j, "overview");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct bytes text = {0};
        bytes_add_json(&text, json_find(d->root, members[i]));
        json_raw(j, members[i], text.data, text.n);
        bytes_free(&text);
    }
    json_object_end(j);
}

/* @return false if not even one row fits. */
static bool view_rows(struct textbuf *j, const struct view_document *d, const struct view *view, size_t from,
                      size_t most)
{
    struct json_slice table = view_table(d, view);
    struct bytes rows = {0};
    size_t n = json_count(table), end = view_cut(table, from, most, &rows);
    int64_t total = (int64_t)n;
    (void)json_integer(json_find(d->root, "matched"), 0, INT64_MAX, &total); /* a timeline's document ends early */
    json_int(j, "total", total);
    json_uint(j, "from", from);
    json_uint_if(j, "next", end < n, end);
    json_raw(j, "rows", rows.data, rows.n);
    bytes_free(&rows);
    return end > from || from >= n || most == 0;
}

static void view_reply(struct client *c, const char *id, size_t id_length, const struct job *how, const char *warnings)
{
    struct reply r;
    bool fits = true;
    reply_begin(&r, id, id_length);
    json_int(&r.json, "target", how->target);
    json_string(&r.json, "view", how->view->name);
    if (how->view->member)
        fits = view_rows(&r.json, &c->document, how->view, how->from, how->rows);
    else
        view_overview(&r.json, &c->document);
    json_string(&r.json, "warnings", warnings && warnings[0] ? warnings : NULL);
    if (fits) {
        reply_end(&r, c, id, id_length);
        return;
    }
    textbuf_free(&r.json);
    reply_error(c, id, id_length, SERVE_E_LIMIT, "export the recording to a file", "row %zu has more than %d bytes",
                how->from, SERVE_LINE_MAX);
}

/* -------------------------------------------------------------------------------------------------- the document */

/* Keep the JSON document that the child process wrote. @return false after an error reply. */
static bool view_keep(struct job *job, int status)
{
    struct client *c = job->client;
    struct json_slice root;
    bool is_document = job->output.n > 0 && !json_read(job->output.data, job->output.n, &root);
    if (!is_document) {
        char *message = job_message(job);
        reply_error(c, job->id, strlen(job->id), SERVE_E_FAILED, NULL, "%s",
                    message[0] ? message : "the recording cannot be read");
        free(message);
        return false;
    }
    view_forget(c);
    c->document = (struct view_document){
        .target = job->target, .command = job->command, .filter = job->filter, .text = job->output, .root = root};
    job->filter = NULL;
    job->output = (struct bytes){0};
    return WIFEXITED(status);
}

static void view_done(struct job *job, int status)
{
    if (!view_keep(job, status))
        return;
    char *warnings = job_message(job);
    view_reply(job->client, job->id, strlen(job->id), job, warnings);
    free(warnings);
}

static void detect_done(struct job *job, int status)
{
    if (!view_keep(job, status))
        return;
    struct reply r;
    struct client *c = job->client;
    size_t n = strlen(job->id);
    char *warnings = job_message(job);
    reply_begin(&r, job->id, n);
    json_int(&r.json, "target", job->target);
    json_bool(&r.json, "found", WEXITSTATUS(status) == EXIT_FOUND);
    json_bool(&r.json, "stalled", WEXITSTATUS(status) == EXIT_STALLED);
    json_uint(&r.json, "inversions", json_count(view_table(&c->document, view_named("inversions"))));
    bool fits = view_rows(&r.json, &c->document, job->view, 0, job->rows);
    json_string(&r.json, "warnings", warnings[0] ? warnings : NULL);
    free(warnings);
    if (!fits)
        json_string(&r.json, "note", "the first deadlock is too large for a line: export the recording");
    reply_end(&r, c, job->id, n);
}

static bool is_running(const struct target *t)
{
    struct upmu_control *control = NULL;
    struct upmu_control_status s = {.size = sizeof s};
    bool found = false;
    if (!t->dir)
        return true;
    if (upmu_control_open(&control, t->dir) == 0)
        for (size_t i = 0; i < upmu_control_process_count(control) && !found; i++)
            found = upmu_control_status_read(control, i, &s) == 0 && s.running;
    upmu_control_close(control);
    return found;
}

/* Functions by their samples: of a process without a recorder, too, once it is sampled. */
static bool view_is_samples(const struct job *how)
{
    return strcmp(how->command, "samples") == 0;
}

static void view_start(const struct request *q, const struct target *t, struct job *how)
{
    char pid[24];
    snprintf(pid, sizeof pid, "%d", (int)t->pid);
    const char *const words[] = {how->command, "--json", t->dir ? t->dir : pid, NULL};
    const char *const samples[] = {
        "report", "--json", "--samples", "--top", FUNCTION_ROWS, t->dir ? t->dir : t->samples, NULL};
    how->target = t->id;
    (void)job_start(q, how, view_is_samples(how) ? samples : words); /* it has replied if it failed */
}

/* --------------------------------------------------------------------------------------------------- the timeline */

enum { N_FILTERS = 5 };
static const char *const filters[N_FILTERS][2] = {
    {"type", "--type"}, {"thread", "--thread"}, {"lock", "--lock"}, {"begin", "--from"}, {"end", "--to"}};

/* The texts of the parameters that select rows of a timeline, to be freed. @return false after an error reply. */
static bool timeline_params(const struct request *q, char *texts[N_FILTERS])
{
    bool valid = true;
    for (int i = 0; i < N_FILTERS; i++)
        valid = param_text(q, filters[i][0], &texts[i]) && valid;
    return valid;
}

/* What the parameters select, as a key that is the same for the same rows. */
static char *timeline_filter(char *const texts[N_FILTERS])
{
    char *key = memory_copy("");
    for (int i = 0; i < N_FILTERS; i++) {
        char *longer = memory_format("%s%zu:%s", key, texts[i] ? strlen(texts[i]) + 1 : 0, texts[i] ? texts[i] : "");
        free(key);
        key = longer;
    }
    return key;
}

static void timeline_start(const struct request *q, const struct target *t, struct job *how,
                           char *const texts[N_FILTERS])
{
    const char *words[8 + 2 * N_FILTERS] = {"report", "--json", "--view", "timeline", "--top", TIMELINE_ROWS};
    size_t n = 6;
    for (int i = 0; i < N_FILTERS; i++)
        if (texts[i]) {
            words[n++] = filters[i][1];
            words[n++] = texts[i];
        }
    words[n] = t->dir;
    if (job_start(q, how, words))
        how->filter = NULL; /* it is the job's now */
}

/* ---------------------------------------------------------------------------------------------------- the methods */

/* @return whether the document that the client has is the one that `how` would make. */
static bool view_is_kept(const struct client *c, const struct target *t, const struct job *how)
{
    const struct view_document *d = &c->document;
    return d->target == t->id && strcmp(d->command, how->command) == 0 &&
           strcmp(d->filter ? d->filter : "", how->filter ? how->filter : "") == 0 && (how->from > 0 || !is_running(t));
}

static void view_of(const struct request *q, const struct target *t, struct job *how, char *const texts[N_FILTERS])
{
    bool is_timeline = strcmp(how->command, "timeline") == 0;
    if (is_timeline)
        how->filter = timeline_filter(texts);
    if (view_is_kept(q->client, t, how))
        view_reply(q->client, q->id.text, q->id.length, how, NULL);
    else if (!t->dir && view_is_samples(how) && !t->samples)
        request_fail(q, SERVE_E_FAILED, "start its target first", "process %d is not being sampled", (int)t->pid);
    else if (!t->dir && !view_is_samples(how) && strcmp(how->command, "deadlock") != 0)
        request_fail(q, SERVE_E_FAILED, "start the program with the method start",
                     "process %d is not being recorded: it has no views but deadlocks and functions", (int)t->pid);
    else if (is_timeline)
        timeline_start(q, t, how, texts);
    else
        view_start(q, t, how);
    free(how->filter);
}

void method_view(const struct request *q)
{
    int64_t from = 0, limit = ROWS_DEFAULT;
    char *name, *texts[N_FILTERS] = {NULL};
    if (!param_text(q, "view", &name))
        return;
    struct job how = {.view = name ? view_named(name) : NULL, .done = view_done};
    free(name);
    if (!how.view) {
        request_fail(q, SERVE_E_PARAMS, "hello lists the views", "\"view\" is missing or unknown");
        return;
    }
    const struct target *t = param_target(q);
    if (t && param_integer(q, "from", 0, ROWS_MAX, &from) && param_integer(q, "limit", 0, ROWS_MAX, &limit) &&
        timeline_params(q, texts)) {
        how.target = t->id;
        how.command = how.view->command;
        how.from = (size_t)from;
        how.rows = (size_t)limit;
        view_of(q, t, &how, texts);
    }
    for (int i = 0; i < N_FILTERS; i++)
        free(texts[i]);
}

void method_detect(const struct request *q)
{
    struct job how = {
        .view = view_named("deadlocks"), .command = "deadlock", .rows = ROWS_DEFAULT, .done = detect_done};
    const struct target *t = param_target(q);
    if (t)
        view_start(q, t, &how);
}
