/* SPDX-License-Identifier: MIT */
/**
 * @file CPU identity beyond /proc/cpuinfo: Arm's id registers in sysfs, and identification instructions.
 *
 * Fields in which two sources disagree become unknown.
 */
#include "arch/identity.h"

#include <string.h>

/* The program's instruction set, which is the machine's unless the program is emulated. 32-bit Arm runs under both
 * kinds of kernels and does not identify the machine. */
#if defined(__x86_64__) || defined(__i386__)
#define PROGRAM_MACHINE "x86"
#elif defined(__aarch64__)
#define PROGRAM_MACHINE "arm64"
#elif defined(__loongarch__)
#define PROGRAM_MACHINE "loongarch"
#elif defined(__mips__)
#define PROGRAM_MACHINE "mips"
#elif defined(__riscv)
#define PROGRAM_MACHINE "riscv"
#elif defined(__sw_64__)
#define PROGRAM_MACHINE "sw_64"
#else
#define PROGRAM_MACHINE ""
#endif

void arch_cpu_clear(struct arch_cpu *cpu)
{
    *cpu = (struct arch_cpu){.family = -1, .model = -1, .stepping = -1, .implementer = -1, .part = -1};
}

const char *arch_cpu_ask(struct arch_cpu *out)
{
    struct arch_cpuid answers;
    uint32_t word0;
    if (arch_cpuid_ask(&answers)) {
        arch_cpuid_decode(&answers, out);
        return "the CPUID instruction";
    }
    if (arch_cpucfg_ask(&word0)) {
        arch_cpucfg_decode(word0, out);
        return "the CPUCFG instruction";
    }
    arch_cpu_clear(out);
    strcpy(out->machine, PROGRAM_MACHINE);
    return out->machine[0] ? "the program's own instruction set" : NULL;
}

/* ----------------------------------------------------------------------------------------- Arm's id registers */

static bool identity_has_core(const struct arch_cpu *cpu, const struct arch_core_id *core)
{
    for (unsigned i = 0; i < cpu->n_core_ids; i++)
        if (cpu->core_ids[i].implementer == core->implementer && cpu->core_ids[i].part == core->part)
            return true;
    return false;
}

void arch_cpu_add_core_id(struct arch_cpu *cpu, const struct arch_core_id *core)
{
    if (!identity_has_core(cpu, core) && cpu->n_core_ids < ARCH_CORE_IDS_MAX)
        cpu->core_ids[cpu->n_core_ids++] = *core;
}

void arch_cpu_add_midr(struct arch_cpu *cpu, uint64_t midr, int processor)
{
    struct arch_core_id core = {
        .implementer = (int)(midr >> 24 & 0xff), .part = (int)(midr >> 4 & 0xfff), .processor = processor};
    strcpy(cpu->machine, "arm64");
    arch_cpu_add_core_id(cpu, &core);
    cpu->implementer = cpu->core_ids[0].implementer;
    cpu->part = cpu->core_ids[0].part;
}

/* A list of processors may be incomplete and lack a core; sysfs has all online ones. */
static enum arch_agreement identity_hold_core_ids(struct arch_cpu *cpu, const struct arch_cpu *other)
{
    bool differ = false, same = cpu->n_core_ids == other->n_core_ids;
    if (other->n_core_ids == 0)
        return ARCH_SILENT;
    for (unsigned i = 0; i < cpu->n_core_ids; i++)
        differ |= !identity_has_core(other, &cpu->core_ids[i]);
    cpu->n_core_ids = differ ? 0 : other->n_core_ids;
    memcpy(cpu->core_ids, other->core_ids, sizeof cpu->core_ids);
    cpu->implementer = differ ? -1 : other->implementer;
    cpu->part = differ ? -1 : other->part;
    return differ ? ARCH_DIFFERS : same ? ARCH_AGREES : ARCH_ADDS;
}

/* ------------------------------------------------------------------------------------ two descriptions of one CPU */

/* The stronger of two results: a difference, then an addition, then agreement. */
static enum arch_agreement identity_weightier(enum arch_agreement a, enum arch_agreement b)
{
    return a > b ? a : b;
}

static enum arch_agreement identity_hold_text(char *mine, const char *other)
{
    if (!other[0])
        return ARCH_SILENT;
    if (!mine[0]) {
        strcpy(mine, other);
        return ARCH_ADDS;
    }
    return strcmp(mine, other) == 0 ? ARCH_AGREES : ARCH_DIFFERS;
}

static enum arch_agreement identity_hold_number(int *mine, int other)
{
    if (other < 0)
        return ARCH_SILENT;
    if (*mine < 0) {
        *mine = other;
        return ARCH_ADDS;
    }
    return *mine == other ? ARCH_AGREES : ARCH_DIFFERS;
}

/* x86: the numbers of an unknown vendor are meaningless. */
static enum arch_agreement identity_hold_model(struct arch_cpu *cpu, const struct arch_cpu *other)
{
    enum arch_agreement vendor = identity_hold_text(cpu->vendor, other->vendor);
    enum arch_agreement numbers = identity_weightier(identity_hold_number(&cpu->family, other->family),
                                                     identity_hold_number(&cpu->model, other->model));
    (void)identity_hold_number(&cpu->stepping, other->stepping); /* sockets may differ in it */
    if (vendor == ARCH_DIFFERS)
        cpu->vendor[0] = '\0';
    if (vendor == ARCH_DIFFERS || numbers == ARCH_DIFFERS) {
        cpu->family = cpu->model = cpu->stepping = -1;
        cpu->model_name[0] = '\0';
    }
    (void)identity_hold_text(cpu->flags, other->flags); /* the kernel may hide some */
    cpu->hypervisor |= other->hypervisor;
    return identity_weightier(vendor, numbers);
}

/* LoongArch: the name replaces the id if that is not printed. */
static enum arch_agreement identity_hold_prid(struct arch_cpu *cpu, const struct arch_cpu *other)
{
    if (other->prid == 0)
        return ARCH_SILENT;
    if (cpu->prid == other->prid)
        return ARCH_AGREES;
    bool differ = cpu->prid != 0;
    cpu->prid = differ ? 0 : other->prid;
    if (differ)
        cpu->model_name[0] = '\0';
    return differ ? ARCH_DIFFERS : ARCH_ADDS;
}

enum arch_agreement arch_cpu_hold(struct arch_cpu *cpu, const struct arch_cpu *other)
{
    enum arch_agreement machine = identity_hold_text(cpu->machine, other->machine);
    if (machine == ARCH_DIFFERS) {
        arch_cpu_clear(cpu);
        return machine;
    }
    enum arch_agreement parts = identity_weightier(identity_hold_model(cpu, other), identity_hold_prid(cpu, other));
    parts = identity_weightier(parts, identity_hold_core_ids(cpu, other));
    return parts == ARCH_SILENT ? machine : parts;
}
