/* SPDX-License-Identifier: MIT */
/** @file Chip names such as "3a5000", "Loongson-3A5000" or "kx-6000", with their families. */
#include <ctype.h>
#include <string.h>

#include "arch/tables.h"
#include "base/text/suggest.h"

/** A chip, without the vendor's name. */
struct chip {
    const char *name;
    const struct arch_family *family;
};

static const struct chip chips[] = {
    {"2e", &arch_loongson2ef},
    {"2f", &arch_loongson2ef},
    {"3a1000", &arch_gs464},
    {"3b1000", &arch_gs464},
    {"3b1500", &arch_gs464},
    {"3a2000", &arch_gs464e},
    {"3a3000", &arch_gs464e},
    {"3a4000", &arch_gs464v},
    {"3b4000", &arch_gs464v},
    {"2k1000-mips", &arch_loongson2k},
    {"2k0500", &arch_la264},
    {"2k1000", &arch_la264},
    {"2k1000la", &arch_la264},
    {"2k1500", &arch_la364},
    {"2k2000", &arch_la364},
    {"3a5000", &arch_la464},
    {"3b5000", &arch_la464},
    {"3c5000", &arch_la464},
    {"3d5000", &arch_la464},
    {"3a6000", &arch_la664},
    {"3b6000", &arch_la664},
    {"3c6000", &arch_la664},
    {"3d6000", &arch_la664},
    {"3e6000", &arch_la664},
    {"sw3231", &arch_core3b},
    {"sw831", &arch_core3b},
    {"c4", &arch_core4},
    {"sw421", &arch_core3a},
    {"sw1621", &arch_core3a},
    {"sw26010", &arch_sunway},
    {"ft-1500a", &arch_ftc660},
    {"ft-2000a", &arch_ftc661},
    {"ft-2000+", &arch_ftc662},
    {"ft-2000/4", &arch_ftc663},
    {"d2000", &arch_ftc663},
    {"s2500", &arch_ftc663},
    {"e2000", &arch_ftc664}, /* its big cores; the small ones are ftc310 */
    {"d3000", &arch_ftc862},
    {"s5000c", &arch_ftc862},
    {"tsv110", &arch_kunpeng920},
    {"hip08", &arch_kunpeng920},
    {"hip09", &arch_armv8},
    {"pmuv3", &arch_armv8},
    {"altra", &arch_neoverse_n1},
    {"graviton2", &arch_neoverse_n1},
    {"graviton3", &arch_neoverse_v1},
    {"graviton4", &arch_neoverse_v2},
    {"grace", &arch_neoverse_v2},
    {"axion", &arch_neoverse_v2},
    {"cobalt100", &arch_neoverse_n2},
    {"yitian710", &arch_neoverse_n2},
    {"vulcan", &arch_thunderx2},
    {"ampereone", &arch_ampere1},
    {"ampereonex", &arch_ampere1a},
    {"bcm2837", &arch_cortex_a53},
    {"bcm2711", &arch_cortex_a72},
    {"bcm2712", &arch_cortex_a76},
    {"m1", &arch_apple_firestorm}, /* the fast cores; the small ones are apple-icestorm */
    {"m2", &arch_apple_avalanche}, /* likewise apple-blizzard */
    {"arm64", &arch_armv8},
    {"riscv", &arch_riscv_sbi},
    {"d1", &arch_c906},
    {"c920", &arch_c910},
    {"th1520", &arch_c910},
    {"sg2042", &arch_c910},
    {"sg2044", &arch_c910},
    {"u740", &arch_u74},
    {"jh7110", &arch_u74},
    {"eic7700", &arch_p550},
    {"eic7700x", &arch_p550},
    {"k1", &arch_x60},
    {"dhyana", &arch_hygon},
    {"c86", &arch_hygon},
    {"wudaokou", &arch_zx_d},
    {"kx-5000", &arch_zx_d},
    {"lujiazui", &arch_zx_e},
    {"kx-6000", &arch_zx_e},
    {"yongfeng", &arch_kx_7000},
    {"shijidadao", &arch_kx_7000},
    {"merom", &arch_intel_core2},
    {"conroe", &arch_intel_core2},
    {"penryn", &arch_intel_core2},
    {"cascadelake", &arch_intel_skylake},
    {"cooperlake", &arch_intel_skylake},
    {"kabylake", &arch_intel_skylake},
    {"cometlake", &arch_intel_skylake},
    {"tigerlake", &arch_intel_icelake},
    {"rocketlake", &arch_intel_icelake},
    {"emeraldrapids", &arch_intel_sapphirerapids},
    {"alderlake", &arch_intel_goldencove}, /* its performance cores, as for the other hybrid CPUs */
    {"raptorlake", &arch_intel_goldencove},
    {"alderlake-n", &arch_intel_gracemont},
    {"twinlake", &arch_intel_gracemont},
    {"meteorlake", &arch_intel_redwoodcove},
    {"arrowlake-u", &arch_intel_redwoodcove},
    {"lunarlake", &arch_intel_lioncove},
    {"arrowlake", &arch_intel_lioncove},
    {"grandridge", &arch_intel_sierraforest},
    {"naples", &arch_zen1},
    {"rome", &arch_zen2},
    {"milan", &arch_zen3},
    {"genoa", &arch_zen4},
    {"turin", &arch_zen5},
};

/** Vendor names that may precede a chip's name. */
static const char *const makers[] = {"loongson", "godson",  "sunway", "phytium", "hisilicon", "kunpeng", "hygon",
                                     "zhaoxin",  "kaixian", "amd",    "intel",   "arm",       "apple",   "ampere",
                                     "cavium",   "fujitsu", "t-head", "thead",   "sifive",    "spacemit"};

enum { CHIP_NAME_MAX = 48 };

/** Keep letters in lower case, digits, and '+' inside a name. */
static void chip_plain_name(const char *name, char *out)
{
    size_t len = 0;
    for (; *name && len + 1 < CHIP_NAME_MAX; name++) {
        if (isalnum((unsigned char)*name) || *name == '+')
            out[len++] = (char)tolower((unsigned char)*name);
    }
    out[len] = '\0';
}

/** The name after the vendor's; the whole text if there is no vendor or nothing follows. */
static const char *chip_without_maker(const char *plain)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        size_t len = strlen(makers[i]);
        if (strncmp(plain, makers[i], len) == 0 && plain[len] != '\0')
            return plain + len;
    }
    return plain;
}

/** Whether a given name is the one of a table, ignoring the vendor's name on either side. */
static bool chip_names_agree(const char *asked, const char *known)
{
    char a[CHIP_NAME_MAX] = "", k[CHIP_NAME_MAX] = "";
    chip_plain_name(asked, a);
    chip_plain_name(known, k);
    return strcmp(a, k) == 0 || strcmp(chip_without_maker(a), chip_without_maker(k)) == 0;
}

const struct arch_family *arch_family_called(const char *name)
{
    if (strlen(name) >= CHIP_NAME_MAX)
        return NULL;
    const struct arch_family *named = arch_family_named(name);
    for (size_t i = 0; !named && upmu_arch_families[i]; i++) {
        if (chip_names_agree(name, upmu_arch_families[i]->name))
            named = upmu_arch_families[i];
    }
    for (size_t i = 0; !named && i < sizeof(chips) / sizeof(chips[0]); i++) {
        if (chip_names_agree(name, chips[i].name))
            named = chips[i].family;
    }
    return named;
}

void arch_family_offer(struct suggest *s)
{
    for (size_t i = 0; upmu_arch_families[i]; i++)
        suggest_offer(s, upmu_arch_families[i]->name);
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
        suggest_offer(s, chips[i].name);
}
