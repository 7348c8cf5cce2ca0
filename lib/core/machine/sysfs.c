/* SPDX-License-Identifier: MIT */
/* Files of sysfs: one-line files and the type numbers of PMUs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel_ops.h"
#include "core/machine/machine.h"

int machine_line(const char *path, char *buf, size_t cap)
{
    ssize_t n = core_kernel()->read_file(path, buf, cap);
    if (n < 0)
        return (int)n;
    n = (ssize_t)strcspn(buf, "\n");
    buf[n] = '\0';
    return (int)n;
}

int machine_pmu_type(const char *pmu, uint32_t *type)
{
    char path[256], text[32], *end;
    int n = snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/type", pmu);
    if (n < 0 || (size_t)n >= sizeof path)
        return -ENAMETOOLONG;
    n = machine_line(path, text, sizeof text);
    if (n < 0)
        return n;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value > UINT32_MAX)
        return -EINVAL;
    *type = (uint32_t)value;
    return 0;
}

bool machine_cpu_listed(const char *cpus, int cpu)
{
    for (const char *p = cpus; *p;) {
        char *end;
        long first = strtol(p, &end, 10), last = first;
        if (end == p)
            return false;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (cpu >= first && cpu <= last)
            return true;
        p = end + (*end == ',');
    }
    return false;
}
