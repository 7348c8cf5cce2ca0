/* SPDX-License-Identifier: MIT */
/**
 * @file Sunway core3A (SW421, SW1621): perf generic events only.
 *
 * The core's encodings are not public, and the public Sunway kernels have one driver for the third generation,
 * named after core3B. A raw encoding of core3B could count something else here. The restrictions are those of
 * core3B.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "arch/row.h"
#include "arch/tables.h"

/** No /proc/cpuinfo of one is public: the chip's name is searched in every line where Sunway kernels print one. */
static bool core3a_is_named(const char *text)
{
    static const char *const chips[] = {"SW421", "SW1621"};
    for (size_t i = 0; i < ROWS(chips); i++) {
        size_t len = strlen(chips[i]);
        if (strncasecmp(text, chips[i], len) == 0 && !isdigit((unsigned char)text[len]))
            return true;
    }
    return false;
}

static int is_core3a(const struct arch_cpu *cpu)
{
    bool named = core3a_is_named(cpu->model_name) || core3a_is_named(cpu->cpu_model);
    return strcmp(cpu->machine, "sw_64") == 0 && named ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_core3a = {
    .name = "core3a",
    .title = "Sunway core3A (SW421, SW1621)",
    .table = &arch_table_core3a,
    .vendor = "sunway",
    .core_pmu = "cpu",
    .counters = {.no_group_check = true, .no_exclude_hv = true, .shared_filter = true, .no_software_siblings = true},
    .matches = is_core3a,
    .remark = "the raw encodings of this core are not public; the public driver of the generation ties each event to "
              "one of two counters, so that cycles and instructions never count together, and its first version "
              "refuses user and kernel filters",
    .choice = "perf generic events: the raw encodings of this core are not public",
};
