/* SPDX-License-Identifier: MIT */
/* CPU identity from id registers and instructions, and merging of two descriptions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/identity.h"
#include "unit/suite.h"

static struct arch_cpu parsed(const char *lines)
{
    char text[512];
    struct arch_cpu cpu;
    snprintf(text, sizeof text, "processor\t: 0\n%s", lines);
    ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
    return cpu;
}

/* --------------------------------------------------------------------------------------------- instructions */

static struct arch_cpu by_cpuid(const char letters[13], uint32_t signature, uint32_t perfmon)
{
    struct arch_cpuid answers = {.signature = signature, .perfmon = perfmon};
    struct arch_cpu cpu;
    memcpy(answers.vendor, letters, sizeof answers.vendor);
    arch_cpuid_decode(&answers, &cpu);
    return cpu;
}

START_TEST(cpuid_gives_the_numbers_of_cpuinfo)
{
    static const struct {
        const char *letters, *vendor;
        uint32_t signature;
        int family, model, stepping;
        const char *name;
    } cases[] = {
        {"GenuineIntel", "GenuineIntel", 0x50654, 6, 85, 4, "intel-skylake"},
        {"GenuineIntel", "GenuineIntel", 0x806f8, 6, 0x8f, 8, "intel-sapphirerapids"},
        {"AuthenticAMD", "AuthenticAMD", 0xa00f11, 25, 1, 1, "zen3"},
        {"AuthenticAMD", "AuthenticAMD", 0x800f12, 23, 1, 2, "zen1"},
        {"HygonGenuine", "HygonGenuine", 0x900f01, 24, 0, 1, "hygon"},
        {"  Shanghai  ", "Shanghai", 0x107b0, 7, 0x1b, 0, "zx-d"},
        {"CentaurHauls", "CentaurHauls", 0x307b1, 7, 0x3b, 1, "zx-e"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arch_cpu cpu = by_cpuid(cases[i].letters, cases[i].signature, 0);
        ck_assert_str_eq(cpu.machine, "x86");
        ck_assert_str_eq(cpu.vendor, cases[i].vendor);
        ck_assert_int_eq(cpu.family, cases[i].family);
        ck_assert_int_eq(cpu.model, cases[i].model);
        ck_assert_int_eq(cpu.stepping, cases[i].stepping);
        ck_assert_str_eq(arch_family_of(&cpu)->name, cases[i].name);
    }
    /* An unknown model has the architectural events if and only if it reports them. */
    struct arch_cpu unknown = by_cpuid("GenuineIntel", 0xf0000f10, 0);
    ck_assert_str_eq(arch_family_of(&unknown)->name, "generic");
    unknown = by_cpuid("GenuineIntel", 0xf0000f10, 0x7300405);
    ck_assert_str_eq(arch_family_of(&unknown)->name, "intel-core");
}
END_TEST

START_TEST(cpuid_shows_a_hypervisor_and_the_counters_of_amd)
{
    struct arch_cpuid answers = {.signature = 0xa00f11, .features = 1u << 31, .extended = 1u << 23};
    struct arch_cpu cpu;
    memcpy(answers.vendor, "AuthenticAMD", sizeof answers.vendor);
    arch_cpuid_decode(&answers, &cpu);
    ck_assert(cpu.hypervisor);
    ck_assert_ptr_nonnull(strstr(cpu.flags, " perfctr_core "));
    answers.features = answers.extended = 0;
    arch_cpuid_decode(&answers, &cpu);
    ck_assert(!cpu.hypervisor);
    ck_assert_ptr_null(strstr(cpu.flags, "perfctr_core"));
}
END_TEST

START_TEST(cpucfg_identifies_the_core)
{
    struct arch_cpu cpu;
    arch_cpucfg_decode(0x14d010, &cpu);
    ck_assert_str_eq(arch_family_of(&cpu)->name, "la664");
    arch_cpucfg_decode(0x14c010, &cpu);
    ck_assert_str_eq(arch_family_of(&cpu)->name, "la464");
    arch_cpucfg_decode(0x14b000, &cpu);
    ck_assert_str_eq(arch_family_of(&cpu)->name, "la364");
    arch_cpucfg_decode(0x14a000, &cpu);
    ck_assert_str_eq(arch_family_of(&cpu)->name, "la264");
}
END_TEST

/* The kernel reads the same registers: this test runs on the CPU that it asks, unless an emulator is in between. */
START_TEST(this_cpu_agrees_with_its_kernel)
{
    static char text[1 << 20];
    struct arch_cpu own, kernels;
    const char *teller = arch_cpu_ask(&own);
    FILE *f = fopen("/proc/cpuinfo", "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    ck_assert((teller != NULL) == (own.machine[0] != '\0'));
    if (!teller || n == 0 || arch_cpu_parse(text, &kernels) < 0 || strcmp(own.machine, kernels.machine) != 0)
        return; /* nothing to compare: no answer, no text, or one of the emulator's host */
    struct arch_cpu both = kernels;
    ck_assert_int_ne(arch_cpu_hold(&both, &own), ARCH_DIFFERS);
    ck_assert_ptr_eq(arch_family_of(&both), arch_family_of(&kernels));
    if (strcmp(own.machine, "x86") == 0) {
        ck_assert_ptr_eq(arch_family_of(&own), arch_family_of(&kernels));
        ck_assert(own.hypervisor == kernels.hypervisor);
    }
}
END_TEST

/* ------------------------------------------------------------------------------------------------ registers */

START_TEST(id_registers_identify_each_core_type)
{
    struct arch_cpu cpu;
    arch_cpu_clear(&cpu);
    arch_cpu_add_midr(&cpu, 0x481fd010, 0);
    arch_cpu_add_midr(&cpu, 0x481fd010, 1);
    ck_assert_uint_eq(cpu.n_core_ids, 1);
    ck_assert_str_eq(arch_family_of(&cpu)->name, "kunpeng920");

    arch_cpu_clear(&cpu);
    arch_cpu_add_midr(&cpu, 0x700f3034, 0);
    arch_cpu_add_midr(&cpu, 0x701f6643, 2);
    ck_assert_uint_eq(cpu.n_core_ids, 2);
    ck_assert_int_eq(cpu.core_ids[1].processor, 2);
    ck_assert_str_eq(arch_family_of_core_id(&cpu, 0)->name, "ftc310");
    ck_assert_str_eq(arch_family_of_core_id(&cpu, 1)->name, "ftc664");
    ck_assert_str_eq(arch_family_of(&cpu)->name, "ftc310");
}
END_TEST

/* --------------------------------------------------------------------------------------- two descriptions */

static void held(struct arch_cpu *cpu, const struct arch_cpu *other, enum arch_agreement wanted, const char *family)
{
    ck_assert_int_eq(arch_cpu_hold(cpu, other), wanted);
    ck_assert_str_eq(arch_family_of(cpu)->name, family);
}

START_TEST(what_x86_sources_differ_in_is_not_known)
{
    static const char skylake[] = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nmodel name : Xeon\n"
                                  "cpuid level : 22\nflags : fpu arch_perfmon\n";
    struct arch_cpu cpu = parsed(skylake), other = by_cpuid("GenuineIntel", 0x50654, 4);
    held(&cpu, &other, ARCH_AGREES, "intel-skylake");
    ck_assert_str_eq(cpu.model_name, "Xeon");

    other = by_cpuid("GenuineIntel", 0x806f8, 4);
    held(&cpu, &other, ARCH_DIFFERS, "intel-core");
    ck_assert_int_eq(cpu.stepping, -1);
    ck_assert_str_eq(cpu.model_name, "");

    cpu = parsed(skylake);
    other = by_cpuid("AuthenticAMD", 0xa00f11, 0);
    held(&cpu, &other, ARCH_DIFFERS, "generic");

    arch_cpu_clear(&cpu);
    held(&cpu, &other, ARCH_ADDS, "zen3");
    cpu = parsed("vendor_id : GenuineIntel\ncpuid level : 22\n");
    other = by_cpuid("GenuineIntel", 0x50654, 4);
    held(&cpu, &other, ARCH_ADDS, "intel-skylake");
}
END_TEST

START_TEST(the_id_of_loongarch_is_stronger_than_a_name_and_weaker_than_another_id)
{
    struct arch_cpu cpu = parsed("Model Name : Loongson-64bit\n"), other;
    arch_cpucfg_decode(0x14d010, &other);
    held(&cpu, &other, ARCH_ADDS, "la664");
    cpu = parsed("Model Name : Loongson-3A6000\nPRID : LA664 (0014d010)\n");
    held(&cpu, &other, ARCH_AGREES, "la664");
    cpu = parsed("Model Name : Loongson-3A2K1000\nPRID : LA264 (0014a000)\n");
    held(&cpu, &other, ARCH_DIFFERS, "la464"); /* the table that all cores share */
}
END_TEST

START_TEST(registers_complete_what_the_kernel_prints_and_contradict_it)
{
    static const char kunpeng[] = "CPU implementer : 0x48\nCPU architecture: 8\nCPU part : 0xd01\n";
    struct arch_cpu cpu = parsed("CPU architecture: 8\n"), other;
    arch_cpu_clear(&other);
    arch_cpu_add_midr(&other, 0x481fd010, 0);
    held(&cpu, &other, ARCH_ADDS, "kunpeng920");
    cpu = parsed(kunpeng);
    held(&cpu, &other, ARCH_AGREES, "kunpeng920");
    arch_cpu_add_midr(&other, 0x700f3034, 4);
    held(&cpu, &other, ARCH_ADDS, "kunpeng920");
    ck_assert_uint_eq(cpu.n_core_ids, 2);

    arch_cpu_clear(&other);
    arch_cpu_add_midr(&other, 0x700f3034, 0);
    cpu = parsed(kunpeng);
    held(&cpu, &other, ARCH_DIFFERS, "armv8");
    ck_assert_uint_eq(cpu.n_core_ids, 0);
}
END_TEST

START_TEST(an_emulated_program_has_no_identity_of_the_cpu)
{
    struct arch_cpu cpu = parsed("vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\ncpuid level : 22\n"), other;
    arch_cpu_clear(&other);
    strcpy(other.machine, "mips");
    held(&cpu, &other, ARCH_DIFFERS, "generic");
    ck_assert_str_eq(cpu.machine, "");
    cpu = parsed("cpu model : ICT Loongson-3 V0.9  FPU V0.1\nwait instruction : yes\n");
    held(&cpu, &other, ARCH_AGREES, "gs464e");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("identity");
    tcase_add_test(t, cpuid_gives_the_numbers_of_cpuinfo);
    tcase_add_test(t, cpuid_shows_a_hypervisor_and_the_counters_of_amd);
    tcase_add_test(t, cpucfg_identifies_the_core);
    tcase_add_test(t, this_cpu_agrees_with_its_kernel);
    tcase_add_test(t, id_registers_identify_each_core_type);
    tcase_add_test(t, what_x86_sources_differ_in_is_not_known);
    tcase_add_test(t, the_id_of_loongarch_is_stronger_than_a_name_and_weaker_than_another_id);
    tcase_add_test(t, registers_complete_what_the_kernel_prints_and_contradict_it);
    tcase_add_test(t, an_emulated_program_has_no_identity_of_the_cpu);
    return run_suite("arch.identity", t);
}
