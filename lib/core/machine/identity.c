/* SPDX-License-Identifier: MIT */
/*
 * Identity of this machine's CPU, from all sources.
 *
 * /proc/cpuinfo may be missing, lacks ids on older kernels, and can be replaced in containers. A wrong table gives
 * wrong counts, so fields in which sources disagree are treated as unknown.
 */
#include "core/machine/identity.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/kernel_ops.h"
#include "core/machine/machine_snapshot.h"

#define CPU_DIR "/sys/devices/system/cpu"

static void identity_append(struct machine *m, const char *fmt, ...) UPMU_PRINTF(2, 3);

static void identity_append(struct machine *m, const char *fmt, ...)
{
    size_t used = strlen(m->identity), left = sizeof m->identity - used;
    va_list ap;
    va_start(ap, fmt);
    int n = snprintf(m->identity + used, left, "%s", used ? "; " : "");
    if (n >= 0 && (size_t)n < left)
        vsnprintf(m->identity + used + n, left - (size_t)n, fmt, ap);
    va_end(ap);
}

/* Merge what another source found about the CPU. `origin`: that source, for the text. */
static void identity_compare(struct machine *m, const struct arch_cpu *other, const char *origin)
{
    bool known = m->cpu.machine[0] != '\0';
    switch (arch_cpu_hold(&m->cpu, other)) {
    case ARCH_AGREES:
        identity_append(m, "%s agrees", origin);
        break;
    case ARCH_ADDS:
        identity_append(m, known ? "%s adds to it" : "%s describes it", origin);
        break;
    case ARCH_DIFFERS:
        m->identity_doubted = true;
        identity_append(m, "%s disagrees, and the differing fields are treated as unknown", origin);
        break;
    case ARCH_SILENT:
        break;
    }
}

/* -------------------------------------------------------------------------------------------- /proc/cpuinfo */

/* A running machine may lack a usable file: other sources describe the CPU then, or only perf generic events are
 * available. A recorded machine is unusable without it, because its CPU is unknown. */
static void identity_cpuinfo_fault(struct machine *m, const char *cpuinfo, ssize_t n, bool parsed)
{
    bool missing = n == -ENOENT || n == -ENOTDIR;
    if (missing && m->cpu.n_core_ids == 0)
        snprintf(m->fault, sizeof m->fault, "it has no proc/cpuinfo");
    else if (n < 0 && n != -EFBIG && !missing)
        snprintf(m->fault, sizeof m->fault, "its proc/cpuinfo cannot be read (%s)", upmu_errno_name((int)-n));
    else if (!parsed && !missing)
        snprintf(m->fault, sizeof m->fault, "its proc/cpuinfo describes no CPU");
    else if (n > 0 && cpuinfo[n - 1] != '\n')
        snprintf(m->fault, sizeof m->fault, "its proc/cpuinfo ends in the middle of a line");
}

static bool identity_read_cpuinfo(struct machine *m, const char *cpuinfo, ssize_t n)
{
    /* A text that is too long for the buffer still contains the first processor. */
    bool readable = n >= 0 || n == -EFBIG;
    bool parsed = readable && arch_cpu_parse(cpuinfo, &m->cpu) == 0;
    if (!parsed)
        arch_cpu_clear(&m->cpu);
    if (parsed)
        identity_append(m, "from /proc/cpuinfo");
    else if (readable)
        identity_append(m, "/proc/cpuinfo describes no CPU");
    else
        identity_append(m, "/proc/cpuinfo cannot be read (%s)", upmu_errno_name((int)-n));
    return parsed;
}

/* ------------------------------------------------------------------------------------- id registers in sysfs */

struct registers {
    struct arch_cpu cpu;
    bool malformed;
};

static int identity_read_register(const char *name, void *arg)
{
    struct registers *r = arg;
    char path[320], text[40], *end;
    if (strncmp(name, "cpu", 3) != 0 || !isdigit((unsigned char)name[3]))
        return 0;
    int n = snprintf(path, sizeof path, CPU_DIR "/%s/regs/identification/midr_el1", name);
    if (n < 0 || (size_t)n >= sizeof path || machine_line(path, text, sizeof text) < 0)
        return 0; /* offline, or not Arm */
    errno = 0;
    uint64_t midr = strtoull(text, &end, 16);
    if (end == text || *end != '\0' || errno != 0 || midr > UINT32_MAX || midr == 0)
        r->malformed = true;
    else
        arch_cpu_add_midr(&r->cpu, midr, (int)strtol(name + 3, NULL, 10));
    return 0;
}

static void identity_read_registers(struct machine *m)
{
    struct registers *r = malloc(sizeof *r);
    if (!r || (m->cpu.machine[0] && strcmp(m->cpu.machine, "arm64") != 0)) {
        free(r);
        return;
    }
    r->malformed = false;
    arch_cpu_clear(&r->cpu);
    (void)core_kernel()->list_dir(CPU_DIR, identity_read_register, r); /* only arm64 has them */
    identity_compare(m, &r->cpu, "the id register in sysfs");
    if (r->malformed) {
        m->identity_doubted = true;
        identity_append(m, "an id register in sysfs is malformed");
    }
    free(r);
}

/* ------------------------------------------------------------------------------------------------- the whole */

static void identity_query_cpu(struct machine *m)
{
    struct arch_cpu *own = malloc(sizeof *own);
    const char *origin = own ? core_kernel()->ask_cpu(arch_cpu_ask, own) : NULL;
    if (origin)
        identity_compare(m, own, origin);
    free(own);
}

static int identity_note_state(const struct upmu_diagnosis *finding, void *state)
{
    *(int *)state = finding->state;
    return 0;
}

/* The recorded machine could query its CPU when it was recorded; its files alone may be incomplete. */
static void identity_recorded_doubt(struct machine *m)
{
    bool recorded;
    int state = UPMU_DIAGNOSIS_OK;
    (void)machine_snapshot_findings_if_any("identity", identity_note_state, &state,
                                           &recorded); /* identity_note_state() never stops the iteration */
    if (!m->fault[0] && state != UPMU_DIAGNOSIS_OK)
        snprintf(m->fault, sizeof m->fault, "its sources of the CPU's identity disagree (see upmu/findings)");
}

void identity_find(struct machine *m, char *cpuinfo, size_t cap)
{
    ssize_t n = core_kernel()->read_file("/proc/cpuinfo", cpuinfo, cap);
    bool parsed = identity_read_cpuinfo(m, cpuinfo, n);
    identity_read_registers(m);
    if (!machine_snapshot_in_use()) {
        identity_query_cpu(m);
        return;
    }
    identity_cpuinfo_fault(m, cpuinfo, n, parsed);
    if (!m->fault[0] && m->identity_doubted)
        snprintf(m->fault, sizeof m->fault,
                 "the id registers in its sys/devices/system/cpu are malformed, or belong to another CPU than its "
                 "proc/cpuinfo");
    identity_recorded_doubt(m);
}
