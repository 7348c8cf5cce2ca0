/* SPDX-License-Identifier: MIT */
/** @file List of core families and lookups in their tables. */
#include <string.h>
#include <strings.h>

#include "arch/tables.h"
#include "core/names/registry.h"

const struct arch_family *const upmu_arch_families[] = {
    &arch_intel_core2,
    &arch_intel_nehalem,
    &arch_intel_westmere,
    &arch_intel_sandybridge,
    &arch_intel_ivybridge,
    &arch_intel_haswell,
    &arch_intel_broadwell,
    &arch_intel_skylake,
    &arch_intel_icelake,
    &arch_intel_sapphirerapids,
    &arch_intel_goldencove,
    &arch_intel_gracemont,
    &arch_intel_redwoodcove,
    &arch_intel_crestmont,
    &arch_intel_lioncove,
    &arch_intel_skymont,
    &arch_intel_graniterapids,
    &arch_intel_sierraforest,
    &arch_intel_core,
    &arch_zen1,
    &arch_zen2,
    &arch_zen3,
    &arch_zen4,
    &arch_zen5,
    &arch_amd_core,
    &arch_hygon,
    &arch_zx_c,
    &arch_zx_d,
    &arch_zx_e,
    &arch_kx_7000,
    &arch_loongson2ef,
    &arch_gs464,
    &arch_gs464e,
    &arch_gs464v,
    &arch_loongson2k,
    &arch_la264,
    &arch_la364,
    &arch_la464,
    &arch_la664,
    &arch_core3a,
    &arch_core3b,
    &arch_core4,
    &arch_sunway,
    &arch_armv8,
    &arch_neoverse_n1,
    &arch_neoverse_n2,
    &arch_neoverse_v1,
    &arch_neoverse_v2,
    &arch_neoverse_e1,
    &arch_neoverse_n3,
    &arch_neoverse_v3,
    &arch_cortex_a34,
    &arch_cortex_a35,
    &arch_cortex_a53,
    &arch_cortex_a55,
    &arch_cortex_a57,
    &arch_cortex_a72,
    &arch_cortex_a73,
    &arch_cortex_a75,
    &arch_cortex_a76,
    &arch_cortex_a77,
    &arch_cortex_a78,
    &arch_cortex_x1,
    &arch_cortex_a510,
    &arch_cortex_a710,
    &arch_cortex_x2,
    &arch_cortex_a65,
    &arch_cortex_a715,
    &arch_cortex_x3,
    &arch_thunderx2,
    &arch_a64fx,
    &arch_ampere1,
    &arch_ampere1a,
    &arch_apple_firestorm,
    &arch_apple_icestorm,
    &arch_apple_avalanche,
    &arch_apple_blizzard,
    &arch_kunpeng920,
    &arch_phytium,
    &arch_ftc310,
    &arch_ftc660,
    &arch_ftc661,
    &arch_ftc662,
    &arch_ftc663,
    &arch_ftc664,
    &arch_ftc862,
    &arch_c906,
    &arch_c910,
    &arch_u74,
    &arch_p550,
    &arch_x60,
    &arch_riscv_sbi,
    &arch_generic,
    NULL,
};

static int family_score(const struct arch_family *family, const struct arch_cpu *cpu)
{
    if (!family->cores)
        return family->matches(cpu);
    for (const uint32_t *core = family->cores; *core; core++)
        if (cpu->implementer >= 0 && cpu->part >= 0 && *core == ARCH_CORE(cpu->implementer, cpu->part))
            return ARCH_MATCH_MODEL;
    return ARCH_MATCH_NO;
}

const struct arch_family *arch_family_of(const struct arch_cpu *cpu)
{
    const struct arch_family *best = &arch_generic;
    int best_score = ARCH_MATCH_NO;
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        int score = family_score(upmu_arch_families[i], cpu);
        if (score > best_score) {
            best = upmu_arch_families[i];
            best_score = score;
        }
    }
    return best;
}

const struct arch_family *arch_family_of_core_id(const struct arch_cpu *cpu, unsigned i)
{
    struct arch_cpu core = *cpu;
    core.implementer = cpu->core_ids[i].implementer;
    core.part = cpu->core_ids[i].part;
    return arch_family_of(&core);
}

const struct arch_family *arch_family_of_core(const struct arch_cpu *cpu, uint8_t core_type)
{
    struct arch_cpu core = *cpu;
    core.core_type = core_type;
    return arch_family_of(&core);
}

const struct arch_family *arch_family_named(const char *name)
{
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        if (strcmp(upmu_arch_families[i]->name, name) == 0)
            return upmu_arch_families[i];
    }
    return NULL;
}

const char *arch_text(arch_text_ref ref)
{
    return arch_table_texts + ref;
}

const struct arch_event *arch_family_event(const struct arch_family *family, const char *name)
{
    size_t low = 0, n = family->table->n_events;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        const struct arch_event *row = arch_family_event_at(family, middle);
        int order = strcmp(name, arch_text(row->name));
        if (order == 0)
            return row;
        if (order < 0)
            n = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct arch_event *arch_family_event_at(const struct arch_family *family, size_t i)
{
    return i < family->table->n_events ? &arch_table_events[arch_table_rows[family->table->events + i]] : NULL;
}

static bool family_is_generic(const struct arch_event *row)
{
    return row && (row->kind == ARCH_CODE_HARDWARE || row->kind == ARCH_CODE_HW_CACHE);
}

/** The family's row with the perf generic event `id`; without one, the row with a generic event for the encoding of
 *  `raw`. Not if that needs a second register: the kernel's value for it is unknown. */
static const struct arch_event *family_generic_twin(const struct arch_family *family, const struct arch_event *id,
                                                    const struct arch_event *raw)
{
    size_t n;
    if (!id && raw->config1 != 0)
        return NULL;
    const struct registry_event *events = registry_events(&n);
    for (size_t i = 0; i < n; i++) {
        const struct arch_event *row = arch_family_event(family, events[i].name);
        if (!family_is_generic(row))
            continue;
        if (id ? row->kind == id->kind && row->config == id->config : row->raw_encoding == raw->raw_encoding)
            return row;
    }
    return NULL;
}

bool arch_family_generic_id(const struct arch_family *family, const struct arch_event *row, struct arch_generic_id *out)
{
    const struct arch_event *twin = row;
    bool same_name = true;
    if (row->kind == ARCH_CODE_NONE || row->kind == ARCH_CODE_FORMULA)
        return false;
    if (!family_is_generic(row)) {
        /* In the table for any CPU, the generic event of the same name is the one for this event. */
        const struct arch_event *id = arch_family_event(&arch_generic, arch_text(row->name));
        id = family_is_generic(id) ? id : NULL;
        twin = family_generic_twin(family, id, row);
        same_name = id != NULL;
        twin = twin ? twin : id;
    }
    if (!twin)
        return false;
    *out = (struct arch_generic_id){twin->kind, same_name, twin->config, twin->raw_encoding};
    return true;
}

const struct arch_native *arch_family_native_next(const struct arch_family *family, size_t *position)
{
    const struct arch_table *table = family->table;
    return *position < table->n_natives ? &arch_table_natives[arch_table_rows[table->natives + (*position)++]] : NULL;
}

const struct arch_native *arch_family_native(const struct arch_family *family, const char *name)
{
    const struct arch_native *row;
    for (size_t i = 0; (row = arch_family_native_next(family, &i)) != NULL;) {
        if (strcasecmp(arch_text(row->name), name) == 0)
            return row;
    }
    return NULL;
}

const struct arch_preset *arch_family_preset_at(const struct arch_family *family, size_t i)
{
    return i < family->table->n_presets ? &arch_table_presets[arch_table_rows[family->table->presets + i]] : NULL;
}

const struct arch_preset *arch_family_preset(const struct arch_family *family, const char *papi)
{
    const struct arch_preset *p;
    for (size_t i = 0; (p = arch_family_preset_at(family, i)) != NULL; i++) {
        if (strcasecmp(arch_text(p->papi), papi) == 0)
            return p;
    }
    return NULL;
}
