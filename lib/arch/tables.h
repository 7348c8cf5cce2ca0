/* SPDX-License-Identifier: MIT */
/** @file All families; families.c orders them. */
#ifndef UPMU_ARCH_TABLES_H
#define UPMU_ARCH_TABLES_H

#include "arch/event_tables.h" /* made by the build from data/events */
#include "core/arch_ops.h"

extern const struct arch_family arch_intel_core2;
extern const struct arch_family arch_intel_nehalem;
extern const struct arch_family arch_intel_westmere;
extern const struct arch_family arch_intel_sandybridge;
extern const struct arch_family arch_intel_ivybridge;
extern const struct arch_family arch_intel_haswell;
extern const struct arch_family arch_intel_broadwell;
extern const struct arch_family arch_intel_skylake;
extern const struct arch_family arch_intel_icelake;
extern const struct arch_family arch_intel_sapphirerapids;
extern const struct arch_family arch_intel_goldencove;
extern const struct arch_family arch_intel_gracemont;
extern const struct arch_family arch_intel_redwoodcove;
extern const struct arch_family arch_intel_crestmont;
extern const struct arch_family arch_intel_lioncove;
extern const struct arch_family arch_intel_skymont;
extern const struct arch_family arch_intel_graniterapids;
extern const struct arch_family arch_intel_sierraforest;
extern const struct arch_family arch_intel_core;
extern const struct arch_family arch_zen1;
extern const struct arch_family arch_zen2;
extern const struct arch_family arch_zen3;
extern const struct arch_family arch_zen4;
extern const struct arch_family arch_zen5;
extern const struct arch_family arch_amd_core;
extern const struct arch_family arch_hygon;
extern const struct arch_family arch_zx_c;
extern const struct arch_family arch_zx_d;
extern const struct arch_family arch_zx_e;
extern const struct arch_family arch_kx_7000;
extern const struct arch_family arch_loongson2ef;
extern const struct arch_family arch_gs464;
extern const struct arch_family arch_gs464e;
extern const struct arch_family arch_gs464v;
extern const struct arch_family arch_loongson2k;
extern const struct arch_family arch_la264;
extern const struct arch_family arch_la364;
extern const struct arch_family arch_la464;
extern const struct arch_family arch_la664;
extern const struct arch_family arch_core3a;
extern const struct arch_family arch_core3b;
extern const struct arch_family arch_core4;
extern const struct arch_family arch_sunway;
extern const struct arch_family arch_armv8;
extern const struct arch_family arch_neoverse_n1;
extern const struct arch_family arch_neoverse_n2;
extern const struct arch_family arch_neoverse_v1;
extern const struct arch_family arch_neoverse_v2;
extern const struct arch_family arch_neoverse_e1;
extern const struct arch_family arch_neoverse_n3;
extern const struct arch_family arch_neoverse_v3;
extern const struct arch_family arch_cortex_a65;
extern const struct arch_family arch_cortex_a715;
extern const struct arch_family arch_cortex_x3;
extern const struct arch_family arch_thunderx2;
extern const struct arch_family arch_a64fx;
extern const struct arch_family arch_cortex_a34;
extern const struct arch_family arch_cortex_a35;
extern const struct arch_family arch_cortex_a53;
extern const struct arch_family arch_cortex_a55;
extern const struct arch_family arch_cortex_a57;
extern const struct arch_family arch_cortex_a72;
extern const struct arch_family arch_cortex_a73;
extern const struct arch_family arch_cortex_a75;
extern const struct arch_family arch_cortex_a76;
extern const struct arch_family arch_cortex_a77;
extern const struct arch_family arch_cortex_a78;
extern const struct arch_family arch_cortex_x1;
extern const struct arch_family arch_cortex_a510;
extern const struct arch_family arch_cortex_a710;
extern const struct arch_family arch_cortex_x2;
extern const struct arch_family arch_ampere1;
extern const struct arch_family arch_ampere1a;
extern const struct arch_family arch_apple_firestorm;
extern const struct arch_family arch_apple_icestorm;
extern const struct arch_family arch_apple_avalanche;
extern const struct arch_family arch_apple_blizzard;
extern const struct arch_family arch_kunpeng920;
extern const struct arch_family arch_phytium;
extern const struct arch_family arch_ftc310;
extern const struct arch_family arch_ftc660;
extern const struct arch_family arch_ftc661;
extern const struct arch_family arch_ftc662;
extern const struct arch_family arch_ftc663;
extern const struct arch_family arch_ftc664;
extern const struct arch_family arch_ftc862;
extern const struct arch_family arch_c906;
extern const struct arch_family arch_c910;
extern const struct arch_family arch_u74;
extern const struct arch_family arch_p550;
extern const struct arch_family arch_x60;
extern const struct arch_family arch_riscv_sbi;
extern const struct arch_family arch_generic;

/** Results of `matches`: a family of the model beats one of the vendor, which beats generic. */
enum arch_match {
    ARCH_MATCH_NO = 0,
    ARCH_MATCH_ANY = 1,
    ARCH_MATCH_VENDOR = 10,
    ARCH_MATCH_MODEL = 20,
};

#endif
