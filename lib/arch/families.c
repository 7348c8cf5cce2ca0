/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The list of core families and look-ups in their tables. Room: arch; before it core (planner and name look-up, through
 * arch_ops.h), after it the vendor folders with the tables.
 */
#include <string.h>
#include <strings.h>

#include "arch/tables.h"

const struct arch_family *const upmu_arch_families[] = {
    &arch_intel_haswell,
    &arch_intel_broadwell,
    &arch_intel_skylake,
    &arch_intel_icelake,
    &arch_intel_sapphirerapids,
    &arch_intel_core,
    &arch_zen1,
    &arch_zen2,
    &arch_zen3,
    &arch_zen4,
    &arch_zen5,
    &arch_gs464,
    &arch_loongson2k,
    &arch_la464,
    &arch_core3b,
    &arch_generic,
    NULL,
};

const struct arch_family *arch_family_of(const struct arch_cpu *cpu)
{
    const struct arch_family *best = &arch_generic;
    int best_score = ARCH_MATCH_NO;
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        int score = upmu_arch_families[i]->matches(cpu);
        if (score > best_score) {
            best = upmu_arch_families[i];
            best_score = score;
        }
    }
    return best;
}

const struct arch_family *arch_family_named(const char *name)
{
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        if (strcmp(upmu_arch_families[i]->name, name) == 0)
            return upmu_arch_families[i];
    }
    return NULL;
}

static const struct arch_event *find_row(const struct arch_event *rows, size_t n, const char *name)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        int order = strcmp(name, rows[middle].name);
        if (order == 0)
            return &rows[middle];
        if (order < 0)
            n = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct arch_event *arch_family_event(const struct arch_family *family, const char *name)
{
    const struct arch_event *row = find_row(family->overrides, family->n_overrides, name);
    return row ? row : find_row(family->events, family->n_events, name);
}

const struct arch_native *arch_family_native(const struct arch_family *family, const char *name)
{
    for (size_t i = 0; i < family->n_native; i++) {
        const struct arch_native *row = &family->native[i];
        bool ours = row->cores == 0 || (row->cores & family->native_core) != 0;
        if (ours && strcasecmp(row->name, name) == 0)
            return row;
    }
    return NULL;
}
