/* SPDX-License-Identifier: MIT */
/* JSON documents of the command, broken into lines. */
#include "json.h"

#include "memory.h"

enum { JSON_DEPTH_LINES = 2 }; /* deeper than this, members follow on the same line */

static void json_newline(const struct json_document *d)
{
    if (!d->one_line && d->depth <= JSON_DEPTH_LINES)
        fprintf(d->out, "\n%*s", (int)d->depth * 2, "");
}

/* A character outside of a string. */
static void json_write_mark(struct json_document *d, char c)
{
    bool closes = c == '}' || c == ']', opened = d->opened;
    if (opened && !closes)
        json_newline(d);
    d->opened = c == '{' || c == '[';
    d->depth += d->opened;
    if (closes && --d->depth < JSON_DEPTH_LINES && !opened)
        json_newline(d);
    fputc(c, d->out);
    if (c == ',' && !d->one_line && d->depth <= JSON_DEPTH_LINES)
        json_newline(d);
    else if (c == ',' || c == ':')
        fputc(' ', d->out);
}

static void json_write(struct json_document *d, const char *text, size_t length)
{
    for (const char *c = text; c < text + length; c++) {
        if (!d->quoted)
            json_write_mark(d, *c);
        else
            fputc(*c, d->out);
        if (*c == '"' && !d->escaped)
            d->quoted = !d->quoted;
        d->escaped = d->quoted && *c == '\\' && !d->escaped;
    }
}

struct textbuf *json_begin(struct json_document *d, FILE *out, const char *schema)
{
    *d = (struct json_document){.out = out};
    json_object(&d->text, NULL);
    if (schema) {
        json_string(&d->text, "schema", schema);
        json_int(&d->text, "schema_version", JSON_SCHEMA_VERSION);
        json_string(&d->text, "upmu_version", upmu_version());
    }
    return &d->text;
}

struct textbuf *json_begin_line(struct json_document *d, FILE *out, const char *schema)
{
    struct textbuf *j = json_begin(d, out, schema);
    d->one_line = true;
    return j;
}

void json_flush(struct json_document *d)
{
    enum { KEPT = 1 }; /* from the last character base/text/json.h concludes whether a comma is due */
    struct textbuf *b = &d->text;
    memory_or_exit(b->failed ? NULL : b->data);
    json_write(d, b->data, b->len - KEPT);
    b->data[0] = b->data[b->len - KEPT];
    b->len = KEPT;
}

void json_end(struct json_document *d)
{
    json_object_end(&d->text);
    json_flush(d);
    json_write(d, d->text.data, d->text.len);
    textbuf_free(&d->text);
    fputc('\n', d->out);
}
