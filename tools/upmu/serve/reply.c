/* SPDX-License-Identifier: MIT */
/* Replies and notices of the protocol, one line each. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"
#include "ui/memory.h"

static void message_begin(struct reply *r)
{
    r->json = (struct textbuf){0};
    json_object(&r->json, NULL);
    json_string(&r->json, "jsonrpc", "2.0");
}

static void message_close(struct reply *r)
{
    json_object_end(&r->json);
    memory_or_exit(r->json.failed ? NULL : r->json.data);
}

static void message_id(struct textbuf *j, const char *id, size_t length)
{
    if (id)
        json_raw(j, "id", id, length);
    else
        json_null(j, "id");
}

void reply_begin(struct reply *r, const char *id, size_t id_length)
{
    message_begin(r);
    message_id(&r->json, id, id_length);
    json_object(&r->json, "result");
}

void reply_end(struct reply *r, struct client *c, const char *id, size_t id_length)
{
    json_object_end(&r->json);
    message_close(r);
    if (r->json.len < SERVE_LINE_MAX)
        client_send(c, r->json.data, r->json.len);
    else
        reply_error(c, id, id_length, SERVE_E_LIMIT, "ask for fewer rows, or export to a file",
                    "the reply has more than %d bytes", SERVE_LINE_MAX);
    textbuf_free(&r->json);
}

static const char *error_name(enum serve_error code)
{
    switch (code) {
    case SERVE_E_PARSE:
        return "parse";
    case SERVE_E_REQUEST:
        return "request";
    case SERVE_E_METHOD:
        return "method";
    case SERVE_E_PARAMS:
        return "params";
    case SERVE_E_TARGET:
        return "target";
    case SERVE_E_CANCELED:
        return "canceled";
    case SERVE_E_LIMIT:
        return "limit";
    case SERVE_E_DENIED:
        return "denied";
    case SERVE_E_VERSION:
        return "version";
    case SERVE_E_FAILED:
        break;
    }
    return "failed";
}

void reply_error(struct client *c, const char *id, size_t id_length, enum serve_error code, const char *remedy,
                 const char *fmt, ...)
{
    struct reply r;
    va_list ap;
    va_start(ap, fmt);
    char *text = memory_vformat(fmt, ap);
    va_end(ap);
    message_begin(&r);
    message_id(&r.json, id, id_length);
    json_object(&r.json, "error");
    json_int(&r.json, "code", code);
    json_string(&r.json, "name", error_name(code));
    json_string(&r.json, "message", text);
    json_string(&r.json, "remedy", remedy);
    json_object_end(&r.json);
    message_close(&r);
    client_send(c, r.json.data, r.json.len);
    textbuf_free(&r.json);
    free(text);
}

void notice_begin(struct reply *r, const char *method)
{
    message_begin(r);
    json_string(&r->json, "method", method);
    json_object(&r->json, "params");
}

void notice_end(struct reply *r, struct client *c)
{
    json_object_end(&r->json);
    message_close(r);
    client_send(c, r->json.data, r->json.len);
    textbuf_free(&r->json);
}
