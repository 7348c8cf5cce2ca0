/* SPDX-License-Identifier: MIT */
/* A list of names resolved and planned once. Room: core; before it event resolution, after it counters.c. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/backend.h"
#include "core/counters.h"
#include "core/machine.h"

static size_t count_names(const char *names)
{
    const char *start;
    size_t n = 0;
    while (event_list_next(&names, &start) > 0)
        n++;
    return n;
}

static int take_name(struct counter_list *list, const char *start, size_t len, bool keep_unknown)
{
    char name[EVENT_NAME_MAX];
    size_t i = list->n;
    if (len >= sizeof name)
        return upmu_fail(UPMU_E_INVAL, "event name '%.32s...' is longer than %zu bytes", start, sizeof name - 1);
    memcpy(name, start, len);
    name[len] = '\0';
    int rc = backend_resolve(list->backend, name, &list->events[i]);
    if (rc < 0 && rc != UPMU_E_UNSUPPORTED && !keep_unknown)
        return rc;
    if (rc < 0) {
        list->absent[i] = 1;
        list->cause[i] = rc;
        list->reason[i] = strdup(upmu_error());
        if (!list->reason[i])
            return upmu_fail(UPMU_E_NOMEM, "out of memory");
    }
    list->n++;
    return 0;
}

static int take_names(struct counter_list *list, const char *names, size_t max, bool keep_unknown)
{
    const char *start;
    size_t len;
    while ((len = event_list_next(&names, &start)) > 0) {
        if (list->n == max) {
            list->dropped++;
            continue;
        }
        int rc = take_name(list, start, len, keep_unknown);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int counter_list_make(struct counter_list *list, const char *names, size_t max, bool keep_unknown,
                      enum kernel_backend backend)
{
    size_t n = count_names(names);
    memset(list, 0, sizeof *list);
    list->backend = backend;
    if (n > max && !keep_unknown)
        return upmu_fail(UPMU_E_LIMIT, "%zu events asked for, at most %zu can be counted at once", n, max);
    list->events = calloc(n + 1, sizeof *list->events);
    list->absent = calloc(n + 1, sizeof *list->absent);
    list->cause = calloc(n + 1, sizeof *list->cause);
    list->reason = calloc(n + 1, sizeof *list->reason);
    int rc = list->events && list->absent && list->cause && list->reason ? take_names(list, names, max, keep_unknown)
                                                                         : upmu_fail(UPMU_E_NOMEM, "out of memory");
    if (rc < 0) {
        counter_list_free(list);
        return rc;
    }
    plan_groups(list->events, list->absent, list->n, &machine_get()->family->counters, &list->plan);
    return 0;
}

void counter_list_free(struct counter_list *list)
{
    for (size_t i = 0; list->reason && i < list->n; i++)
        free(list->reason[i]);
    free(list->events);
    free(list->absent);
    free(list->cause);
    free(list->reason);
    memset(list, 0, sizeof *list);
}
