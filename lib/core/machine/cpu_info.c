/* SPDX-License-Identifier: MIT */
/* Public functions on CPUs: the supported ones and their tables. */
#include <stdio.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/names/intern.h"
#include "core/machine/machine.h"
#include "core/names/registry.h"
#include "upmu/upmu.h"

size_t upmu_cpu_count(void)
{
    size_t n = 0;
    while (upmu_arch_families[n])
        n++;
    return n;
}

int upmu_cpu_at(size_t i, struct upmu_cpu_info *info)
{
    if (!info)
        return argument_null(__func__, "info");
    return i < upmu_cpu_count() ? upmu_cpu_find(upmu_arch_families[i]->name, info) : UPMU_E_END;
}

int upmu_cpu_find(const char *cpu, struct upmu_cpu_info *info)
{
    struct machine m;
    int rc = OPTS_CHECK(info, UPMU_CPU_INFO_SIZE_V1);
    if (rc == 0)
        rc = cpu ? machine_of_cpu(cpu, &m) : 0;
    if (rc != 0)
        return rc;
    const struct arch_family *f = cpu ? m.family : machine_get()->family;
    const struct upmu_cpu_info full = {
        .name = f->name,
        .title = f->title,
        .vendor = f->vendor,
        .remark = f->remark,
        .rule = f->choice,
        .counters = f->counters.general,
        .fixed_counters = f->counters.fixed,
        .counter_bits = f->counters.width,
    };
    return OPTS_GIVE(info, full, UPMU_CPU_INFO_SIZE_V1);
}

/* The family of a CPU by its name; NULL: the running machine's. */
static int cpu_info_family(const char *cpu, const struct arch_family **family)
{
    struct machine m;
    int rc = cpu ? machine_of_cpu(cpu, &m) : 0;
    *family = rc < 0 ? NULL : cpu ? m.family : machine_get()->family;
    return rc < 0 ? rc : 0;
}

size_t upmu_cpu_event_count(const char *cpu)
{
    const struct arch_family *family;
    size_t n, natives = 0;
    (void)registry_events(&n);
    if (cpu_info_family(cpu, &family) != 0)
        return 0;
    while (arch_family_native_next(family, &natives))
        ;
    return n + natives;
}

int upmu_cpu_event_name_at(const char *cpu, size_t i, const char **name)
{
    const struct arch_family *family;
    size_t n;
    const struct registry_event *events = registry_events(&n);
    if (!name)
        return argument_null(__func__, "name");
    *name = NULL;
    int rc = cpu_info_family(cpu, &family);
    if (rc != 0)
        return rc;
    if (i < n) {
        *name = events[i].name;
        return 0;
    }
    i -= n;
    const struct arch_native *row = arch_family_native_next(family, &i);
    char text[96];
    if (!row)
        return UPMU_E_END;
    snprintf(text, sizeof text, "native::%s", arch_text(row->name));
    *name = intern(text);
    return *name ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory");
}
