/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Who this CPU is, beside /proc/cpuinfo: Arm's id registers as sysfs has them, and instructions that ask the CPU itself.
 * What two sources disagree on is not known. Room: arch; before it core, after it the vendor folders and families.c.
 */
#include "arch/identity.h"

#include <string.h>

/* The instruction set of the program: that of the machine, unless the program is emulated. 32-bit Arm runs under kernels of
 * both kinds, and tells nothing. */
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

static bool has_kind(const struct arch_cpu *cpu, const struct arch_kind *core)
{
    for (unsigned i = 0; i < cpu->n_kinds; i++)
        if (cpu->kinds[i].implementer == core->implementer && cpu->kinds[i].part == core->part)
            return true;
    return false;
}

void arch_cpu_add_kind(struct arch_cpu *cpu, const struct arch_kind *core)
{
    if (!has_kind(cpu, core) && cpu->n_kinds < ARCH_KINDS_MAX)
        cpu->kinds[cpu->n_kinds++] = *core;
}

void arch_cpu_add_midr(struct arch_cpu *cpu, uint64_t midr, int processor)
{
    struct arch_kind core = {
        .implementer = (int)(midr >> 24 & 0xff), .part = (int)(midr >> 4 & 0xfff), .processor = processor};
    strcpy(cpu->machine, "arm64");
    arch_cpu_add_kind(cpu, &core);
    cpu->implementer = cpu->kinds[0].implementer;
    cpu->part = cpu->kinds[0].part;
}

/* A list of processors may be short of some, and then of a kind; sysfs has all that are on line. */
static enum arch_agreement hold_kinds(struct arch_cpu *cpu, const struct arch_cpu *other)
{
    bool differ = false, same = cpu->n_kinds == other->n_kinds;
    if (other->n_kinds == 0)
        return ARCH_SILENT;
    for (unsigned i = 0; i < cpu->n_kinds; i++)
        differ |= !has_kind(other, &cpu->kinds[i]);
    cpu->n_kinds = differ ? 0 : other->n_kinds;
    memcpy(cpu->kinds, other->kinds, sizeof cpu->kinds);
    cpu->implementer = differ ? -1 : other->implementer;
    cpu->part = differ ? -1 : other->part;
    return differ ? ARCH_DIFFERS : same ? ARCH_AGREES : ARCH_ADDS;
}

/* ----------------------------------------------------------------------------------------- two descriptions of one CPU */

/* The weightier of two: a difference outweighs what is added, that outweighs what agrees. */
static enum arch_agreement weightier(enum arch_agreement a, enum arch_agreement b)
{
    return a > b ? a : b;
}

static enum arch_agreement hold_text(char *mine, const char *other)
{
    if (!other[0])
        return ARCH_SILENT;
    if (!mine[0]) {
        strcpy(mine, other);
        return ARCH_ADDS;
    }
    return strcmp(mine, other) == 0 ? ARCH_AGREES : ARCH_DIFFERS;
}

static enum arch_agreement hold_number(int *mine, int other)
{
    if (other < 0)
        return ARCH_SILENT;
    if (*mine < 0) {
        *mine = other;
        return ARCH_ADDS;
    }
    return *mine == other ? ARCH_AGREES : ARCH_DIFFERS;
}

/* x86: of a maker that is in doubt the numbers mean nothing. */
static enum arch_agreement hold_model(struct arch_cpu *cpu, const struct arch_cpu *other)
{
    enum arch_agreement vendor = hold_text(cpu->vendor, other->vendor);
    enum arch_agreement numbers =
        weightier(hold_number(&cpu->family, other->family), hold_number(&cpu->model, other->model));
    (void)hold_number(&cpu->stepping, other->stepping); /* sockets may differ in it */
    if (vendor == ARCH_DIFFERS)
        cpu->vendor[0] = '\0';
    if (vendor == ARCH_DIFFERS || numbers == ARCH_DIFFERS) {
        cpu->family = cpu->model = cpu->stepping = -1;
        cpu->model_name[0] = '\0';
    }
    (void)hold_text(cpu->flags, other->flags); /* the kernel may hide some */
    cpu->hypervisor |= other->hypervisor;
    return weightier(vendor, numbers);
}

/* LoongArch: the name stands for the id where that is not printed. */
static enum arch_agreement hold_prid(struct arch_cpu *cpu, const struct arch_cpu *other)
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
    enum arch_agreement machine = hold_text(cpu->machine, other->machine);
    if (machine == ARCH_DIFFERS) {
        arch_cpu_clear(cpu);
        return machine;
    }
    enum arch_agreement parts = weightier(hold_model(cpu, other), hold_prid(cpu, other));
    parts = weightier(parts, hold_kinds(cpu, other));
    return parts == ARCH_SILENT ? machine : parts;
}
