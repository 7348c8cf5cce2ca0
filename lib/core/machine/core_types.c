/* SPDX-License-Identifier: MIT */
/*
 * The kinds of cores of a machine, each with a PMU of its own: one nearly everywhere, more on hybrid x86 and on Arm.
 * Room: core; before it machine.c and the kernel's sysfs, after it event resolution.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel_ops.h"
#include "core/machine/machine.h"

#define PMU_DIR "/sys/bus/event_source/devices"

/* The core PMUs by name; those of Arm's other makers have a file that says which CPUs they are of. */
static bool is_core_pmu(const char *name)
{
    static const char *const names[] = {"cpu", "cpu_core", "cpu_atom", "cpu_lowpower"};
    static const char *const beginnings[] = {"armv7_", "armv8_", "armv9_"};
    char path[256], text[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    int n = snprintf(path, sizeof path, PMU_DIR "/%s/cpus", name);
    return n > 0 && (size_t)n < sizeof path && machine_line(path, text, sizeof text) > 0;
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

/* Whether the folder lacks more than a quarter of the events of the maker's list. Real cores leave out one or
 * two (Cortex-A53: 0x0e); an emulator has a handful. */
static bool list_differs(const struct machine *m)
{
    const struct arch_event *row;
    unsigned expected = 0, lacking = 0;
    for (size_t i = 0; (row = arch_family_event_at(m->family, i)) != NULL; i++) {
        bool may_be_listed =
            row->kind != ARCH_CODE_NONE && row->raw_encoding > 0 && row->raw_encoding <= m->family->listed_raw;
        expected += may_be_listed;
        lacking += may_be_listed && !(m->listed_events >> row->raw_encoding & 1);
    }
    return lacking * 4 > expected;
}

static void note_listed_events(struct machine *m)
{
    char path[128];
    if (!m->core_pmu[0] || m->family->listed_raw == 0)
        return;
    snprintf(path, sizeof path, PMU_DIR "/%s/events", m->core_pmu);
    core_kernel()->list_dir(path, note_listed, m);
    m->list_differs = m->family->confirmed && m->listed_events != 0 && list_differs(m);
}

bool machine_has_cpu(const struct machine *kind, int cpu)
{
    const char *p = kind->cpus;
    if (!*p)
        return true;
    for (;;) {
        char *end;
        long first = strtol(p, &end, 10), last = first;
        if (end == p)
            return false;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (cpu >= first && cpu <= last)
            return true;
        if (*end != ',')
            return false;
        p = end + 1;
    }
}

/* The core type that a PMU of an Intel hybrid counts: the kernel names these PMUs, and nothing else does. */
static uint8_t core_type_of_pmu(const char *pmu)
{
    static const struct {
        const char *pmu;
        uint8_t type;
    } types[] = {
        {"cpu_core", ARCH_CORE_PERFORMANCE}, {"cpu_atom", ARCH_CORE_EFFICIENT}, {"cpu_lowpower", ARCH_CORE_LOW_POWER}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(pmu, types[i].pmu) == 0)
            return types[i].type;
    return ARCH_CORE_ANY;
}

/* The family of the cores that a PMU counts. */
static const struct arch_family *family_of_kind(const struct machine *m)
{
    uint8_t type = core_type_of_pmu(m->core_pmu);
    if (type != ARCH_CORE_ANY)
        return arch_family_of_core(&m->cpu, type);
    for (unsigned k = 0; m->cpus[0] && k < m->cpu.n_kinds; k++)
        if (machine_has_cpu(m, m->cpu.kinds[k].processor))
            return arch_family_of_kind(&m->cpu, k);
    return m->family;
}

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static void take_pmu(struct machine *m, const char *pmu, const char *cpus)
{
    snprintf(m->core_pmu, sizeof m->core_pmu, "%s", pmu);
    snprintf(m->cpus, sizeof m->cpus, "%s", cpus);
    if (machine_pmu_type(pmu, &m->core_type) < 0)
        m->core_type = KERNEL_TYPE_RAW;
    m->user_read_config1 = user_read_bit(pmu);
    m->leader_unchecked = begins(pmu, "armv") || begins(pmu, "apple_");
    m->family = family_of_kind(m);
    if (m->family->own_pmu && !begins(pmu, m->family->own_pmu))
        m->family = m->family->behind_others;
    note_listed_events(m);
}

struct finding {
    struct machine *kinds;
    struct machine plain; /* the machine before anything is known of its PMUs */
    unsigned n, beyond;
};

static int note_core_pmu(const char *name, void *arg)
{
    struct finding *f = arg;
    char path[256], cpus[sizeof f->plain.cpus] = "";
    if (strlen(name) >= sizeof f->plain.core_pmu || !is_core_pmu(name))
        return 0;
    snprintf(path, sizeof path, PMU_DIR "/%s/cpus", name);
    if (machine_line(path, cpus, sizeof cpus) == 0)
        return 0; /* all of its CPUs are off line */
    if (f->n == MACHINE_KINDS_MAX) {
        f->beyond++;
        return 0;
    }
    unsigned k = f->n++;
    /* The big cores first where there is a choice: cpu_core comes after cpu_atom in the sorted list. */
    if (k > 0 && strcmp(name, "cpu_core") == 0) {
        f->kinds[k] = f->kinds[0];
        k = 0;
    }
    f->kinds[k] = f->plain;
    take_pmu(&f->kinds[k], name, cpus);
    return 0;
}

/* "cpu" is the PMU of all cores or of none: beside those of kinds it is none of them. */
static void drop_general(struct finding *f)
{
    for (unsigned k = 0; k < f->n && f->n > 1; k++) {
        if (strcmp(f->kinds[k].core_pmu, "cpu") != 0)
            continue;
        f->n--;
        memmove(&f->kinds[k], &f->kinds[k + 1], (f->n - k) * sizeof *f->kinds);
    }
}

/* What users should know of a count on such a machine. */
static void write_note(struct machine *m, const struct finding *f)
{
    size_t used = (size_t)snprintf(m->kinds_note, sizeof m->kinds_note, "counted on each kind of core and added up:");
    for (unsigned k = 0; k < f->n && used < sizeof m->kinds_note; k++)
        used += (size_t)snprintf(m->kinds_note + used, sizeof m->kinds_note - used, " %s", f->kinds[k].core_pmu);
    if (f->beyond && used < sizeof m->kinds_note)
        snprintf(m->kinds_note + used, sizeof m->kinds_note - used, "; %u more kinds are not counted", f->beyond);
}

void machine_find_kinds(struct machine kinds[MACHINE_KINDS_MAX])
{
    struct finding *f = malloc(sizeof *f);
    if (!f)
        return;
    *f = (struct finding){.kinds = kinds, .plain = kinds[0]};
    (void)core_kernel()->list_dir(PMU_DIR, note_core_pmu, f); /* no folder: no PMU */
    drop_general(f);
    for (unsigned k = 0; k < f->n; k++) {
        kinds[k].kind = (uint8_t)k;
        kinds[k].core_kinds = f->n;
        kinds[k].kinds_beyond = f->beyond;
    }
    for (unsigned k = 0; k < f->n && f->n > 1; k++)
        write_note(&kinds[k], f);
    free(f);
}
