/* SPDX-License-Identifier: MIT */
/** @file Cells of event tables: match words, encodings, counters and formulas. */
#include "arch/generator/cells.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/generator/text.h"
#include "upmu/upmu.h"

enum { CELLS_WEIGHT_MAX = 1024, CELLS_HARDWARE_IDS = 10 };

const char *cells_match(const char *cell, uint8_t *match)
{
    static const char *const words[] = {
        [UPMU_MATCH_ABSENT] = "absent",
        [UPMU_MATCH_EXACT] = "exact",
        [UPMU_MATCH_APPROXIMATE] = "approximate",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] && strcmp(cell, words[i]) == 0) {
            *match = (uint8_t)i;
            return NULL;
        }
    return "match must be exact, approximate or absent";
}

/** A number at the start of `text`: decimal, or hexadecimal with 0x. @return what follows, NULL without one */
static const char *cells_number(const char *text, bool hex_only, uint64_t *out)
{
    bool hex = text[0] == '0' && text[1] == 'x';
    const char *digits = hex ? text + 2 : text;
    char *end = NULL;
    if ((hex_only && !hex) || !isxdigit((unsigned char)*digits))
        return NULL;
    errno = 0;
    *out = strtoull(digits, &end, hex ? 16 : 10);
    return errno || end == digits ? NULL : end;
}

/** `=0xRAW` behind a perf generic event, or nothing. */
static const char *cells_behind(const char *rest, struct arch_event *out)
{
    out->raw_encoding = UINT64_MAX;
    if (*rest == '=')
        rest = cells_number(rest + 1, true, &out->raw_encoding);
    return rest && *rest == '\0' ? NULL : "the raw code behind a generic event must be `=0x` and hexadecimal digits";
}

static const char *cells_hardware(const char *cell, struct arch_event *out)
{
    const char *rest = cells_number(cell, false, &out->config);
    out->kind = ARCH_CODE_HARDWARE;
    if (!rest || out->config >= CELLS_HARDWARE_IDS)
        return "hw: needs a perf generic hardware event, 0 to 9";
    return cells_behind(rest, out);
}

static const char *cells_cache(const char *cell, struct arch_event *out)
{
    const char *rest = cells_number(cell, true, &out->config);
    out->kind = ARCH_CODE_HW_CACHE;
    if (!rest || (out->config & 0xff) > 6 || (out->config >> 8 & 0xff) > 2 || out->config >> 16 > 1)
        return "cache: needs a perf generic cache event, 0xRRPPCC: result, operation, cache";
    return cells_behind(rest, out);
}

static const char *cells_raw(const char *cell, struct arch_event *out)
{
    static const char config1[] = "/config1=";
    const char *rest = cells_number(cell, true, &out->config);
    out->kind = ARCH_CODE_RAW;
    out->raw_encoding = out->config;
    if (rest && strncmp(rest, config1, strlen(config1)) == 0)
        rest = cells_number(rest + strlen(config1), true, &out->config1);
    return rest && *rest == '\0' ? NULL : "raw: needs 0x and hexadecimal digits, then nothing or /config1=0x...";
}

static const char *cells_formula(const char *text, struct arch_event *out)
{
    struct cells_term term;
    out->kind = ARCH_CODE_FORMULA;
    out->raw_encoding = UINT64_MAX;
    out->formula = text_add(text);
    if (*text == ' ' || *text == '\0')
        return "the formula must begin with a term behind `= `";
    for (const char *at = text; *at;) {
        const char *wrong = cells_term(&at, &term);
        if (wrong)
            return wrong;
    }
    return NULL;
}

const char *cells_encoding(const char *cell, struct arch_event *out)
{
    if (strncmp(cell, "hw:", 3) == 0)
        return cells_hardware(cell + 3, out);
    if (strncmp(cell, "cache:", 6) == 0)
        return cells_cache(cell + 6, out);
    if (strncmp(cell, "raw:", 4) == 0)
        return cells_raw(cell + 4, out);
    if (strncmp(cell, "= ", 2) == 0)
        return cells_formula(cell + 2, out);
    out->kind = ARCH_CODE_NONE;
    out->raw_encoding = UINT64_MAX;
    return strcmp(cell, "none") == 0 ? NULL : "encoding must be hw:, cache:, raw:, `= ` and a formula, or none";
}

/** Parse the parts of a counters cell: any, N, N-M or fixedN, joined by |. @return NULL, or what is wrong. */
static const char *cells_counter(const char *part, uint32_t *counters)
{
    static const char wrong[] = "counters must be parts joined by |: N, N-M, fixedN, any";
    uint64_t first = 0, last = 0;
    if (strncmp(part, "any", 3) == 0) {
        *counters |= (1u << ARCH_FIXED) - 1;
        part += 3;
    } else if (strncmp(part, "fixed", 5) == 0) {
        part = cells_number(part + 5, false, &first);
        if (!part || first >= 32 - ARCH_FIXED)
            return wrong;
        *counters |= 1u << (ARCH_FIXED + first);
    } else {
        part = cells_number(part, false, &first);
        last = first;
        if (part && *part == '-')
            part = cells_number(part + 1, false, &last);
        if (!part || first > last || last >= ARCH_FIXED)
            return wrong;
        for (; first <= last; first++)
            *counters |= 1u << first;
    }
    if (*part == '|')
        return cells_counter(part + 1, counters);
    return *part == '\0' ? NULL : wrong;
}

const char *cells_counters(const char *cell, uint32_t *counters)
{
    *counters = ARCH_ANY;
    return *cell ? cells_counter(cell, counters) : NULL;
}

const char *cells_term(const char **at, struct cells_term *out)
{
    const char *text = *at;
    *out = (struct cells_term){.weight = 1};
    if (strncmp(text, " + ", 3) == 0 || strncmp(text, " - ", 3) == 0) {
        out->negative = text[1] == '-';
        text += 3;
    }
    const char *star = text + strcspn(text, " *");
    if (*star == '*') {
        const char *end = cells_number(text, false, &out->weight);
        if (end != star || out->weight == 0 || out->weight > CELLS_WEIGHT_MAX)
            return "the weight of a term must be a whole number from 1 to 1024";
        text = star + 1;
    }
    out->name = text;
    out->name_len = strcspn(text, " ");
    text += out->name_len;
    if (out->name_len == 0 || memchr(out->name, '*', out->name_len))
        return "a formula is terms [WEIGHT*]NAME joined by ` + ` or ` - `";
    if (*text && strncmp(text, " + ", 3) != 0 && strncmp(text, " - ", 3) != 0)
        return "terms of a formula are joined by ` + ` or ` - `";
    *at = text;
    return NULL;
}
