/* SPDX-License-Identifier: MIT */
/* The names of an event list, one by one, before they are resolved. */
#include "core/name_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int name_list_add(struct name_list *list, const char *name, unsigned group)
{
    if (list->n == list->cap) {
        size_t want = list->cap ? list->cap * 2 : 16;
        struct name_item *grown = realloc(list->item, want * sizeof *grown);
        if (!grown)
            return upmu_fail(UPMU_E_NOMEM, "out of memory");
        list->item = grown;
        list->cap = want;
    }
    struct name_item *item = &list->item[list->n++];
    memcpy(item->name, name, EVENT_NAME_MAX);
    item->group = (uint16_t)group;
    return 0;
}

int name_list_make(struct name_list *list, const char *names)
{
    struct event_list it = {.rest = names};
    char name[EVENT_NAME_MAX];
    int rc;
    *list = (struct name_list){0};
    while ((rc = event_list_next(&it, name)) > 0) {
        rc = name_list_add(list, name, it.in_group ? it.groups : 0);
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
