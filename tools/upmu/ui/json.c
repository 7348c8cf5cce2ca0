/* SPDX-License-Identifier: MIT */
/*
 * Writer of JSON.
 *
 * Objects and arrays are broken into lines, each array entry on one line, so that grep works.
 */
#include "json.h"

#include <inttypes.h>
#include <math.h>

#include "base/printable.h"

enum { JSON_DEPTH_LINES = 2 }; /* deeper than this, members follow on the same line */

static void json_newline(struct json *j)
{
    if (!j->one_line && j->depth <= JSON_DEPTH_LINES)
        fprintf(j->out, "\n%*s", (int)j->depth * 2, "");
}

static void json_key(struct json *j, const char *key)
{
    if (!j->first[j->depth])
        fputs(!j->one_line && j->depth <= JSON_DEPTH_LINES ? "," : ", ", j->out);
    j->first[j->depth] = false;
    json_newline(j);
    if (key)
        fprintf(j->out, "\"%s\": ", key);
}

static void json_enter(struct json *j, char bracket)
{
    fputc(bracket, j->out);
    j->depth++;
    j->first[j->depth] = true;
}

static void json_leave(struct json *j, char bracket)
{
    bool empty = j->first[j->depth];
    j->depth--;
    /* The closing bracket stands on a line of its own where the members did. */
    if (!empty && j->depth < JSON_DEPTH_LINES)
        json_newline(j);
    fputc(bracket, j->out);
}

static void json_begin_schema(struct json *j, const char *schema)
{
    json_enter(j, '{');
    json_string(j, "schema", schema);
    json_int(j, "schema_version", JSON_SCHEMA_VERSION);
    json_string(j, "upmu_version", upmu_version());
}

void json_begin(struct json *j, FILE *out, const char *schema)
{
    *j = (struct json){.out = out};
    json_begin_schema(j, schema);
}

void json_begin_line(struct json *j, FILE *out, const char *schema)
{
    *j = (struct json){.out = out, .one_line = true};
    json_begin_schema(j, schema);
}

void json_begin_bare(struct json *j, FILE *out)
{
    *j = (struct json){.out = out, .one_line = true};
    json_enter(j, '{');
}

void json_end(struct json *j)
{
    json_leave(j, '}');
    fputc('\n', j->out);
}

void json_object(struct json *j, const char *key)
{
    json_key(j, key);
    json_enter(j, '{');
}

void json_object_end(struct json *j)
{
    json_leave(j, '}');
}

void json_array(struct json *j, const char *key)
{
    json_key(j, key);
    json_enter(j, '[');
}

void json_array_end(struct json *j)
{
    json_leave(j, ']');
}

static void json_quote_char(FILE *out, const char *s, size_t length)
{
    uint32_t code = length > 0 ? utf8_code(s, length) : 0xfffd;
    if (s[0] == '"' || s[0] == '\\')
        fprintf(out, "\\%c", s[0]);
    else if (s[0] == '\n')
        fputs("\\n", out);
    else if (s[0] == '\t')
        fputs("\\t", out);
    else if (length == 0 || !printable_code(code))
        fprintf(out, "\\u%04x", (unsigned)code);
    else
        fwrite(s, 1, length, out);
}

void json_uint_if(struct json *j, const char *key, bool known, uint64_t n)
{
    if (known)
        json_uint(j, key, n);
    else
        json_null(j, key);
}

void json_int_if(struct json *j, const char *key, bool known, int64_t n)
{
    if (known)
        json_int(j, key, n);
    else
        json_null(j, key);
}

void json_value_members(struct json *j, const struct upmu_value *value)
{
    json_uint_if(j, "value", value->status == UPMU_EXACT || value->status == UPMU_SCALED, value->value);
    json_string(j, "status", upmu_status_name(value->status));
    json_string(j, "cause", value->cause ? upmu_strerror(value->cause) : NULL);
}

void json_quote(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *s = text; *s;) {
        size_t length = utf8_sequence(s);
        json_quote_char(out, s, length);
        s += length ? length : 1;
    }
    fputc('"', out);
}

void json_string(struct json *j, const char *key, const char *text)
{
    if (!text) {
        json_null(j, key);
        return;
    }
    json_key(j, key);
    json_quote(j->out, text);
}

void json_int(struct json *j, const char *key, int64_t n)
{
    json_key(j, key);
    fprintf(j->out, "%" PRId64, n);
}

void json_uint(struct json *j, const char *key, uint64_t n)
{
    json_key(j, key);
    fprintf(j->out, "%" PRIu64, n);
}

void json_double(struct json *j, const char *key, double n)
{
    if (!isfinite(n)) {
        json_null(j, key);
        return;
    }
    json_key(j, key);
    fprintf(j->out, "%.15g", n);
}

void json_bool(struct json *j, const char *key, bool b)
{
    json_key(j, key);
    fputs(b ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
    json_key(j, key);
    fputs("null", j->out);
}

void json_raw(struct json *j, const char *key, const char *value, size_t length)
{
    json_key(j, key);
    fwrite(value, 1, length, j->out);
}
