/* SPDX-License-Identifier: MIT */
/* Parser and matcher of suppression files. */
#include "deadlock/suppress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deadlock/graph/blocked.h"
#include "deadlock/graph/lock_order.h"
#include "base/map.h"
#include "base/text/pattern.h"
#include "base/error.h"
#include "upmu/deadlock.h"

static int suppressions_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading suppressions");
}

static bool suppress_is_kind(const char *word)
{
    static const char *const groups[] = {"deadlock", "blocked", "order"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(word, groups[i]) == 0)
            return true;
    for (int i = 0; i < WG_DEADLOCK_KINDS; i++)
        if (strcmp(word, upmu_deadlock_kind_name(i)) == 0)
            return true;
    for (int i = 0; i < WG_ORDER_CLASSES; i++)
        if (strcmp(word, upmu_lock_cycle_class_name(i)) == 0)
            return true;
    return false;
}

static int suppress_add(struct suppressions *s, const char *kind, const char *pattern)
{
    struct suppression *all = array_reserve(s->all, s->n, &s->cap, sizeof *all);
    if (!all)
        return suppressions_no_memory();
    s->all = all;
    struct suppression *one = &all[s->n++];
    *one = (struct suppression){.kind = strdup(kind), .pattern = strdup(pattern)};
    return one->kind && one->pattern ? 0 : suppressions_no_memory();
}

/* Parses one line, which is modified. */
static int suppress_parse_line(void *arg, const char *path, size_t number, char *line)
{
    struct suppressions *s = arg;
    char *colon = strchr(line, ':');
    if (!colon || colon[1] == '\0')
        return upmu_fail(UPMU_E_INVAL, "\"%s\", line %zu: \"%s\" is not KIND:PATTERN, as in \"inversion:flush_log\"",
                         path, number, line);
    *colon = '\0';
    if (!suppress_is_kind(line))
        return upmu_fail(UPMU_E_INVAL,
                         "\"%s\", line %zu: there is no kind \"%s\". Use deadlock, blocked, order, or one of the "
                         "kinds and classes in a report, such as cycle or inversion.",
                         path, number, line);
    return suppress_add(s, line, colon + 1);
}

int suppressions_read(struct suppressions *s, const char *path)
{
    return pattern_file_read(path, suppress_parse_line, s);
}

void suppressions_free(struct suppressions *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->all[i].kind);
        free(s->all[i].pattern);
    }
    free(s->all);
    memset(s, 0, sizeof *s);
}

bool suppressions_match(const struct suppressions *s, const char *group, const char *kind, const char *text)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct suppression *one = &s->all[i];
        bool applies =
            strcmp(one->kind, "deadlock") == 0 || strcmp(one->kind, group) == 0 || strcmp(one->kind, kind) == 0;
        if (applies && pattern_matches(one->pattern, text))
            return true;
    }
    return false;
}
