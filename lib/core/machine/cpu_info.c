/* SPDX-License-Identifier: MIT */
/* The public face of CPUs: which ones have a table, and what is in it. Room: core; before it the public API, after it the
 * arch tables. */
#include <stdio.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/names/intern.h"
#include "core/machine/machine.h"
#include "core/names/registry.h"
#include "upmu/upmu.h"

const char *upmu_cpu_next(size_t *position)
{
    if (!position)
        return NULL;
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        if (i == *position) {
            (*position)++;
            return upmu_arch_families[i]->name;
        }
    }
    return NULL;
}

int upmu_cpu_find(const char *cpu, struct upmu_cpu_info *info)
{
    struct machine m;
    if (!info || info->size < sizeof *info)
        return upmu_fail(UPMU_E_INVAL, "upmu_cpu_find: info must be given, with info->size = sizeof *info");
    int rc = cpu ? machine_of_cpu(cpu, &m) : 0;
    if (rc < 0)
        return rc;
    const struct arch_family *f = cpu ? m.family : machine_get()->family;
    const struct upmu_cpu_info full = {
        .size = info->size,
        .name = f->name,
        .title = f->title,
        .vendor = f->vendor,
        .remark = f->remark,
        .rule = f->choice,
        .counters = f->counters.general,
        .fixed_counters = f->counters.fixed,
        .counter_bits = f->counters.width,
    };
    opts_give(info, info->size, sizeof full, &full, sizeof full);
    return 0;
}

const char *upmu_cpu_event_next(const char *cpu, size_t *position)
{
    struct machine m;
    size_t n;
    const struct registry_event *events = registry_events(&n);
    if (!position || (cpu && machine_of_cpu(cpu, &m) < 0))
        return NULL;
    if (*position < n)
        return events[(*position)++].name;
    size_t row_at = *position - n;
    const struct arch_native *row = arch_family_native_next(cpu ? m.family : machine_get()->family, &row_at);
    if (!row)
        return NULL;
    *position = n + row_at;
    char name[96];
    int len = snprintf(name, sizeof name, "native::%s", row->name);
    return len < (int)sizeof name ? intern(name) : NULL;
}
