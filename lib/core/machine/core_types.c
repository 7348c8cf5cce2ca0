/* SPDX-License-Identifier: MIT */
/*
 * Core types of a machine, each with a PMU of its own.
 *
 * Nearly all machines have one; hybrid x86 and some Arm machines have more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel_ops.h"
#include "core/machine/machine.h"

/* Whether a PMU is a core PMU; those of Arm vendors other than Arm have a file that lists their CPUs. */
static bool core_types_is_pmu(const char *name)
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
    int n = snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/cpus", name);
    return n > 0 && (size_t)n < sizeof path && machine_line(path, text, sizeof text) > 0;
}

/* Arm grants user-space reads only to events that request them with a bit named in the PMU's format folder. */
static uint64_t core_types_user_read_bit(const char *pmu)
{
    char path[256], text[32];
    unsigned bit;
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/format/rdpmc", pmu);
    if (machine_line(path, text, sizeof text) <= 0 || sscanf(text, "config1:%u", &bit) != 1 || bit > 63)
        return 0;
    return UINT64_C(1) << bit;
}

/* Note an event of the core PMU such as "event=0x0011" by its encoding. */
static int core_types_note_listed(const char *name, void *arg)
{
    struct machine *m = arg;
    char path[320], text[64];
    unsigned code;
    int n = snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/events/%s", m->core_pmu, name);
    if (n < (int)sizeof path && machine_line(path, text, sizeof text) > 0 && sscanf(text, "event=%x", &code) == 1 &&
        code < 64)
        m->listed_events |= UINT64_C(1) << code;
    return 0;
}

/* Whether the folder lacks more than a quarter of the vendor's events. Real cores lack one or two (Cortex-A53:
 * 0x0e); an emulator has only a handful. */
static bool core_types_list_differs(const struct machine *m)
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

static void core_types_note_events(struct machine *m)
{
    char path[128];
    if (!m->core_pmu[0] || m->family->listed_raw == 0)
        return;
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/events", m->core_pmu);
    core_kernel()->list_dir(path, core_types_note_listed, m);
    m->list_differs = m->family->confirmed && m->listed_events != 0 && core_types_list_differs(m);
}

bool machine_has_cpu(const struct machine *m, int cpu)
{
    return m->cpus[0] == '\0' || machine_cpu_listed(m->cpus, cpu);
}

/* The core type of an Intel hybrid's PMU: only the PMU's name identifies it. */
static uint8_t core_types_of_pmu(const char *pmu)
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
static const struct arch_family *core_types_family(const struct machine *m)
{
    uint8_t type = core_types_of_pmu(m->core_pmu);
    if (type != ARCH_CORE_ANY)
        return arch_family_of_core(&m->cpu, type);
    for (unsigned k = 0; m->cpus[0] && k < m->cpu.n_core_ids; k++)
        if (machine_has_cpu(m, m->cpu.core_ids[k].processor))
            return arch_family_of_core_id(&m->cpu, k);
    return m->family;
}

static bool core_types_begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static void core_types_examine_pmu(struct machine *m, const char *pmu, const char *cpus)
{
    snprintf(m->core_pmu, sizeof m->core_pmu, "%s", pmu);
    snprintf(m->cpus, sizeof m->cpus, "%s", cpus);
    if (machine_pmu_type(pmu, &m->pmu_type) < 0)
        m->pmu_type = KERNEL_TYPE_RAW;
    m->user_read_config1 = core_types_user_read_bit(pmu);
    m->leader_unchecked = core_types_begins(pmu, "armv") || core_types_begins(pmu, "apple_");
    m->family = core_types_family(m);
    if (m->family->own_pmu && !core_types_begins(pmu, m->family->own_pmu))
        m->family = m->family->behind_others;
    core_types_note_events(m);
}

struct finding {
    struct machine *types;
    struct machine plain; /* the machine before its PMUs were examined */
    unsigned n, beyond;
};

static int core_types_note_pmu(const char *name, void *arg)
{
    struct finding *f = arg;
    char path[256], cpus[sizeof f->plain.cpus] = "";
    if (strlen(name) >= sizeof f->plain.core_pmu || !core_types_is_pmu(name))
        return 0;
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/cpus", name);
    if (machine_line(path, cpus, sizeof cpus) == 0)
        return 0; /* all of its CPUs are offline */
    if (f->n == MACHINE_CORE_TYPES_MAX) {
        f->beyond++;
        return 0;
    }
    unsigned k = f->n++;
    /* Big cores come first: in the sorted list cpu_core follows cpu_atom. */
    if (k > 0 && strcmp(name, "cpu_core") == 0) {
        f->types[k] = f->types[0];
        k = 0;
    }
    f->types[k] = f->plain;
    core_types_examine_pmu(&f->types[k], name, cpus);
    return 0;
}

/* "cpu" is the PMU of all cores or of none: drop it if core types have PMUs of their own. */
static void core_types_drop_general(struct finding *f)
{
    for (unsigned k = 0; k < f->n && f->n > 1; k++) {
        if (strcmp(f->types[k].core_pmu, "cpu") != 0)
            continue;
        f->n--;
        memmove(&f->types[k], &f->types[k + 1], (f->n - k) * sizeof *f->types);
    }
}

/* The note for counts on a machine with several core types. */
static void core_types_write_note(struct machine *m, const struct finding *f)
{
    size_t used =
        (size_t)snprintf(m->core_types_note, sizeof m->core_types_note, "counted on each core type and added up:");
    for (unsigned k = 0; k < f->n && used < sizeof m->core_types_note; k++)
        used +=
            (size_t)snprintf(m->core_types_note + used, sizeof m->core_types_note - used, " %s", f->types[k].core_pmu);
    if (f->beyond && used < sizeof m->core_types_note)
        snprintf(m->core_types_note + used, sizeof m->core_types_note - used, "; %u more core types are not counted",
                 f->beyond);
}

void machine_find_core_types(struct machine types[MACHINE_CORE_TYPES_MAX])
{
    struct finding *f = malloc(sizeof *f);
    if (!f)
        return;
    *f = (struct finding){.types = types, .plain = types[0]};
    (void)core_kernel()->list_dir(MACHINE_PMU_DIR, core_types_note_pmu, f); /* no folder: no PMU */
    core_types_drop_general(f);
    /* There are never more than fit, which gcc -O3 cannot infer. */
    for (unsigned k = 0; k < f->n && k < MACHINE_CORE_TYPES_MAX; k++) {
        types[k].core_type = (uint8_t)k;
        types[k].n_core_types = f->n;
        types[k].core_types_beyond = f->beyond;
    }
    for (unsigned k = 0; k < f->n && f->n > 1; k++)
        core_types_write_note(&types[k], f);
    free(f);
}
