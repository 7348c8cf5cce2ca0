/* SPDX-License-Identifier: MIT */
/* Names of an event list before resolution, with metrics expanded. */
#include "core/names/name_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "core/formula/metric.h"
#include "core/names/presets.h"
#include "core/names/registry.h"

static void name_item_set(struct name_item *item, const char *name, unsigned group, bool of_metric)
{
    struct event_name parts;
    *item = (struct name_item){.group = (uint16_t)group, .of_metric = of_metric};
    snprintf(item->name, sizeof item->name, "%s", name);
    item->event = event_name_parse(item->name, &parts) < 0 ? NULL : registry_find(parts.base);
    item->modifiers = item->event ? (uint16_t)strlen(parts.base) : 0;
}

/* Whether two items are one event: the same text, or two names of an event of the registry with the same modifiers. */
static bool name_is_same_event(const struct name_item *a, const struct name_item *b)
{
    return strcasecmp(a->name, b->name) == 0 ||
           (a->event && a->event == b->event && strcmp(a->name + a->modifiers, b->name + b->modifiers) == 0);
}

/* The item with the same event in the same group, or NULL. */
static struct name_item *name_list_find(struct name_list *list, const struct name_item *item)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->item[i].group == item->group && name_is_same_event(&list->item[i], item))
            return &list->item[i];
    return NULL;
}

static int name_list_add(struct name_list *list, const char *name, unsigned group, bool of_metric)
{
    struct name_item item;
    name_item_set(&item, name, group, of_metric);
    struct name_item *same = name_list_find(list, &item);
    if (same && (of_metric || same->of_metric)) {
        same->of_metric &= of_metric; /* also named by itself: a second mention is then a duplicate of its own */
        return 0;
    }
    if (list->n == NAME_LIST_MAX)
        return upmu_fail(UPMU_E_LIMIT, "more than %d events given: count them in several runs", NAME_LIST_MAX);
    if (list->n == list->cap) {
        size_t want = list->cap ? list->cap * 2 : 16;
        struct name_item *grown = realloc(list->item, want * sizeof *grown);
        if (!grown)
            return upmu_fail(UPMU_E_NOMEM, "out of memory");
        list->item = grown;
        list->cap = want;
    }
    list->item[list->n++] = item;
    return 0;
}

/* Whether an event accepts the metric's modifiers: clocks do not, and an event keeps its own. */
static bool name_takes_modifiers(const char *event)
{
    const struct registry_event *r = registry_find(event);
    return r ? r->software < 0 : strchr(event, '/') == NULL && (!strchr(event, ':') || event_name_is_native(event));
}

static int name_list_add_metric(struct name_list *list, const struct expression *e, const char *modifiers,
                                unsigned group)
{
    for (size_t i = 0; i < e->n_names; i++) {
        char name[EVENT_NAME_MAX];
        bool takes = modifiers[0] && name_takes_modifiers(e->name[i]);
        int n = snprintf(name, sizeof name, "%s%s%s", e->name[i], takes ? ":" : "", takes ? modifiers : "");
        if (n < 0 || (size_t)n >= sizeof name)
            return upmu_fail(UPMU_E_INVAL, "event name '%.32s...' is too long", e->name[i]);
        int rc = name_list_add(list, name, group, true);
        if (rc < 0)
            return rc;
    }
    return 0;
}

bool name_is_metric(const struct machine *m, const char *name, struct expression *e, const char **modifiers)
{
    struct event_name parts;
    if (strpbrk(name, "/") || event_name_parse(name, &parts) < 0 || parts.tracepoint || registry_find(parts.base) ||
        preset_find(parts.base) || event_name_is_raw(parts.base) || !metric_find(m, parts.base, e))
        return false;
    *modifiers = name + strlen(parts.base) + (name[strlen(parts.base)] == ':');
    return true;
}

int name_list_make(const struct machine *m, struct name_list *list, const char *names)
{
    struct event_list it = {.rest = names};
    char name[EVENT_NAME_MAX];
    int rc;
    *list = (struct name_list){0};
    while ((rc = event_list_next(&it, name)) > 0) {
        struct expression e;
        const char *modifiers;
        unsigned group = it.in_group ? it.groups : 0;
        rc = name_is_metric(m, name, &e, &modifiers) ? name_list_add_metric(list, &e, modifiers, group)
                                                     : name_list_add(list, name, group, false);
        if (rc < 0)
            return rc;
    }
    return rc;
}

void name_list_free(struct name_list *list)
{
    free(list->item);
    *list = (struct name_list){0};
}
