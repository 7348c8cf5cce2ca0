/* SPDX-License-Identifier: MIT */
/** @file CPUID instruction: identity of an x86 CPU with the numbers of /proc/cpuinfo. */
#include <ctype.h>
#include <string.h>

#include "arch/identity.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

bool arch_cpuid_ask(struct arch_cpuid *answers)
{
    uint32_t a, b, c, d;
    memset(answers, 0, sizeof *answers);
    if (!__get_cpuid(0, &a, &answers->vendor[0], &answers->vendor[2], &answers->vendor[1]) ||
        !__get_cpuid(1, &answers->signature, &b, &answers->features, &d))
        return false;
    if (__get_cpuid(0xa, &a, &b, &c, &d))
        answers->perfmon = a;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        answers->extended = c;
    return true;
}
#else
bool arch_cpuid_ask(struct arch_cpuid *answers)
{
    (void)answers;
    return false;
}
#endif

/* Zhaoxin's vendor string has blanks on both sides, which all sources strip. */
static void cpuid_take_vendor(const struct arch_cpuid *answers, char *vendor)
{
    char letters[sizeof answers->vendor];
    size_t len = 0;
    memcpy(letters, answers->vendor, sizeof letters);
    for (size_t i = 0; i < sizeof letters; i++)
        if (isgraph((unsigned char)letters[i]))
            vendor[len++] = letters[i];
    vendor[len] = '\0';
}

/* The flags that tables use, by the kernel's names. */
static void cpuid_take_flags(const struct arch_cpuid *answers, struct arch_cpu *out)
{
    enum { FEATURE_HYPERVISOR = 31, EXTENDED_PERFCTR_CORE = 23 };
    out->hypervisor = answers->features >> FEATURE_HYPERVISOR & 1;
    strcpy(out->flags, " ");
    if ((answers->perfmon & 0xff) != 0)
        strcat(out->flags, "arch_perfmon ");
    if (answers->extended >> EXTENDED_PERFCTR_CORE & 1)
        strcat(out->flags, "perfctr_core ");
    if (out->hypervisor)
        strcat(out->flags, "hypervisor ");
}

void arch_cpuid_decode(const struct arch_cpuid *answers, struct arch_cpu *out)
{
    uint32_t signature = answers->signature;
    arch_cpu_clear(out);
    strcpy(out->machine, "x86");
    cpuid_take_vendor(answers, out->vendor);
    out->family = (int)(signature >> 8 & 0xf);
    if (out->family == 0xf)
        out->family += (int)(signature >> 20 & 0xff);
    out->model = (int)(signature >> 4 & 0xf);
    if (out->family >= 6)
        out->model += (int)(signature >> 16 & 0xf) << 4;
    out->stepping = (int)(signature & 0xf);
    cpuid_take_flags(answers, out);
}
