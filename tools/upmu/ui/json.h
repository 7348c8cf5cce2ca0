/* SPDX-License-Identifier: MIT */
/** @file JSON documents of the command: base/text/json.h writes the members, this the line breaks and the schema. */
#ifndef UPMU_TOOL_JSON_H
#define UPMU_TOOL_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text/json.h"
#include "upmu/upmu.h"

/** Version of the documents' shape: raised when a member changes its meaning or goes away, not when one is added. */
enum { JSON_SCHEMA_VERSION = 1 };

struct json_document {
    struct textbuf text; /**< not written yet */
    FILE *out;
    bool one_line;
    unsigned depth;       /**< of what is written */
    bool opened;          /**< the last character opened an object or array */
    bool quoted, escaped; /**< within a string; behind its backslash */
};

/** Begin a document: an object with "schema", "schema_version" and "upmu_version"; without them if `schema` is NULL.
 *  Objects and arrays are broken into lines, each entry of an array on one line, so that grep works.
 *  @return the text to add members to, valid until json_end(). */
struct textbuf *json_begin(struct json_document *d, FILE *out, const char *schema);
/** The same, all of it on one line: for streams of documents. */
struct textbuf *json_begin_line(struct json_document *d, FILE *out, const char *schema);
/** Write what was added, to bound the memory of a long document. */
void json_flush(struct json_document *d);
void json_end(struct json_document *d);

#endif
