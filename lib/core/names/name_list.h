/* SPDX-License-Identifier: MIT */
/** @file The names of an event list, one by one, before they are resolved. Private to counter_list.c. */
#ifndef UPMU_CORE_NAME_LIST_H
#define UPMU_CORE_NAME_LIST_H

#include "core/formula/expression.h"

struct name_item {
    char name[EVENT_NAME_MAX];
    uint16_t group; /**< number of its group in braces, 0: none */
    bool of_metric; /**< it stands for a metric that was named: naming it again adds nothing */
};

struct name_list {
    struct name_item *item;
    size_t n, cap;
};

/** Take a list apart; metrics become the events that they are computed from on this machine, with their modifiers.
 *  @return 0, UPMU_E_INVAL, UPMU_E_NOMEM; to be freed in any case. */
int name_list_make(const struct machine *m, struct name_list *list, const char *names);
/** Whether a name is a metric's, and what that is computed from on this machine. An event's name wins over a metric's.
 *  @param modifiers out: those of the name, inside it */
bool name_is_metric(const struct machine *m, const char *name, struct expression *e, const char **modifiers);
void name_list_free(struct name_list *list);

#endif
