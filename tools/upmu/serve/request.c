/* SPDX-License-Identifier: MIT */
/* Requests of the protocol: the line, the table of methods, and those without a target. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"
#include "upmu/upmu.h"

enum { ID_MAX = 64 };

static void method_hello(const struct request *q);

static const struct method {
    const char *name;
    void (*run)(const struct request *q);
    bool for_browsers; /* what a page may ask for; `export` then goes to the server's own folder */
} methods[] = {
    {"hello", method_hello, true},         {"attach", method_attach, false},
    {"detach", method_detach, false},      {"status", method_status, true},
    {"start", method_start, false},        {"stop", method_stop, true},
    {"detect", method_detect, true},       {"view", method_view, true},
    {"subscribe", method_subscribe, true}, {"unsubscribe", method_unsubscribe, true},
    {"export", method_export, true},       {"cancel", method_cancel, true},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

static bool protocol_is_known(const struct request *q, const char *wanted)
{
    if (!wanted || strncmp(wanted, SERVE_PROTOCOL, strcspn(SERVE_PROTOCOL, ".") + 1) == 0)
        return true;
    request_fail(q, SERVE_E_VERSION, "use a client of protocol 1",
                 "this server has protocol " SERVE_PROTOCOL ", the client wants %s", wanted);
    return false;
}

static void method_hello(const struct request *q)
{
    struct reply r;
    char *wanted;
    if (!param_text(q, "protocol", &wanted))
        return;
    if (protocol_is_known(q, wanted)) {
        reply_begin(&r, q->id.text, q->id.length);
        json_string(&r.json, "protocol", SERVE_PROTOCOL);
        json_string(&r.json, "upmu_version", upmu_version());
        json_int(&r.json, "pid", getpid());
        json_array(&r.json, "methods");
        for (int i = 0; i < N_METHODS; i++)
            if (q->client->kind == CLIENT_LINES || methods[i].for_browsers)
                json_string(&r.json, NULL, methods[i].name);
        json_array_end(&r.json);
        json_array(&r.json, "views");
        view_names(&r.json);
        json_array_end(&r.json);
        json_object(&r.json, "limits");
        json_int(&r.json, "line", SERVE_LINE_MAX);
        json_int(&r.json, "targets", SERVE_TARGETS_MAX);
        json_int(&r.json, "requests", SERVE_JOBS_MAX);
        json_int(&r.json, "subscriptions", SERVE_FEEDS_MAX);
        json_object_end(&r.json);
        if (q->client->n_targets > 0 && q->client->targets[0].is_given)
            json_int(&r.json, "target", q->client->targets[0].id);
        reply_end(&r, q->client, q->id.text, q->id.length);
    }
    free(wanted);
}

void method_cancel(const struct request *q)
{
    const struct server *s = q->client->server;
    struct json_slice id = json_find(q->params, "id");
    struct reply r;
    bool found = false;
    if (!id.text) {
        request_fail(q, SERVE_E_PARAMS, NULL, "\"id\" is missing: that of the request to cancel");
        return;
    }
    for (size_t i = 0; i < s->n_jobs && !found; i++) {
        struct job *job = s->jobs[i];
        found = job->client == q->client && job->id && !job->child && strlen(job->id) == id.length &&
                memcmp(job->id, id.text, id.length) == 0;
        if (found)
            job_cancel(job);
    }
    reply_begin(&r, q->id.text, q->id.length);
    json_bool(&r.json, "canceled", found);
    reply_end(&r, q->client, q->id.text, q->id.length);
}

/* A whole number or a short string. */
static bool request_id_is_valid(struct json_slice id)
{
    int64_t n;
    return id.text && id.length <= ID_MAX && (json_is_string(id) || json_integer(id, INT64_MIN, INT64_MAX, &n));
}

static void request_dispatch(const struct request *q, struct json_slice name)
{
    for (int i = 0; i < N_METHODS; i++) {
        if (!json_equals(name, methods[i].name))
            continue;
        if (q->client->kind == CLIENT_EVENTS && !methods[i].for_browsers)
            request_fail(q, SERVE_E_DENIED, "hello lists the methods for this client",
                         "%s: browsers must not call this method", methods[i].name);
        else
            methods[i].run(q);
        return;
    }
    request_fail(q, SERVE_E_METHOD, "hello lists the methods", "there is no method %.*s",
                 name.length < ID_MAX ? (int)name.length : ID_MAX, name.text);
}

void request_line(struct client *c, const char *line, size_t length)
{
    struct request q = {.client = c};
    struct json_slice root, method;
    if (length == 0 || (length == 1 && line[0] == '\r'))
        return;
    const char *problem = json_read(line, length, &root);
    if (problem) {
        reply_error(c, NULL, 0, SERVE_E_PARSE, NULL, "the line is not JSON: %s", problem);
        return;
    }
    q.id = json_find(root, "id");
    q.params = json_find(root, "params");
    method = json_find(root, "method");
    if (!request_id_is_valid(q.id))
        reply_error(c, NULL, 0, SERVE_E_REQUEST, NULL,
                    "a request is an object with an \"id\": a whole number, or a string of at most %d bytes", ID_MAX);
    else if (!json_is_string(method))
        request_fail(&q, SERVE_E_REQUEST, NULL, "\"method\" is missing");
    else if (q.params.text && !json_is_object(q.params))
        request_fail(&q, SERVE_E_PARAMS, NULL, "\"params\" is not an object");
    else
        request_dispatch(&q, method);
}
