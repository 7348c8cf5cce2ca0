/* SPDX-License-Identifier: MIT */
/* Parameters of requests. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

static bool param_is_absent(struct json_slice value)
{
    return !value.text || (value.length == 4 && memcmp(value.text, "null", 4) == 0);
}

bool param_text(const struct request *q, const char *name, char **out)
{
    struct json_slice value = json_find(q->params, name);
    *out = NULL;
    if (param_is_absent(value))
        return true;
    *out = json_text(value);
    if (*out)
        return true;
    request_fail(q, SERVE_E_PARAMS, NULL, "\"%s\" is not a string", name);
    return false;
}

bool param_integer(const struct request *q, const char *name, int64_t low, int64_t high, int64_t *out)
{
    struct json_slice value = json_find(q->params, name);
    if (param_is_absent(value) || json_integer(value, low, high, out))
        return true;
    request_fail(q, SERVE_E_PARAMS, NULL, "\"%s\" is not a number from %" PRId64 " to %" PRId64, name, low, high);
    return false;
}

bool param_boolean(const struct request *q, const char *name, bool *out)
{
    struct json_slice value = json_find(q->params, name);
    if (param_is_absent(value) || json_boolean(value, out))
        return true;
    request_fail(q, SERVE_E_PARAMS, NULL, "\"%s\" is neither true nor false", name);
    return false;
}

struct target *param_target(const struct request *q)
{
    int64_t id = 0;
    if (!param_integer(q, "target", 1, INT64_MAX, &id))
        return NULL;
    for (size_t i = 0; i < q->client->n_targets; i++)
        if (q->client->targets[i].id == id)
            return &q->client->targets[i];
    if (id == 0)
        request_fail(q, SERVE_E_PARAMS, NULL, "\"target\" is missing: the number that attach or start returned");
    else
        request_fail(q, SERVE_E_TARGET, "attach first", "there is no target %" PRId64, id);
    return NULL;
}
