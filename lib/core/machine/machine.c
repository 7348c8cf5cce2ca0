/* SPDX-License-Identifier: MIT */
/* The machine: CPU, event table, core PMUs; examined once. */
#include "core/machine/machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/forking.h"
#include "core/machine/identity.h"
#include "core/kernel_ops.h"
#include "core/machine/machine_snapshot.h"

enum { CPUINFO_MAX = 1 << 20 }; /* sufficient for a thousand processors */

static struct machine machine_types[MACHINE_CORE_TYPES_MAX];
static bool machine_known;

static uint32_t machine_kernel_version(void)
{
    char text[96];
    unsigned major, minor, patch = 0;
    if (machine_line("/proc/sys/kernel/osrelease", text, sizeof text) <= 0 ||
        sscanf(text, "%u.%u.%u", &major, &minor, &patch) < 2 || major > 255 || minor > 255 || patch > 65535)
        return 0;
    return ARCH_KERNEL(major, minor, patch);
}

/* Kernels older than a core's table count events of another core under its generic events. Vendor kernels may have
 * a backport, so the kernel is asked for an event that only that table has. */
static int machine_check_table(const struct machine *m)
{
    const struct arch_raw_field *raw = &m->family->counters.raw;
    if (!raw->own_id || (m->kernel != 0 && m->kernel >= raw->since[0]))
        return 0;
    if (machine_snapshot_in_use())
        return machine_snapshot_trial("cache-misses", NULL) == 0 ? 1 : -ENODATA;
    const struct kernel_open req = {
        .type = KERNEL_TYPE_HARDWARE,
        .config = raw->own_id,
        .exclude = UPMU_EXCLUDE_KERNEL,
        .cpu = -1,
        .group_fd = -1,
        .disabled = true,
    };
    int fd = core_kernel()->open(&req);
    if (fd < 0)
        return fd;
    core_kernel()->close(fd);
    return 1;
}

static void machine_examine(struct machine *m)
{
    memset(m, 0, sizeof *m);
    m->pmu_type = KERNEL_TYPE_RAW;
    arch_cpu_clear(&m->cpu);
    /* Not by malloc(): a block as large, once freed, raises the size from which the program's own ones are mapped. */
    char *cpuinfo = mmap(NULL, CPUINFO_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (cpuinfo != MAP_FAILED)
        identity_find(m, cpuinfo, CPUINFO_MAX);
    m->family = arch_family_of(&m->cpu);
    m->kernel = machine_kernel_version();
    m->own_table = machine_check_table(m);
    machine_find_core_types(machine_types);
    if (machine_snapshot_in_use() && !m->fault[0])
        machine_snapshot_check(m, cpuinfo != MAP_FAILED ? cpuinfo : "", m->fault, sizeof m->fault);
    if (cpuinfo != MAP_FAILED)
        munmap(cpuinfo, CPUINFO_MAX);
}

int machine_of_cpu(const char *cpu, struct machine *out)
{
    struct suggest s;
    memset(out, 0, sizeof *out);
    out->pmu_type = KERNEL_TYPE_RAW;
    out->named = true;
    out->family = arch_family_called(cpu);
    if (out->family)
        return 0;
    suggest_begin(&s, cpu);
    arch_family_offer(&s);
    if (s.best)
        return upmu_fail(UPMU_E_NAME, "no CPU '%s'; did you mean '%s'?", cpu, s.best);
    return upmu_fail(UPMU_E_NAME, "no CPU '%s'; 'upmu list --cpus' prints those with a table", cpu);
}

const struct machine *machine_get(void)
{
    forking_take(FORKING_MACHINE);
    if (!machine_known) {
        machine_examine(&machine_types[0]);
        machine_known = true;
    }
    forking_give(FORKING_MACHINE);
    return &machine_types[0];
}

const struct machine *machine_core_type(unsigned core_type)
{
    const struct machine *m = machine_get();
    return core_type < m->n_core_types ? &machine_types[core_type] : m;
}

int machine_usable(void)
{
    const struct machine *m = machine_get();
    if (!m->fault[0])
        return 0;
    return upmu_fail(UPMU_E_FORMAT,
                     "UPMU_FSROOT is not a usable machine snapshot: %s. Make one with 'upmu gather', or "
                     "unset UPMU_FSROOT",
                     m->fault);
}

void machine_forget(void)
{
    forking_take(FORKING_MACHINE);
    machine_known = false;
    forking_give(FORKING_MACHINE);
}
