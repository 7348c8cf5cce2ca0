/* SPDX-License-Identifier: MIT */
/* Machines under kernels: who is tried. Place: tests. Before it: the sweeps; after it: the drivers. */
#include "models/machines.h"

#define AMD(family, model)                                                                   \
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: " family "\nmodel\t\t: " model \
    "\nmodel name\t: AMD\nstepping\t: 1\nflags\t\t: fpu tsc msr constant_tsc nonstop_tsc\n"
#define INTEL(model)                                                                                          \
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: " model "\nmodel name\t: Intel\n" \
    "stepping\t: 1\ncpuid level\t: 11\nflags\t\t: fpu tsc msr constant_tsc nonstop_tsc arch_perfmon\n"
#define ZHAOXIN(family, model)                                                               \
    "processor\t: 0\nvendor_id\t: CentaurHauls\ncpu family\t: " family "\nmodel\t\t: " model \
    "\nmodel name\t: ZHAOXIN\nstepping\t: 14\nflags\t\t: fpu tsc msr constant_tsc nonstop_tsc\n"

#define CPU_PMU(driver)                       \
    {                                         \
        {                                     \
            "cpu", KERNEL_TYPE_RAW, &(driver) \
        }                                     \
    }
#define ARM_PMU(driver)                   \
    {                                     \
        {                                 \
            "armv8_pmuv3_0", 8, &(driver) \
        }                                 \
    }

static const char *const arm_files[] = {
    "/sys/bus/event_source/devices/armv8_pmuv3_0/format/rdpmc",
    "config1:1\n",
    "/sys/bus/event_source/devices/armv8_pmuv3_0/format/event",
    "config:0-15\n",
    NULL,
};
static const char *const e2000_files[] = {
    "/sys/bus/event_source/devices/armv8_pmuv3_0/cpus",
    "0-1\n",
    "/sys/bus/event_source/devices/armv8_pmuv3_1/cpus",
    "2-3\n",
    NULL,
};

#define HYBRID_FILES(name, core, atom)                                                           \
    static const char *const name[] = {"/sys/bus/event_source/devices/cpu_core/cpus", core "\n", \
                                       "/sys/bus/event_source/devices/cpu_atom/cpus", atom "\n", NULL}
HYBRID_FILES(alderlake_files, "0-15", "16-23");
HYBRID_FILES(meteorlake_files, "0-11", "12-21");
HYBRID_FILES(lunarlake_files, "0-3", "4-7");

const struct model_machine model_machines[] = {
    {.name = "3A1000, vendor kernel",
     .recording = "loongson3a1000",
     .release = "4.19.0",
     .pmus = CPU_PMU(model_mips_type1)},
    {.name = "3A3000", .recording = "loongson3a3000_mainline", .release = "6.12.0", .pmus = CPU_PMU(model_mips_type2)},
    {.name = "3A3000, 7+1 bits",
     .recording = "loongson3a3000_loongnix",
     .refuses_all = true,
     .release = "4.14.0",
     .pmus = CPU_PMU(model_mips_7plus1_gs464e)},
    {.name = "3A3000, vendor kernel with its table",
     .recording = "loongson3a3000_loongnix",
     .release = "4.19.0",
     .pmus = CPU_PMU(model_mips_type2)},
    {.name = "3A4000", .recording = "loongson3a4000_mainline", .release = "6.12.0", .pmus = CPU_PMU(model_mips_type3)},
    {.name = "3A4000, 7+1 bits",
     .recording = "loongson3b4000_vendor",
     .refuses_all = true,
     .release = "5.4.0",
     .pmus = CPU_PMU(model_mips_7plus1_gs464v)},
    {.name = "3A4000, vendor kernel with its table",
     .recording = "loongson3b4000_vendor",
     .release = "5.4.0",
     .pmus = CPU_PMU(model_mips_type3)},
    {.name = "2K1000", .recording = "loongson2k1000_mips", .release = "6.12.0", .pmus = CPU_PMU(model_mips_2k1000)},
    {.name = "3A5000", .recording = "loongarch_3a5000", .release = "6.12.0", .pmus = CPU_PMU(model_loongarch)},
    {.name = "3A5000, vendor kernel",
     .recording = "loongarch_3a5000",
     .release = "4.19.0",
     .pmus = CPU_PMU(model_loongarch_8bit)},
    {.name = "3A6000", .recording = "loongarch_3a6000", .release = "6.12.0", .pmus = CPU_PMU(model_loongarch)},
    {.name = "SW3231", .recording = "sunway_sw3231", .release = "5.10.0", .pmus = CPU_PMU(model_core3b)},
    {.name = "SW831, older openEuler",
     .recording = "sunway_sw831",
     .release = "4.19.0",
     .pmus = CPU_PMU(model_core3b_kernel_wins)},
    {.name = "SW421", .recording = "sunway_sw421", .release = "4.19.0", .pmus = CPU_PMU(model_core3a)},
    {.name = "SW421, first driver",
     .recording = "sunway_sw421",
     .release = "4.19.0",
     .pmus = CPU_PMU(model_core3a_first)},
    {.name = "Sunway C4", .recording = "sunway_core4", .release = "6.6.0", .pmus = CPU_PMU(model_core4)},
    {.name = "Kunpeng 920",
     .recording = "kunpeng920",
     .release = "6.12.0",
     .pmus = ARM_PMU(model_kunpeng920),
     .files = arm_files},
    {.name = "Cortex-A72",
     .recording = "arm64-qemu7.2-cortex-a72-linux6.1",
     .release = "6.1.0",
     .pmus = ARM_PMU(model_armv8_full),
     .files = arm_files},
    {.name = "D3000",
     .recording = "phytium_d3000",
     .release = "6.12.0",
     .pmus = ARM_PMU(model_phytium_full),
     .files = arm_files},
    {.name = "D2000, required events",
     .recording = "phytium_d2000",
     .release = "6.12.0",
     .pmus = ARM_PMU(model_phytium_sparse),
     .files = arm_files},
    {.name = "E2000Q",
     .recording = "phytium_e2000q",
     .release = "6.12.0",
     .files = e2000_files,
     .pmus = {{"armv8_pmuv3_0", 8, &model_phytium_little}, {"armv8_pmuv3_1", 9, &model_phytium_big}}},
    {.name = "Core 2", .cpuinfo = INTEL("23"), .release = "6.12.0", .pmus = CPU_PMU(model_intel_core2)},
    {.name = "Core 2, watchdog",
     .cpuinfo = INTEL("23"),
     .watchdog = true,
     .release = "6.12.0",
     .pmus = CPU_PMU(model_intel_core2)},
    {.name = "Nehalem", .cpuinfo = INTEL("26"), .release = "6.12.0", .pmus = CPU_PMU(model_intel_nehalem)},
    {.name = "Ivy Bridge", .cpuinfo = INTEL("62"), .release = "6.12.0", .pmus = CPU_PMU(model_intel_ivybridge)},
    {.name = "Skylake", .recording = "intel_skx", .release = "6.12.0", .pmus = CPU_PMU(model_intel_skylake)},
    {.name = "Skylake, a guest",
     .recording = "intel_skx",
     .no_page_clock = true,
     .release = "6.12.0",
     .pmus = CPU_PMU(model_intel_skylake)},
    {.name = "Skylake, watchdog",
     .recording = "intel_skx",
     .watchdog = true,
     .release = "6.12.0",
     .pmus = CPU_PMU(model_intel_skylake)},
    {.name = "Alder Lake",
     .recording = "intel_alderlake",
     .release = "6.12.0",
     .files = alderlake_files,
     .pmus = {{"cpu_core", KERNEL_TYPE_RAW, &model_intel_goldencove}, {"cpu_atom", 10, &model_intel_gracemont}}},
    {.name = "Alder Lake, watchdog",
     .recording = "intel_alderlake",
     .watchdog = true,
     .release = "6.12.0",
     .files = alderlake_files,
     .pmus = {{"cpu_core", KERNEL_TYPE_RAW, &model_intel_goldencove}, {"cpu_atom", 10, &model_intel_gracemont}}},
    {.name = "Meteor Lake",
     .recording = "intel_meteorlake",
     .release = "6.12.0",
     .files = meteorlake_files,
     .pmus = {{"cpu_core", KERNEL_TYPE_RAW, &model_intel_goldencove}, {"cpu_atom", 10, &model_intel_crestmont}}},
    {.name = "Lunar Lake",
     .recording = "intel_lunarlake",
     .release = "6.14.0",
     .files = lunarlake_files,
     .pmus = {{"cpu_core", KERNEL_TYPE_RAW, &model_intel_lioncove}, {"cpu_atom", 10, &model_intel_skymont}}},
    {.name = "Alder Lake-N", .cpuinfo = INTEL("190"), .release = "6.12.0", .pmus = CPU_PMU(model_intel_gracemont)},
    {.name = "Sapphire Rapids", .cpuinfo = INTEL("143"), .release = "6.12.0", .pmus = CPU_PMU(model_intel_goldencove)},
    {.name = "Granite Rapids",
     .recording = "intel_graniterapids",
     .release = "6.12.0",
     .pmus = CPU_PMU(model_intel_goldencove)},
    {.name = "Sierra Forest",
     .recording = "intel_sierraforest",
     .release = "6.12.0",
     .pmus = CPU_PMU(model_intel_crestmont)},
    {.name = "Zen 3, watchdog",
     .recording = "amd_zen3",
     .watchdog = true,
     .release = "6.12.0",
     .pmus = CPU_PMU(model_zen2)},
    {.name = "Zen 1", .cpuinfo = AMD("23", "1"), .release = "6.12.0", .pmus = CPU_PMU(model_zen1)},
    {.name = "Zen 2", .cpuinfo = AMD("23", "49"), .release = "6.12.0", .pmus = CPU_PMU(model_zen2)},
    {.name = "Zen 3", .recording = "amd_zen3", .release = "6.12.0", .pmus = CPU_PMU(model_zen2)},
    {.name = "Zen 3, older kernel",
     .recording = "amd_zen3",
     .release = "6.1.0",
     .pmus = CPU_PMU(model_zen2_before_2024)},
    {.name = "Zen 4", .cpuinfo = AMD("25", "17"), .release = "6.12.0", .pmus = CPU_PMU(model_zen4)},
    {.name = "Hygon", .recording = "hygon_7285", .release = "6.12.0", .pmus = CPU_PMU(model_hygon_since_2024)},
    {.name = "Hygon, older kernel",
     .recording = "hygon_7285",
     .release = "6.1.0",
     .pmus = CPU_PMU(model_hygon_before_2024)},
    {.name = "ZX-C", .cpuinfo = ZHAOXIN("6", "25"), .release = "6.12.0", .pmus = CPU_PMU(model_zxc)},
    {.name = "ZX-D", .recording = "zhaoxin_shanghai", .release = "6.12.0", .pmus = CPU_PMU(model_zxd)},
    {.name = "ZX-E", .recording = "zhaoxin_kx6780a", .release = "6.12.0", .pmus = CPU_PMU(model_zxe)},
    {.name = "KX-7000", .cpuinfo = ZHAOXIN("7", "91"), .release = "6.6.0", .pmus = CPU_PMU(model_kx7000)},
    {.name = "RISC-V",
     .recording = "riscv64-qemu10.0-rv64-linux6.12",
     .release = "6.12.0",
     .pmus = CPU_PMU(model_riscv_filtering)},
    {.name = "RISC-V, no filter",
     .recording = "riscv64-qemu10.0-rv64-linux6.12",
     .release = "6.12.0",
     .pmus = CPU_PMU(model_riscv_unfiltered)},
    {.name = "RISC-V, legacy", .recording = "riscv_generic", .release = "6.12.0", .pmus = CPU_PMU(model_riscv_legacy)},
    {.name = "C906", .recording = "riscv_c906", .release = "6.14.0", .pmus = CPU_PMU(model_riscv_c906)},
    {.name = "C910", .recording = "riscv_c910", .release = "6.6.0", .pmus = CPU_PMU(model_riscv_c910)},
    {.name = "U74", .recording = "riscv_u74", .release = "6.12.0", .pmus = CPU_PMU(model_riscv_u74)},
    {.name = "U74, no raw events",
     .recording = "riscv_generic",
     .release = "6.12.0",
     .pmus = CPU_PMU(model_riscv_u74_no_raw)},
    {.name = "P550", .recording = "riscv_p550", .release = "6.15.0", .pmus = CPU_PMU(model_riscv_p550)},
    {.name = "X60", .recording = "riscv_x60", .release = "6.6.0", .pmus = CPU_PMU(model_riscv_x60)},
};
const size_t model_n_machines = sizeof model_machines / sizeof model_machines[0];
