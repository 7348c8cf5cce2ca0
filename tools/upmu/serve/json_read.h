/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reader of JSON: strict, without allocation, bounded in depth.
 *
 * A value is a slice of the text it was read from. json_read() checks a whole text once; the other functions take slices of a
 * text that was checked.
 */
#ifndef UPMU_TOOL_JSON_READ_H
#define UPMU_TOOL_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_READ_DEPTH = 32 };

/** A value without the blanks around it; `text` NULL: there is none. */
struct json_slice {
    const char *text;
    size_t length;
};

/** Elements of an array or members of an object that were not read yet. */
struct json_rest {
    const char *at, *end;
    bool is_object;
};

/** Check that `text` is one value of RFC 8259 in UTF-8, not nested deeper than JSON_READ_DEPTH.
 *  @return NULL with the value in `*out`, or what is wrong. */
const char *json_read(const char *text, size_t length, struct json_slice *out);

bool json_is_object(struct json_slice value);
bool json_is_array(struct json_slice value);
bool json_is_string(struct json_slice value);

/** Begin with the first element of an array or member of an object; anything else has none. */
struct json_rest json_elements(struct json_slice value);
/** The next one. @param key the quoted name of a member; of an element of an array, and if NULL, not filled. @return false at
 *  the end. */
bool json_next(struct json_rest *rest, struct json_slice *key, struct json_slice *value);

/** How many elements or members there are. */
size_t json_count(struct json_slice value);
/** The member of that name: the last one if it is given more than once. `text` is NULL if there is none. */
struct json_slice json_find(struct json_slice object, const char *name);

/** Whether the value is a string that equals `text`. */
bool json_equals(struct json_slice value, const char *text);
/** A string as UTF-8, to be freed; NULL if the value is no string, has a NUL or half of a surrogate pair, or without memory. */
char *json_text(struct json_slice value);
/** A whole number from `low` to `high`. @return false, and `*out` untouched, if the value is anything else. */
bool json_integer(struct json_slice value, int64_t low, int64_t high, int64_t *out);
/** true or false. @return false, and `*out` untouched, if the value is anything else. */
bool json_boolean(struct json_slice value, bool *out);

#endif
