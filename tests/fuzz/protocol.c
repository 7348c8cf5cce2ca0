/* SPDX-License-Identifier: MIT */
/* Fuzz target: the JSON reader behind lines of the protocol. What it accepts, it can take apart. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "serve/json_read.h"

/* Every value in it lies in the text, and a container has as many as are counted. */
static void walk(struct json_slice value, const char *begin,
                 const char *end) /* NOLINT(misc-no-recursion): bounded depth */
{
    struct json_rest rest = json_elements(value);
    struct json_slice key = {NULL, 0}, element;
    int64_t number;
    bool is_true;
    size_t n = 0;
    if (value.length == 0 || value.text < begin || value.text + value.length > end)
        abort();
    while (json_next(&rest, &key, &element)) {
        if (rest.is_object && !json_is_string(key))
            abort();
        walk(element, begin, end);
        n++;
    }
    if (n != json_count(value))
        abort();
    char *text = json_text(value);
    if (text && (!json_equals(value, text) || strlen(text) >= value.length))
        abort();
    free(text);
    (void)json_integer(value, INT64_MIN, INT64_MAX, &number);
    (void)json_boolean(value, &is_true);
    (void)json_find(value, "method");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_slice root;
    char *exact = malloc(size ? size : 1); /* a read behind the end is found */
    if (!exact)
        abort();
    if (size > 0)
        memcpy(exact, data, size);
    if (!json_read(exact, size, &root))
        walk(root, exact, exact + size);
    free(exact);
    return 0;
}
