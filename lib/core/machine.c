/* SPDX-License-Identifier: MIT */
/* The machine we run on. Room: core; before it the kernel door and the arch tables, after it event resolution. */
#include "core/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "core/forking.h"
#include "core/kernel_ops.h"
#include "core/recording.h"

#define PMU_DIR "/sys/bus/event_source/devices"

enum { CPUINFO_MAX = 1 << 20 }; /* a thousand processors fit */

static struct machine machine_here;
static bool machine_known;

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
    int n = snprintf(path, sizeof path, PMU_DIR "/%s/type", pmu);
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

/* The kernel's core PMUs: "cpu" nearly everywhere, one per kind of core on hybrid x86 and on Arm. */
static bool is_core_pmu(const char *name)
{
    return strcmp(name, "cpu") == 0 || strcmp(name, "cpu_core") == 0 || strcmp(name, "cpu_atom") == 0 ||
           strcmp(name, "cpu_lowpower") == 0 || strncmp(name, "armv7_", 6) == 0 || strncmp(name, "armv8_", 6) == 0 ||
           strncmp(name, "armv9_", 6) == 0;
}

static int note_core_pmu(const char *name, void *arg)
{
    struct machine *m = arg;
    if (!is_core_pmu(name))
        return 0;
    m->core_kinds++;
    /* The big cores where there is a choice: cpu_core comes after cpu_atom in the sorted list. */
    if (m->core_kinds == 1 || strcmp(name, "cpu_core") == 0)
        snprintf(m->core_pmu, sizeof m->core_pmu, "%s", name);
    return 0;
}

/* Arm grants user-space reads only to events that ask with a bit, which the PMU's format folder names. */
static uint64_t user_read_bit(const char *pmu)
{
    char path[256], text[32];
    unsigned bit;
    snprintf(path, sizeof path, PMU_DIR "/%s/format/rdpmc", pmu);
    if (machine_line(path, text, sizeof text) <= 0 || sscanf(text, "config1:%u", &bit) != 1 || bit > 63)
        return 0;
    return UINT64_C(1) << bit;
}

/* "event=0x0011": an event that the core PMU has, by its code. */
static int note_listed(const char *name, void *arg)
{
    struct machine *m = arg;
    char path[320], text[64];
    unsigned code;
    int n = snprintf(path, sizeof path, PMU_DIR "/%s/events/%s", m->core_pmu, name);
    if (n < (int)sizeof path && machine_line(path, text, sizeof text) > 0 && sscanf(text, "event=%x", &code) == 1 &&
        code < 64)
        m->listed_events |= UINT64_C(1) << code;
    return 0;
}

static void note_listed_events(struct machine *m)
{
    char path[128];
    if (!m->core_pmu[0] || m->family->listed_raw == 0)
        return;
    snprintf(path, sizeof path, PMU_DIR "/%s/events", m->core_pmu);
    core_kernel()->list_dir(path, note_listed, m);
}

static uint32_t kernel_version(void)
{
    char text[96];
    unsigned major, minor, patch = 0;
    if (machine_line("/proc/sys/kernel/osrelease", text, sizeof text) <= 0 ||
        sscanf(text, "%u.%u.%u", &major, &minor, &patch) < 2 || major > 255 || minor > 255 || patch > 65535)
        return 0;
    return ARCH_KERNEL(major, minor, patch);
}

/* A running machine may lack the file, or have one that makes no sense: it has the kernel's generic events then. In a
 * recording that is a fault, since nobody could tell what CPU it is of. */
static void cpuinfo_fault(struct machine *m, const char *cpuinfo, ssize_t n, bool parsed)
{
    if (n == -ENOENT || n == -ENOTDIR)
        snprintf(m->fault, sizeof m->fault, "there is no proc/cpuinfo in it");
    else if (n < 0 && n != -EFBIG)
        snprintf(m->fault, sizeof m->fault, "its proc/cpuinfo cannot be read (%s)", upmu_errno_name((int)-n));
    else if (!parsed)
        snprintf(m->fault, sizeof m->fault, "its proc/cpuinfo describes no CPU");
    else if (n > 0 && cpuinfo[n - 1] != '\n')
        snprintf(m->fault, sizeof m->fault, "its proc/cpuinfo ends in the middle of a line");
}

static void examine_cpu(struct machine *m, char *cpuinfo)
{
    /* A text too long for the buffer still has its first processor in it. */
    ssize_t n = core_kernel()->read_file("/proc/cpuinfo", cpuinfo, CPUINFO_MAX);
    bool readable = n >= 0 || n == -EFBIG;
    bool parsed = readable && arch_cpu_parse(cpuinfo, &m->cpu) == 0;
    if (!parsed)
        memset(&m->cpu, 0, sizeof m->cpu);
    if (recording_in_use())
        cpuinfo_fault(m, cpuinfo, n, parsed);
}

static void examine(struct machine *m)
{
    memset(m, 0, sizeof *m);
    m->core_type = KERNEL_TYPE_RAW;
    char *cpuinfo = malloc(CPUINFO_MAX);
    if (cpuinfo)
        examine_cpu(m, cpuinfo);
    m->family = arch_family_of(&m->cpu);
    m->kernel = kernel_version();
    core_kernel()->list_dir(PMU_DIR, note_core_pmu, m);
    if (m->core_pmu[0] && machine_pmu_type(m->core_pmu, &m->core_type) < 0)
        m->core_type = KERNEL_TYPE_RAW;
    if (m->core_pmu[0])
        m->user_read_config1 = user_read_bit(m->core_pmu);
    note_listed_events(m);
    if (m->core_kinds > 1)
        snprintf(m->hidden_note, sizeof m->hidden_note,
                 "this machine has %u kinds of cores; only time on those of the PMU %s is counted", m->core_kinds,
                 m->core_pmu);
    if (recording_in_use() && !m->fault[0])
        recording_check(m, cpuinfo ? cpuinfo : "", m->fault, sizeof m->fault);
    free(cpuinfo);
}

int machine_of_cpu(const char *cpu, struct machine *out)
{
    struct suggest s;
    memset(out, 0, sizeof *out);
    out->core_type = KERNEL_TYPE_RAW;
    out->named = true;
    out->family = arch_family_called(cpu);
    if (out->family)
        return 0;
    suggest_begin(&s, cpu);
    arch_family_offer(&s);
    if (s.best)
        return upmu_fail(UPMU_E_NAME, "no CPU '%s'; did you mean '%s'?", cpu, s.best);
    return upmu_fail(UPMU_E_NAME, "no CPU '%s'; 'upmu list --cpus' shows those with a table", cpu);
}

/* The family's counters, less those that this CPU does not show (guests). */
static struct arch_counters counters_here(const struct machine *m)
{
    struct arch_counters c = m->family->counters;
    char flag[64];
    if (!c.flag)
        return c;
    snprintf(flag, sizeof flag, " %s ", c.flag);
    if (m->cpu.flags[0] && !strstr(m->cpu.flags, flag))
        c.general = c.general_without;
    return c;
}

/* The watchdog's event is pinned: a group that leaves it no counter opens and is never counted. */
static bool watchdog_on(void)
{
    char text[16];
    return machine_line("/proc/sys/kernel/nmi_watchdog", text, sizeof text) > 0 && strcmp(text, "0") != 0;
}

static uint32_t held_counters(const struct arch_family *family, const struct arch_counters *c)
{
    const struct arch_event *cycles = arch_family_event(family, "cycles");
    if (!c->watchdog || !cycles || cycles->kind == ARCH_CODE_NONE || !watchdog_on())
        return 0;
    const struct event e = {.class = EVENT_CORE,
                            .type = KERNEL_TYPE_HARDWARE,
                            .machine_code = cycles->machine_code,
                            .counters = cycles->counters};
    return plan_mask(&e, c);
}

void machine_rules(struct plan_rules rules[PLAN_KINDS_MAX])
{
    const struct machine *m = machine_get();
    for (size_t k = 0; k < PLAN_KINDS_MAX; k++) {
        rules[k].counters = counters_here(m);
        rules[k].held = held_counters(m->family, &rules[k].counters);
    }
}

const struct machine *machine_get(void)
{
    forking_take(FORKING_MACHINE);
    if (!machine_known) {
        examine(&machine_here);
        machine_known = true;
    }
    forking_give(FORKING_MACHINE);
    return &machine_here;
}

int machine_usable(void)
{
    const struct machine *m = machine_get();
    if (!m->fault[0])
        return 0;
    return upmu_fail(
        UPMU_E_FORMAT,
        "the folder UPMU_FSROOT names is no usable recording of a machine: %s. Make one with 'upmu gather', "
        "or unset UPMU_FSROOT",
        m->fault);
}

void machine_forget(void)
{
    forking_take(FORKING_MACHINE);
    machine_known = false;
    forking_give(FORKING_MACHINE);
}
