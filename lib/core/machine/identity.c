/* SPDX-License-Identifier: MIT */
/*
 * Who the CPU of this machine is, from all that tells of it. Room: core; before it the kernel door and arch, after it
 * machine.c.
 *
 * /proc/cpuinfo is not always there, leaves ids out on older kernels, and is a file like any other in containers. A wrong
 * table means wrong numbers, so sources that differ make the CPU one of which less is known.
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

static void say(struct machine *m, const char *fmt, ...) UPMU_PRINTF(2, 3);

static void say(struct machine *m, const char *fmt, ...)
{
    size_t used = strlen(m->identity), room = sizeof m->identity - used;
    va_list ap;
    va_start(ap, fmt);
    int n = snprintf(m->identity + used, room, "%s", used ? "; " : "");
    if (n >= 0 && (size_t)n < room)
        vsnprintf(m->identity + used + n, room - (size_t)n, fmt, ap);
    va_end(ap);
}

static void hold(struct machine *m, const struct arch_cpu *other, const char *teller)
{
    bool known = m->cpu.machine[0] != '\0';
    switch (arch_cpu_hold(&m->cpu, other)) {
    case ARCH_AGREES:
        say(m, "%s says the same", teller);
        break;
    case ARCH_ADDS:
        say(m, known ? "%s adds to it" : "%s tells", teller);
        break;
    case ARCH_DIFFERS:
        m->identity_doubted = true;
        say(m, "%s says otherwise, and what they differ in is taken for unknown", teller);
        break;
    case ARCH_SILENT:
        break;
    }
}

/* -------------------------------------------------------------------------------------------- /proc/cpuinfo */

/* A running machine may lack the file, or have one that makes no sense: other sources tell then, or it has the kernel's
 * generic events. In a recording that is a fault, since nobody could tell what CPU it is of. */
static void cpuinfo_fault(struct machine *m, const char *cpuinfo, ssize_t n, bool parsed)
{
    bool missing = n == -ENOENT || n == -ENOTDIR;
    if (missing && m->cpu.n_kinds == 0)
        snprintf(m->fault, sizeof m->fault, "there is no proc/cpuinfo in it");
    else if (n < 0 && n != -EFBIG && !missing)
        snprintf(m->fault, sizeof m->fault, "its proc/cpuinfo cannot be read (%s)", upmu_errno_name((int)-n));
    else if (!parsed && !missing)
        snprintf(m->fault, sizeof m->fault, "its proc/cpuinfo describes no CPU");
    else if (n > 0 && cpuinfo[n - 1] != '\n')
        snprintf(m->fault, sizeof m->fault, "its proc/cpuinfo ends in the middle of a line");
}

static bool take_cpuinfo(struct machine *m, const char *cpuinfo, ssize_t n)
{
    /* A text too long for the buffer still has its first processor in it. */
    bool readable = n >= 0 || n == -EFBIG;
    bool parsed = readable && arch_cpu_parse(cpuinfo, &m->cpu) == 0;
    if (!parsed)
        arch_cpu_clear(&m->cpu);
    if (parsed)
        say(m, "from /proc/cpuinfo");
    else if (readable)
        say(m, "/proc/cpuinfo describes no CPU");
    else
        say(m, "/proc/cpuinfo cannot be read (%s)", upmu_errno_name((int)-n));
    return parsed;
}

/* ------------------------------------------------------------------------------------- id registers in sysfs */

struct registers {
    struct arch_cpu cpu;
    bool malformed;
};

static int take_register(const char *name, void *arg)
{
    struct registers *r = arg;
    char path[320], text[40], *end;
    if (strncmp(name, "cpu", 3) != 0 || !isdigit((unsigned char)name[3]))
        return 0;
    int n = snprintf(path, sizeof path, CPU_DIR "/%s/regs/identification/midr_el1", name);
    if (n < 0 || (size_t)n >= sizeof path || machine_line(path, text, sizeof text) < 0)
        return 0; /* off line, or no Arm */
    errno = 0;
    uint64_t midr = strtoull(text, &end, 16);
    if (end == text || *end != '\0' || errno != 0 || midr > UINT32_MAX || midr == 0)
        r->malformed = true;
    else
        arch_cpu_add_midr(&r->cpu, midr, (int)strtol(name + 3, NULL, 10));
    return 0;
}

static void take_registers(struct machine *m)
{
    struct registers *r = malloc(sizeof *r);
    if (!r || (m->cpu.machine[0] && strcmp(m->cpu.machine, "arm64") != 0)) {
        free(r);
        return;
    }
    r->malformed = false;
    arch_cpu_clear(&r->cpu);
    (void)core_kernel()->list_dir(CPU_DIR, take_register, r); /* without sysfs there are none */
    hold(m, &r->cpu, "the id register in sysfs");
    if (r->malformed) {
        m->identity_doubted = true;
        say(m, "an id register in sysfs makes no sense");
    }
    free(r);
}

/* ------------------------------------------------------------------------------------------------- the whole */

static void ask_cpu(struct machine *m)
{
    struct arch_cpu *own = malloc(sizeof *own);
    const char *teller = own ? core_kernel()->ask_cpu(arch_cpu_ask, own) : NULL;
    if (teller)
        hold(m, own, teller);
    free(own);
}

static int note_state(const struct upmu_finding *finding, void *state)
{
    *(int *)state = finding->state;
    return 0;
}

/* The machine could ask its CPU when it was recorded; its files alone may tell of another one. */
static void recorded_doubt(struct machine *m)
{
    bool told;
    int state = UPMU_FINDING_OK;
    (void)recording_told("identity", note_state, &state, &told); /* note_state() never ends it */
    if (!m->fault[0] && state != UPMU_FINDING_OK)
        snprintf(m->fault, sizeof m->fault,
                 "what told of its CPU contradicted itself when it was recorded (upmu/findings has the words)");
}

void identity_find(struct machine *m, char *cpuinfo, size_t cap)
{
    ssize_t n = core_kernel()->read_file("/proc/cpuinfo", cpuinfo, cap);
    bool parsed = take_cpuinfo(m, cpuinfo, n);
    take_registers(m);
    if (!recording_in_use()) {
        ask_cpu(m);
        return;
    }
    cpuinfo_fault(m, cpuinfo, n, parsed);
    if (!m->fault[0] && m->identity_doubted)
        snprintf(m->fault, sizeof m->fault,
                 "the id registers in its sys/devices/system/cpu make no sense, or are those of another CPU than its "
                 "proc/cpuinfo");
    recorded_doubt(m);
}
