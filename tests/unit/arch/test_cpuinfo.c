/* SPDX-License-Identifier: MIT */
/* Recorded /proc/cpuinfo texts give the right identity and family. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arch_ops.h"
#include "upmu/upmu.h"
#include "unit/suite.h"

static const char *machines; /* folder of the recorded machines: the program's argument */

struct expected {
    const char *machine_dir, *machine, *family_name;
    const char *vendor, *model_name, *cpu_model;
    int family, model, stepping, implementer, part;
    uint32_t prid;
    bool hypervisor;
};

/* clang-format off */
static const struct expected expected[] = {
    {"amd_zen3", "x86", "zen3",
     "AuthenticAMD", "AMD EPYC 7763 64-Core Processor", "", 25, 1, 1, -1, -1, 0, false},
    {"arm64-qemu10.0-max-linux6.12", "arm64", "armv8",
     "", "", "", -1, -1, -1, 0x0, 0x51, 0, false},
    {"apple_m1", "arm64", "apple-icestorm",
     "", "", "", -1, -1, -1, 0x61, 0x22, 0, false},
    {"apple_m1_guest", "arm64", "apple-firestorm", /* by its id; its PMU makes it armv8 */
     "", "", "", -1, -1, -1, 0x61, 0x23, 0, false},
    {"arm64-qemu7.2-cortex-a72-linux6.1", "arm64", "cortex-a72",
     "", "", "", -1, -1, -1, 0x41, 0xd08, 0, false},
    {"arm64_new_core", "arm64", "armv8",
     "", "", "", -1, -1, -1, 0x41, 0xdff, 0, false},
    {"cortex_a53_a72", "arm64", "cortex-a53",
     "", "", "", -1, -1, -1, 0x41, 0xd03, 0, false},
    {"hygon_7285", "x86", "hygon",
     "HygonGenuine", "Hygon C86 7285 32-core Processor", "", 24, 1, 1, -1, -1, 0, false},
    {"intel_alderlake", "x86", "intel-core",
     "GenuineIntel", "12th Gen Intel(R) Core(TM) i9-12900K", "", 6, 151, 2, -1, -1, 0, false},
    {"intel_graniterapids", "x86", "intel-graniterapids",
     "GenuineIntel", "Intel(R) Xeon(R) 6980P", "", 6, 173, 1, -1, -1, 0, false},
    {"intel_lunarlake", "x86", "intel-core",
     "GenuineIntel", "Intel(R) Core(TM) Ultra 7 258V", "", 6, 189, 1, -1, -1, 0, false},
    {"intel_meteorlake", "x86", "intel-core",
     "GenuineIntel", "Intel(R) Core(TM) Ultra 7 155H", "", 6, 170, 4, -1, -1, 0, false},
    {"intel_sierraforest", "x86", "intel-sierraforest",
     "GenuineIntel", "Intel(R) Xeon(R) 6780E", "", 6, 175, 3, -1, -1, 0, false},
    {"intel_skx", "x86", "intel-skylake",
     "GenuineIntel", "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "", 6, 85, 4, -1, -1, 0, false},
    {"kunpeng920", "arm64", "kunpeng920",
     "", "", "", -1, -1, -1, 0x48, 0xd01, 0, false},
    {"loong64-qemu10.0-la464-linux7.2", "loongarch", "la464",
     "", "Loongson-3A5000", "", -1, -1, -1, -1, -1, 0x0014c010, false},
    {"loong64-qemu10.0-max-linux7.2", "loongarch", "la464",
     "", "Loongson-3A5000", "", -1, -1, -1, -1, -1, 0x0014c010, false},
    {"loongarch_2k1000", "loongarch", "la264",
     "", "Loongson-2K1000", "", -1, -1, -1, -1, -1, 0, false},
    {"loongarch_3a5000", "loongarch", "la464",
     "", "Loongson-3A5000", "", -1, -1, -1, -1, -1, 0, false},
    {"loongarch_3a6000", "loongarch", "la664",
     "", "Loongson-3A6000-HV", "", -1, -1, -1, -1, -1, 0, false},
    {"loongarch_3b6000", "loongarch", "la664",
     "", "Loongson-3B6000", "", -1, -1, -1, -1, -1, 0x0014d011, false},
    {"loongarch_3c5000", "loongarch", "la464",
     "", "Loongson-3C5000", "", -1, -1, -1, -1, -1, 0, false},
    {"loongarch_3c6000d", "loongarch", "la664",
     "", "Loongson-3C6000/D", "", -1, -1, -1, -1, -1, 0x0014d010, false},
    {"loongson2e", "mips", "loongson2ef",
     "", "", "ICT Loongson-2 V0.2  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"loongson2f", "mips", "loongson2ef",
     "", "", "ICT Loongson-2 V0.3  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"loongson2k1000_mips", "mips", "loongson2k",
     "", "", "Loongson-2K V0.3  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"loongson3a1000", "mips", "gs464",
     "", "", "ICT Loongson-3 V0.5  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"loongson3a2000", "mips", "gs464e",
     "", "", "ICT Loongson-3 V0.8  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"loongson3a3000_loongnix", "mips", "gs464e",
     "", "ICT Loongson-3A R3 (Loongson-3A3000) @ 1450MHz",
     "ICT Loongson-3 V0.13  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"loongson3a3000_mainline", "mips", "gs464e",
     "", "", "ICT Loongson-3 V0.13  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"loongson3a4000_mainline", "mips", "gs464v",
     "", "", "ICT Loongson-3 V0.0  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"loongson3b1500", "mips", "gs464",
     "", "", "ICT Loongson-3 V0.7  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"loongson3b4000_vendor", "mips", "gs464v",
     "", "Loongson-3A R4 (Loongson-3B4000) @ 1800MHz", "Loongson-3 V0.4  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"mips64el-qemu10.0-loongson-3A4000-linux6.1", "mips", "gs464v",
     "", "", "ICT Loongson-3 V0.0  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"mips64el-qemu7.2-loongson-3A1000-linux6.1", "mips", "gs464",
     "", "", "ICT Loongson-3 V0.5  FPU V0.1", -1, -1, -1, -1, -1, 0, false},
    {"phytium_d2000", "arm64", "ftc663",
     "", "Phytium,D2000/8", "", -1, -1, -1, 0x70, 0x663, 0, false},
    {"phytium_d3000", "arm64", "ftc862",
     "", "", "", -1, -1, -1, 0x70, 0x862, 0, false},
    {"phytium_e2000q", "arm64", "ftc310",
     "", "", "", -1, -1, -1, 0x70, 0x303, 0, false},
    {"phytium_ft1500a", "arm64", "ftc660",
     "", "", "", -1, -1, -1, 0x70, 0x660, 0, false},
    {"phytium_ft2000_4", "arm64", "ftc663",
     "", "", "", -1, -1, -1, 0x70, 0x663, 0, false},
    {"phytium_ft2000plus", "arm64", "ftc662",
     "", "", "", -1, -1, -1, 0x70, 0x662, 0, false},
    {"phytium_s2500", "arm64", "ftc663",
     "", "", "", -1, -1, -1, 0x70, 0x663, 0, false},
    {"phytium_s5000c", "arm64", "ftc862",
     "", "", "", -1, -1, -1, 0x70, 0x862, 0, false},
    {"riscv64-qemu10.0-rv64-linux6.12", "riscv", "riscv-sbi",
     "", "", "", -1, -1, -1, -1, -1, 0, false},
    {"riscv_c906", "riscv", "c906",
     "", "", "", -1, -1, -1, -1, -1, 0, false},
    {"riscv_c910", "riscv", "c910",
     "", "", "", -1, -1, -1, -1, -1, 0, false},
    {"riscv_c920", "riscv", "c910",
     "", "", "", -1, -1, -1, -1, -1, 0, false},
    {"riscv_generic", "riscv", "u74",
     "", "", "", -1, -1, -1, -1, -1, 0, false},
    {"riscv_p550", "riscv", "p550",
     "", "", "", -1, -1, -1, -1, -1, 0, false},
    {"riscv_u74", "riscv", "u74",
     "", "", "", -1, -1, -1, -1, -1, 0, false},
    {"riscv_x60", "riscv", "x60",
     "", "Spacemit(R) X60", "", -1, -1, -1, -1, -1, 0, false},
    {"sunway_core4", "sw_64", "core4",
     "(SMBIOSmanufacturer)", "(SMBIOS processor version) CPU @ 2.50GHz", "", 4, 0, 0, -1, -1, 0, false},
    {"sunway_sw3231", "sw_64", "core3b",
     "sunway", "SW3231 CPU @ 2.40GHz", "", 3, 49, 2, -1, -1, 0, false},
    {"sunway_sw421", "sw_64", "core3a",
     "sunway", "SW421 CPU @ 1.60GHz", "", 3, 48, 0, -1, -1, 0, false},
    {"sunway_sw831", "sw_64", "core3b",
     "sunway", "SW831 CPU @ 2.50GHz", "", 3, 50, 2, -1, -1, 0, false},
    {"x86_64-qemu10.0-tcg-max-linux6.1", "x86", "generic",
     "AuthenticAMD", "QEMU TCG CPU version 2.5+", "", 6, 6, 3, -1, -1, 0, true},
    {"zhaoxin_kx6780a", "x86", "zx-e",
     "CentaurHauls", "ZHAOXIN KaiXian KX-U6780A@2.7GHz", "", 7, 59, 1, -1, -1, 0, false},
    {"zhaoxin_shanghai", "x86", "zx-d",
     "Shanghai", "ZHAOXIN KaiXian KX-5640@2.0GHz", "", 7, 27, 0, -1, -1, 0, false},
};
/* clang-format on */

static char *read_cpuinfo(const char *machine)
{
    static char text[16384];
    char path[512];
    snprintf(path, sizeof(path), "%s/%s/proc/cpuinfo", machines, machine);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s cannot be opened", path);
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    ck_assert_msg(n > 0 && n < sizeof(text) - 1, "%s is empty or too long", path);
    fclose(f);
    text[n] = '\0';
    return text;
}

START_TEST(recorded_machine_is_recognized)
{
    const struct expected *e = &expected[_i];
    struct arch_cpu cpu;
    ck_assert_int_eq(arch_cpu_parse(read_cpuinfo(e->machine_dir), &cpu), 0);
    ck_assert_str_eq(cpu.machine, e->machine);
    ck_assert_str_eq(cpu.vendor, e->vendor);
    ck_assert_str_eq(cpu.model_name, e->model_name);
    ck_assert_str_eq(cpu.cpu_model, e->cpu_model);
    ck_assert_int_eq(cpu.family, e->family);
    ck_assert_int_eq(cpu.model, e->model);
    ck_assert_int_eq(cpu.stepping, e->stepping);
    ck_assert_int_eq(cpu.implementer, e->implementer);
    ck_assert_int_eq(cpu.part, e->part);
    ck_assert_uint_eq(cpu.prid, e->prid);
    ck_assert(cpu.hypervisor == e->hypervisor);
    ck_assert_str_eq(arch_family_of(&cpu)->name, e->family_name);
}
END_TEST

static const char *family_of_x86(const char *vendor, int family, int model)
{
    char text[256];
    struct arch_cpu cpu;
    snprintf(text, sizeof(text),
             "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\ncpuid level\t: 13\n", vendor, family,
             model);
    ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
    return arch_family_of(&cpu)->name;
}

START_TEST(x86_model_picks_the_family)
{
    static const struct {
        const char *vendor;
        int family, model;
        const char *name;
    } cases[] = {
        {"GenuineIntel", 6, 0x3f, "intel-haswell"},
        {"GenuineIntel", 6, 0x4f, "intel-broadwell"},
        {"GenuineIntel", 6, 0x55, "intel-skylake"},
        {"GenuineIntel", 6, 0x9e, "intel-skylake"},
        {"GenuineIntel", 6, 0x6a, "intel-icelake"},
        {"GenuineIntel", 6, 0x8f, "intel-sapphirerapids"},
        {"GenuineIntel", 6, 0x97, "intel-core"}, /* Alder Lake, its core type not known */
        {"GenuineIntel", 6, 0xbe, "intel-gracemont"},
        {"GenuineIntel", 6, 0xad, "intel-graniterapids"},
        {"GenuineIntel", 6, 0xaf, "intel-sierraforest"},
        {"GenuineIntel", 6, 0xb6, "intel-sierraforest"},
        {"GenuineIntel", 6, 0xcc, "intel-core"}, /* Panther Lake: newer than all tables */
        {"GenuineIntel", 6, 0x17, "intel-core2"},
        {"GenuineIntel", 6, 0x1e, "intel-nehalem"},
        {"GenuineIntel", 6, 0x2c, "intel-westmere"},
        {"GenuineIntel", 6, 0x2d, "intel-sandybridge"},
        {"GenuineIntel", 6, 0x3e, "intel-ivybridge"},
        {"GenuineIntel", 6, 0x1c, "intel-core"}, /* Atom */
        {"GenuineIntel", 6, 0x0d, "generic"},    /* Pentium M, before the architectural events */
        {"GenuineIntel", 15, 0x04, "generic"},   /* NetBurst */
        {"AuthenticAMD", 23, 0x01, "zen1"},
        {"AuthenticAMD", 23, 0x50, "zen1"},
        {"AuthenticAMD", 23, 0x31, "zen2"},
        {"AuthenticAMD", 23, 0x71, "zen2"},
        {"AuthenticAMD", 25, 0x01, "zen3"},
        {"AuthenticAMD", 25, 0x30, "zen3"},
        {"AuthenticAMD", 25, 0x11, "zen4"},
        {"AuthenticAMD", 25, 0xa0, "zen4"},
        {"AuthenticAMD", 26, 0x02, "zen5"},
        {"AuthenticAMD", 26, 0x50, "amd-core"}, /* a model without a table */
        {"AuthenticAMD", 27, 0x01, "amd-core"}, /* a family of the future */
        {"AuthenticAMD", 21, 0x02, "generic"},  /* before Zen */
        {"HygonGenuine", 24, 0x01, "hygon"},
        {"HygonGenuine", 24, 0x04, "hygon"},
        {"CentaurHauls", 6, 0x19, "zx-c"},
        {"CentaurHauls", 6, 0x0f, "generic"}, /* VIA Nano: stepping not 14 or later */
        {"  Shanghai  ", 7, 0x1b, "zx-d"},
        {"CentaurHauls", 7, 0x3b, "zx-e"},
        {"  Shanghai  ", 7, 0x5b, "kx-7000"},
        {"  Shanghai  ", 7, 0x6b, "kx-7000"},
        {"  Shanghai  ", 7, 0x99, "generic"},
        {"GenuineIntel", 7, 0x5b, "generic"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(strcmp(family_of_x86(cases[i].vendor, cases[i].family, cases[i].model), cases[i].name) == 0,
                      "%s %d/0x%x is not taken for %s", cases[i].vendor, cases[i].family, (unsigned)cases[i].model,
                      cases[i].name);
}
END_TEST

START_TEST(zx_c_begins_with_stepping_14)
{
    struct arch_cpu cpu;
    const char *text = "processor : 0\nvendor_id : CentaurHauls\ncpu family : 6\nmodel : 15\nstepping : 14\n"
                       "cpuid level : 10\n";
    ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
    ck_assert_str_eq(arch_family_of(&cpu)->name, "zx-c");
}
END_TEST

/** Texts of cores that no recorded machine has. */
START_TEST(chips_without_a_recording_are_recognized)
{
    static const struct {
        const char *lines, *name;
    } cases[] = {
        {"cpu model : ICT Loongson-3 V0.6  FPU V0.1\n", "gs464"},
        {"cpu model : ICT Loongson-3 V0.9  FPU V0.1\n", "gs464e"},
        {"cpu model : ICT Loongson-3 V0.12  FPU V0.1\n", "gs464e"},
        {"cpu model : Loongson-3 V0.2  FPU V0.1\n", "gs464v"},
        {"cpu model : ICT Loongson-3 V1.0  FPU V0.1\n", "generic"},
        {"Model Name : Loongson-2K0500\n", "la264"},
        {"Model Name : Loongson-2K1500\n", "la364"},
        {"Model Name : Loongson-2K2000\n", "la364"},
        {"Model Name : Loongson-3B5000\n", "la464"},
        {"Model Name : Loongson-3D6000\n", "la664"},
        {"Model Name : Loongson-64bit\n", "la464"},                          /* unknown: the one table of the kernel */
        {"Model Name : Loongson-64bit\nPRID : LA664 (0014d011)\n", "la664"}, /* the id is stronger than the name */
        {"Model Name : Loongson-3A5000\nPRID : LA364 (0014b000)\n", "la364"},
        {"vendor_id : sunway\ncpu : sw421\n", "core3a"},
        {"vendor_id : sunway\nmodel name : SW1621\n", "core3a"},
        {"vendor_id : sunway\nmodel name : SW16215\n", "sunway"},
        {"vendor_id : sunway\nmodel name : SW26010\n", "sunway"},
        /* RISC-V: the ids alone name these; those of T-Head are the same on several cores */
        {"hart : 0\nmvendorid : 0x489\nmarchid : 0x8000000000000008\nmimpid : 0x6220425\n", "p550"},
        {"hart : 0\nmvendorid : 0x489\nmarchid : 0x8000000000000007\n", "u74"},
        {"hart : 0\nmvendorid : 0x489\nmarchid : 0x8000000000000009\n", "riscv-sbi"},
        {"hart : 0\nmvendorid : 0x5b7\nmarchid : 0x80000000090c0d00\n", "c910"},
        {"hart : 0\nmvendorid : 0x5b7\nmarchid : 0x0\nmimpid : 0x0\n", "riscv-sbi"},
        {"hart : 0\nuarch : thead,c908\n", "riscv-sbi"},
        {"hart : 0\nmvendorid : 0x710\nmarchid : 0x8000000058000001\n", "x60"},
        {"hart : 0\nmvendorid : 0x710\nmarchid : 0x8000000058000002\n", "riscv-sbi"},
        {"uarch : sifive,u74-mc\n", "generic"}, /* nothing shows that this is RISC-V */
        {"cpu variation : 2\n", "sunway"},
        {"CPU implementer : 0x70\nCPU architecture: 8\nCPU part : 0x661\n", "ftc661"},
        {"CPU implementer : 0x70\nCPU architecture: 8\nCPU part : 0x664\n", "ftc664"},
        {"CPU implementer : 0x70\nCPU architecture: 8\nCPU part : 0x999\n", "phytium"},
        {"CPU implementer : 0x48\nCPU architecture: 8\nCPU part : 0xd02\n", "armv8"},
        {"CPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0x663\n", "armv8"},
        {"CPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0xd0c\n", "neoverse-n1"},
        {"CPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0xd4f\n", "neoverse-v2"},
        {"CPU implementer : 0x6d\nCPU architecture: 8\nCPU part : 0xd49\n", "neoverse-n2"}, /* Azure Cobalt 100 */
        {"CPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0xd42\n", "cortex-a78"},
        {"CPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0xd4c\n", "cortex-x1"},
        {"CPU implementer : 0xc0\nCPU architecture: 8\nCPU part : 0xac4\n", "ampere1a"},
        {"CPU implementer : 0x61\nCPU architecture: 8\nCPU part : 0x039\n", "apple-avalanche"},
        {"CPU implementer : 0x61\nCPU architecture: 8\nCPU part : 0x999\n", "armv8"},   /* an Apple core that is new */
        {"CPU implementer : 0x41\nCPU architecture: 7\nCPU part : 0xc0f\n", "generic"}, /* 32-bit Arm */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        struct arch_cpu cpu;
        snprintf(text, sizeof(text), "processor : 0\n%s", cases[i].lines);
        ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
        ck_assert_str_eq(arch_family_of(&cpu)->name, cases[i].name);
    }
}
END_TEST

START_TEST(each_kind_of_core_of_a_mixed_machine_has_its_family)
{
    struct arch_cpu cpu;
    ck_assert_int_eq(arch_cpu_parse(read_cpuinfo("phytium_e2000q"), &cpu), 0);
    ck_assert_uint_eq(cpu.n_core_ids, 2);
    ck_assert_int_eq(cpu.core_ids[0].part, 0x303);
    ck_assert_int_eq(cpu.core_ids[0].processor, 0);
    ck_assert_int_eq(cpu.core_ids[1].implementer, 0x70);
    ck_assert_int_eq(cpu.core_ids[1].part, 0x664);
    ck_assert_int_eq(cpu.core_ids[1].processor, 2);
    ck_assert_str_eq(arch_family_of_core_id(&cpu, 0)->name, "ftc310");
    ck_assert_str_eq(arch_family_of_core_id(&cpu, 1)->name, "ftc664");

    ck_assert_int_eq(arch_cpu_parse(read_cpuinfo("kunpeng920"), &cpu), 0);
    ck_assert_uint_eq(cpu.n_core_ids, 1);
    ck_assert_int_eq(arch_cpu_parse(read_cpuinfo("intel_skx"), &cpu), 0);
    ck_assert_uint_eq(cpu.n_core_ids, 0);
}
END_TEST

START_TEST(the_core_type_picks_the_family_of_an_intel_hybrid)
{
    static const struct {
        int model;
        const char *performance, *efficient, *low_power;
    } cases[] = {
        {0x97, "intel-goldencove", "intel-gracemont", "intel-core"},
        {0x9a, "intel-goldencove", "intel-gracemont", "intel-core"},
        {0xb7, "intel-goldencove", "intel-gracemont", "intel-core"},
        {0xba, "intel-goldencove", "intel-gracemont", "intel-core"},
        {0xbf, "intel-goldencove", "intel-gracemont", "intel-core"},
        {0xaa, "intel-redwoodcove", "intel-crestmont", "intel-core"},
        {0xac, "intel-redwoodcove", "intel-crestmont", "intel-core"},
        {0xb5, "intel-redwoodcove", "intel-crestmont", "intel-core"},
        {0xbd, "intel-lioncove", "intel-skymont", "intel-core"},
        {0xc5, "intel-lioncove", "intel-skymont", "intel-crestmont"},
        {0xc6, "intel-lioncove", "intel-skymont", "intel-core"},
        {0xcc, "intel-core", "intel-core", "intel-core"},
        {0xbe, "intel-gracemont", "intel-gracemont", "intel-gracemont"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arch_cpu cpu;
        char text[256];
        snprintf(text, sizeof(text),
                 "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : %d\ncpuid level : 32\n",
                 cases[i].model);
        ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
        ck_assert_int_eq(cpu.core_type, ARCH_CORE_ANY);
        ck_assert_str_eq(arch_family_of_core(&cpu, ARCH_CORE_PERFORMANCE)->name, cases[i].performance);
        ck_assert_str_eq(arch_family_of_core(&cpu, ARCH_CORE_EFFICIENT)->name, cases[i].efficient);
        ck_assert_str_eq(arch_family_of_core(&cpu, ARCH_CORE_LOW_POWER)->name, cases[i].low_power);
    }
}
END_TEST

START_TEST(kinds_of_cores_are_bounded)
{
    char text[2048], *end = text;
    struct arch_cpu cpu;
    for (int i = 0; i < 2 * ARCH_CORE_IDS_MAX; i++)
        end += sprintf(end, "processor : %d\nCPU implementer : 0x41\nCPU architecture: 8\nCPU part : %#x\n\n", i,
                       0xd00 + i);
    ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
    ck_assert_uint_eq(cpu.n_core_ids, ARCH_CORE_IDS_MAX);
    ck_assert_int_eq(cpu.core_ids[ARCH_CORE_IDS_MAX - 1].processor, ARCH_CORE_IDS_MAX - 1);
}
END_TEST

START_TEST(architectural_flag_makes_an_intel_core_of_any_family)
{
    struct arch_cpu cpu;
    const char *text = "processor : 0\nvendor_id : GenuineIntel\ncpu family : 19\nmodel : 1\ncpuid level : 35\n"
                       "flags : fpu arch_perfmon msr\n";
    ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
    ck_assert_str_eq(arch_family_of(&cpu)->name, "intel-core");
}
END_TEST

START_TEST(text_that_is_no_cpuinfo_is_refused)
{
    static const char *const texts[] = {"",          "\n\n",         "hello\n", "MemTotal: 1 kB\nMemFree: 2 kB\n",
                                        "processor", "\177ELF\2\1\1"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct arch_cpu cpu;
        ck_assert_int_eq(arch_cpu_parse(texts[i], &cpu), UPMU_E_FORMAT);
        ck_assert_ptr_nonnull(strstr(upmu_error(), "cpuinfo"));
    }
}
END_TEST

START_TEST(first_processor_counts_on_mixed_machines)
{
    struct arch_cpu cpu;
    const char *text = "processor : 0\nvendor_id : First\nmodel name : little\ncpu model : one\nflags : a\n"
                       "CPU implementer : 0x70\nPRID : X (00000001)\n\n"
                       "processor : 1\nvendor_id : Second\nmodel name : big\ncpu model : two\nflags : b hypervisor\n"
                       "CPU implementer : 0x41\nPRID : Y (00000002)\n";
    ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
    ck_assert_str_eq(cpu.vendor, "First");
    ck_assert_str_eq(cpu.model_name, "little");
    ck_assert_str_eq(cpu.cpu_model, "one");
    ck_assert_str_eq(cpu.flags, " a ");
    ck_assert_int_eq(cpu.implementer, 0x70);
    ck_assert_uint_eq(cpu.prid, 1);
    ck_assert(!cpu.hypervisor);
}
END_TEST

START_TEST(first_processor_counts_and_odd_values_do_not)
{
    struct arch_cpu cpu;
    const char *text = "processor : 0\nmodel : abc\nstepping : 99999999999\ncpu family :\nCPU part : 0xd03\n"
                       "no colon here\n: no key\nprocessor : 1\nmodel : 7\nCPU part : 0xd08";
    ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
    ck_assert_int_eq(cpu.part, 0xd03);
    ck_assert_int_eq(cpu.stepping, -1);
    ck_assert_int_eq(cpu.family, -1);
    ck_assert_str_eq(cpu.machine, "");
    ck_assert_str_eq(arch_family_of(&cpu)->name, "generic");
}
END_TEST

START_TEST(values_longer_than_their_field_are_cut)
{
    static char text[8192];
    struct arch_cpu cpu;
    char *end = text + sprintf(text, "processor : 0\nmodel name : ");
    memset(end, 'x', 500);
    end += 500;
    end += sprintf(end, "\nflags :");
    for (int i = 0; i < 600; i++)
        end += sprintf(end, " flag%03d", i);
    sprintf(end, "\n");
    ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
    ck_assert_uint_eq(strlen(cpu.model_name), sizeof(cpu.model_name) - 1);
    size_t length = strlen(cpu.flags);
    ck_assert_uint_lt(length, sizeof(cpu.flags));
    ck_assert_int_eq(cpu.flags[0], ' ');
    ck_assert_int_eq(cpu.flags[length - 1], ' ');
    ck_assert_uint_eq((length - 1) % strlen(" flag000"), 0); /* whole words only */
    ck_assert_ptr_nonnull(strstr(cpu.flags, " flag000 "));
}
END_TEST

START_TEST(prid_is_read_from_its_parentheses)
{
    static const struct {
        const char *line;
        uint32_t prid;
    } cases[] = {
        {"PRID : LA664 (0014d010)", 0x0014d010},
        {"PRID : LA664", 0},
        {"PRID : LA664 (", 0},
        {"PRID : LA664 ()", 0},
        {"PRID : LA664 (zz)", 0},
        {"PRID : (14c010)", 0x14c010},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        struct arch_cpu cpu;
        snprintf(text, sizeof(text), "processor : 0\nModel Name : x\n%s\n", cases[i].line);
        ck_assert_int_eq(arch_cpu_parse(text, &cpu), 0);
        ck_assert_msg(cpu.prid == cases[i].prid, "'%s' gives 0x%x", cases[i].line, cpu.prid);
    }
}
END_TEST

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER-OF-MACHINES\n", argv[0]);
        return 2;
    }
    machines = argv[1];
    TCase *t = tcase_create("cpuinfo");
    tcase_add_loop_test(t, recorded_machine_is_recognized, 0, (int)(sizeof(expected) / sizeof(expected[0])));
    tcase_add_test(t, x86_model_picks_the_family);
    tcase_add_test(t, zx_c_begins_with_stepping_14);
    tcase_add_test(t, chips_without_a_recording_are_recognized);
    tcase_add_test(t, each_kind_of_core_of_a_mixed_machine_has_its_family);
    tcase_add_test(t, the_core_type_picks_the_family_of_an_intel_hybrid);
    tcase_add_test(t, kinds_of_cores_are_bounded);
    tcase_add_test(t, architectural_flag_makes_an_intel_core_of_any_family);
    tcase_add_test(t, text_that_is_no_cpuinfo_is_refused);
    tcase_add_test(t, first_processor_counts_on_mixed_machines);
    tcase_add_test(t, first_processor_counts_and_odd_values_do_not);
    tcase_add_test(t, values_longer_than_their_field_are_cut);
    tcase_add_test(t, prid_is_read_from_its_parentheses);
    return run_suite("arch.cpuinfo", t);
}
