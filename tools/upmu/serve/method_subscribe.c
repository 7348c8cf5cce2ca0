/* SPDX-License-Identifier: MIT */
/*
 * Methods subscribe and unsubscribe: what `upmu top --json` prints, as notices.
 *
 * While more than SERVE_QUEUE_HIGH bytes are queued for a client, whole updates are dropped, and the next one that it gets has
 * their number.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "serve.h"
#include "ui/memory.h"

enum { INTERVAL_LEAST = 100, INTERVAL_MOST = 3600 * 1000, INTERVAL_USUAL = 1000, ROWS_USUAL = 100, ROWS_MOST = 10000 };

/* The document with at most `rows` rows of each table, and how many rows there are. */
static void tick_document(struct bytes *to, struct json_slice document, size_t rows)
{
    struct json_rest rest = json_elements(document);
    struct json_slice key, value;
    char text[64];
    bytes_add(to, "{", 1);
    while (json_next(&rest, &key, &value)) {
        if (to->data[to->n - 1] != '{')
            bytes_add(to, ",", 1);
        bytes_add(to, key.text, key.length);
        bytes_add(to, ":", 1);
        if (!json_is_array(value)) {
            bytes_add_json(to, value);
            continue;
        }
        struct json_rest elements = json_elements(value);
        struct json_slice row;
        bytes_add(to, "[", 1);
        for (size_t i = 0; i < rows && json_next(&elements, NULL, &row); i++) {
            bytes_add(to, ",", i > 0);
            bytes_add_json(to, row);
        }
        int n = snprintf(text, sizeof text, "],\"all_%.*s\":%zu", (int)key.length - 2, key.text + 1, json_count(value));
        bytes_add(to, text, (size_t)n);
    }
    bytes_add(to, "}", 1);
}

static void tick_send(struct job *job, const char *line, size_t length)
{
    struct json_slice document;
    struct bytes shown = {0};
    struct reply r;
    if (json_read(line, length, &document)) {
        job->dropped++;
        return;
    }
    tick_document(&shown, document, job->rows);
    if (shown.n < SERVE_LINE_MAX - 512) {
        notice_begin(&r, "update");
        json_int(&r.json, "subscription", job->number);
        json_uint(&r.json, "dropped", job->dropped);
        json_raw(&r.json, "top", shown.data, shown.n);
        notice_end(&r, job->client);
    } else {
        job->dropped++;
    }
    bytes_free(&shown);
}

static void feed_read(struct job *job)
{
    const char *end;
    while (job->output.n > 0 && (end = memchr(job->output.data, '\n', job->output.n)) != NULL) {
        size_t length = (size_t)(end - job->output.data);
        if (job->client->output.n > SERVE_QUEUE_HIGH)
            job->dropped++;
        else
            tick_send(job, job->output.data, length);
        bytes_drop(&job->output, length + 1);
    }
}

static void feed_done(struct job *job, int status)
{
    struct reply r;
    char *message = job_message(job);
    bool is_fault = !job->canceled && (!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    notice_begin(&r, "end");
    json_int(&r.json, "subscription", job->number);
    json_uint(&r.json, "dropped", job->dropped);
    json_string(&r.json, "problem", !is_fault ? NULL : message[0] ? message : "upmu top was ended");
    notice_end(&r, job->client);
    free(message);
}

static void feed_start(const struct request *q, struct job *how, const struct target *t, int64_t interval,
                       const char *events)
{
    char pid[24], seconds[32];
    struct reply r;
    snprintf(pid, sizeof pid, "%d", (int)t->pid);
    snprintf(seconds, sizeof seconds, "%" PRId64 ".%03d", interval / 1000, (int)(interval % 1000));
    const char *const words[] = {"top", "--json", "-p", pid, "-i", seconds, events ? "-e" : NULL, events, NULL};
    how->target = t->id;
    how->number = q->client->next_feed + 1;
    if (!job_start(q, how, words))
        return;
    q->client->next_feed++;
    reply_begin(&r, q->id.text, q->id.length);
    json_int(&r.json, "subscription", how->number);
    reply_end(&r, q->client, q->id.text, q->id.length);
}

void method_subscribe(const struct request *q)
{
    struct job how = {.command = "top", .read = feed_read, .done = feed_done};
    int64_t interval = INTERVAL_USUAL, rows = ROWS_USUAL;
    char *events;
    const struct target *t = param_target(q);
    if (!t || !param_integer(q, "interval_ms", INTERVAL_LEAST, INTERVAL_MOST, &interval) ||
        !param_integer(q, "rows", 0, ROWS_MOST, &rows) || !param_text(q, "events", &events))
        return;
    how.rows = (size_t)rows;
    if (t->pid == 0)
        request_fail(q, SERVE_E_FAILED, NULL, "the recording has more than one process: attach to one of them");
    else
        feed_start(q, &how, t, interval, events);
    free(events);
}

void method_unsubscribe(const struct request *q)
{
    const struct server *s = q->client->server;
    int64_t number = 0;
    struct reply r;
    bool found = false;
    if (!param_integer(q, "subscription", 1, INT64_MAX, &number))
        return;
    for (size_t i = 0; i < s->n_jobs; i++)
        if (s->jobs[i]->client == q->client && s->jobs[i]->number == number && number > 0) {
            job_cancel(s->jobs[i]);
            found = true;
        }
    reply_begin(&r, q->id.text, q->id.length);
    json_bool(&r.json, "unsubscribed", found);
    reply_end(&r, q->client, q->id.text, q->id.length);
}
