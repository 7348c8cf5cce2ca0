/* SPDX-License-Identifier: MIT */
/** @file The names of an event list, one by one, before they are resolved. Private to counter_list.c. */
#ifndef UPMU_CORE_NAME_LIST_H
#define UPMU_CORE_NAME_LIST_H

#include "core/event.h"

struct name_item {
    char name[EVENT_NAME_MAX];
    uint16_t group; /**< number of its group in braces, 0: none */
};

struct name_list {
    struct name_item *item;
    size_t n, cap;
};

/** Take a list apart. @return 0, UPMU_E_INVAL, UPMU_E_NOMEM; to be freed in any case. */
int name_list_make(struct name_list *list, const char *names);
void name_list_free(struct name_list *list);

#endif
