/* SPDX-License-Identifier: MIT */
/* Metrics, groups of metrics and files of metrics on the command line. */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

#include "ui/output.h"
#include "ui/memory.h"
#include "upmu/upmu.h"

bool metrics_load(const char *file)
{
    if (upmu_metric_load(NULL) >= 0 && (!file || upmu_metric_load(file) >= 0))
        return true;
    complain("%s", upmu_error());
    return false;
}

bool metrics_listed(const char *list, const char *name)
{
    const char *const gaps = ",{} \t";
    size_t len = strlen(name);
    for (const char *p = list ? list + strspn(list, gaps) : ""; *p; p += strspn(p, gaps)) {
        size_t n = strcspn(p, gaps), base = strcspn(p, ",{} \t:");
        if (base == len && strncmp(p, name, len) == 0)
            return true;
        p += n;
    }
    return false;
}

static char *metrics_join(char *list, const char *more)
{
    char *joined = list && list[0] ? memory_format("%s,%s", list, more) : memory_copy(more);
    free(list);
    return joined;
}

static bool metrics_find_group(const char *name, struct upmu_metric_group_info *group)
{
    *group = (struct upmu_metric_group_info){.size = sizeof *group};
    for (size_t i = 0; upmu_metric_group_at(NULL, i, group) == 0; i++)
        if (strcmp(group->name, name) == 0)
            return true;
    return false;
}

static void metrics_no_group(const char *name)
{
    struct upmu_metric_group_info group = {.size = sizeof group};
    char *all = NULL;
    for (size_t i = 0; upmu_metric_group_at(NULL, i, &group) == 0; i++)
        all = metrics_join(all, group.name);
    complain("there is no group of metrics '%s'; known groups: %s", name, all ? all : "none");
    free(all);
}

/* Events that two groups share are counted once: the library drops those named again by a metric. */
bool metrics_of_groups(const char *groups, char **events, char **metrics)
{
    char *copy = memory_copy(groups), *rest = copy, *name;
    bool fine = true;
    *events = *metrics = NULL;
    while (fine && (name = strsep(&rest, ",")) != NULL) {
        struct upmu_metric_group_info group;
        fine = metrics_find_group(name, &group);
        if (!fine) {
            metrics_no_group(name);
        } else if (group.metrics[0] == '\0') {
            complain("no metric of the group '%s' can be computed here; 'upmu list -m' shows what is missing", name);
            fine = false;
        } else {
            *events = metrics_join(*events, group.metrics);
            *metrics = metrics_join(*metrics, group.metrics);
        }
    }
    free(copy);
    if (fine)
        return true;
    free(*events);
    free(*metrics);
    *events = *metrics = NULL;
    return false;
}
