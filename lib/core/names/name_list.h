/* SPDX-License-Identifier: MIT */
/** @file Names of an event list before resolution, with metrics expanded. Private to counter_list.c. */
#ifndef UPMU_CORE_NAME_LIST_H
#define UPMU_CORE_NAME_LIST_H

#include "core/formula/expression.h"

enum {
    NAME_LIST_MAX = 1024
}; /**< more names are refused unread: many more than can be counted, and each is compared with all */

struct name_item {
    char name[EVENT_NAME_MAX];
    const struct registry_event *event; /**< of the registry; NULL: another one */
    uint16_t modifiers;                 /**< where those of such an event begin in `name` */
    uint16_t group;                     /**< index of its group in braces, counted from 1; 0: none */
    bool of_metric;                     /**< added for a metric: naming it again adds nothing */
};

struct name_list {
    struct name_item *item;
    size_t n, cap;
};

/** Parse a list. Metrics are replaced by the events that they are computed from on this machine, with the metric's
 *  modifiers. @return 0, UPMU_E_INVAL, UPMU_E_LIMIT (more than NAME_LIST_MAX), UPMU_E_NOMEM; free the list in any case. */
int name_list_make(const struct machine *m, struct name_list *list, const char *names);
/** Whether a name is a metric, and what it is computed from on this machine. An event takes precedence over a
 *  metric of the same name. @param modifiers out: those of the name, inside it */
bool name_is_metric(const struct machine *m, const char *name, struct expression *e, const char **modifiers);
void name_list_free(struct name_list *list);

#endif
