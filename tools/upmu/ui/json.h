/* SPDX-License-Identifier: MIT */
/** @file Writer of JSON: null for missing values, always valid UTF-8. */
#ifndef UPMU_TOOL_JSON_H
#define UPMU_TOOL_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "upmu/upmu.h"

enum { JSON_DEPTH_MAX = 12 };

/** Version of the documents' shape: raised when a member changes its meaning or goes away, not when one is added. */
enum { JSON_SCHEMA_VERSION = 1 };

struct json {
    FILE *out;
    unsigned depth;
    bool first[JSON_DEPTH_MAX]; /**< nothing written yet at this depth */
    bool one_line;
};

/** Begin a document: an object with "schema", "schema_version" and "upmu_version". */
void json_begin(struct json *j, FILE *out, const char *schema);
void json_end(struct json *j);
/** The same, all of it on one line: for streams of documents. */
void json_begin_line(struct json *j, FILE *out, const char *schema);
/** An object on one line without these members: a message of a protocol that has members of its own. */
void json_begin_bare(struct json *j, FILE *out);

/* `key` is NULL inside an array. */
void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
/** `text` may be NULL, which is written as null; bytes that are no UTF-8 become U+FFFD. */
void json_string(struct json *j, const char *key, const char *text);
void json_int(struct json *j, const char *key, int64_t n);
void json_uint(struct json *j, const char *key, uint64_t n);
/** Not a number and infinity are written as null. */
void json_double(struct json *j, const char *key, double n);
void json_bool(struct json *j, const char *key, bool b);
void json_null(struct json *j, const char *key);
/** A value that is JSON already. */
void json_raw(struct json *j, const char *key, const char *value, size_t length);
/** A number, or null unless it is known. */
void json_uint_if(struct json *j, const char *key, bool known, uint64_t n);
void json_int_if(struct json *j, const char *key, bool known, int64_t n);
/** "value", "status" and "cause" of a count, as members of the current object. */
void json_value_members(struct json *j, const struct upmu_value *value);

/** A quoted string by itself, for text output that must stay on one line whatever the name holds. */
void json_quote(FILE *out, const char *text);

#endif
