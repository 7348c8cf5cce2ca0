/* SPDX-License-Identifier: MIT */
/* Checks of every event table: order, names, reasons, sources, encodings, counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/arch_ops.h"
#include "core/names/registry.h"
#include "upmu/upmu.h"
#include "unit/suite.h"

typedef void (*row_check)(const struct arch_family *family, const struct arch_event *row);

static void each_row(row_check check)
{
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        const struct arch_family *f = upmu_arch_families[i];
        for (size_t j = 0; arch_family_event_at(f, j); j++)
            check(f, arch_family_event_at(f, j));
    }
}

START_TEST(rows_are_sorted_and_unique)
{
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        const struct arch_family *f = upmu_arch_families[i];
        const struct arch_event *row;
        for (size_t j = 1; (row = arch_family_event_at(f, j)) != NULL; j++)
            ck_assert_msg(strcmp(arch_text(arch_family_event_at(f, j - 1)->name), arch_text(row->name)) < 0,
                          "%s: %s is out of order", f->name, arch_text(row->name));
    }
}
END_TEST

static void check_name(const struct arch_family *f, const struct arch_event *row)
{
    const char *name = arch_text(row->name);
    const struct registry_event *e = registry_find(name);
    ck_assert_msg(e && strcmp(e->name, name) == 0, "%s: %s is not in the registry", f->name, name);
    ck_assert_msg(e->software < 0, "%s: %s is the kernel's own event, not the CPU's", f->name, name);
    ck_assert_ptr_eq(arch_family_event(f, name), row);
}

START_TEST(names_are_the_registrys)
{
    each_row(check_name);
}
END_TEST

static void check_words(const struct arch_family *f, const struct arch_event *row)
{
    const char *name = arch_text(row->name);
    bool exact = row->match == UPMU_MATCH_EXACT, absent = row->match == UPMU_MATCH_ABSENT;
    ck_assert_msg(exact || absent || row->match == UPMU_MATCH_APPROXIMATE, "%s: %s has no match", f->name, name);
    ck_assert_msg(exact == !row->why, "%s: %s must have a reason if and only if it is not exact", f->name, name);
    ck_assert_msg(absent == !row->source, "%s: %s must have a source exactly if it is there", f->name, name);
    ck_assert_msg(absent == (row->kind == ARCH_CODE_NONE), "%s: %s has a code and is absent, or the reverse", f->name,
                  name);
}

START_TEST(reasons_and_sources_are_given)
{
    each_row(check_words);
}
END_TEST

static bool config_fits(const struct arch_event *row)
{
    switch (row->kind) {
    case ARCH_CODE_HARDWARE:
        return row->config < 10;
    case ARCH_CODE_HW_CACHE:
        return (row->config & 0xff) < 7 && (row->config >> 8 & 0xff) < 3 && (row->config >> 16) < 2;
    case ARCH_CODE_RAW:
        return row->raw_encoding == row->config;
    case ARCH_CODE_FORMULA:
        return row->formula && row->config == 0 && row->raw_encoding == UINT64_MAX;
    default:
        return row->kind == ARCH_CODE_NONE && row->config == 0 && row->raw_encoding == UINT64_MAX;
    }
}

static void check_config(const struct arch_family *f, const struct arch_event *row)
{
    ck_assert_msg(config_fits(row), "%s: %s has a config of another kind", f->name, arch_text(row->name));
}

START_TEST(configs_fit_their_kind)
{
    each_row(check_config);
}
END_TEST

static bool counters_fit(const struct arch_family *f, uint32_t counters)
{
    const struct arch_counters *c = &f->counters;
    if (c->general == 0) /* not known: nothing to check the mask of general counters against */
        return counters >> (ARCH_FIXED + c->fixed) == 0;
    uint32_t all = ((1u << c->general) - 1) | ((1u << c->fixed) - 1) << ARCH_FIXED;
    uint32_t any = (1u << ARCH_FIXED) - 1; /* all general ones, however many there are */
    counters &= (counters & any) == any ? ~any : ~0u;
    return (counters & ~all) == 0;
}

static void check_counters(const struct arch_family *f, const struct arch_event *row)
{
    const char *name = arch_text(row->name);
    ck_assert_msg(counters_fit(f, row->counters), "%s: %s names counters the family lacks", f->name, name);
    ck_assert_msg(row->kind != ARCH_CODE_NONE || row->counters == 0, "%s: %s is absent", f->name, name);
}

START_TEST(counters_are_those_of_the_family)
{
    each_row(check_counters);
}
END_TEST

/** The code of a perf generic event in kernels that treat Hygon's core as a Zen. */
static uint64_t code_of_zen1(const char *name, uint64_t config)
{
    const struct arch_event *row = arch_family_event(arch_family_named("zen1"), name);
    return row && row->kind == ARCH_CODE_HARDWARE && row->config == config ? row->raw_encoding : UINT64_MAX;
}

/** Arm's branches: ours are the retired ones by definition, and the row notes that the kernel's event counts others. RISC-V:
 *  the firmware decides what the kernel's id counts, of which ours are the maker's codes. */
static bool is_said_to_differ(const struct arch_family *f, const struct arch_event *row)
{
    if (strcmp(f->vendor, "riscv") == 0)
        return row->kind == ARCH_CODE_RAW || row->kind == ARCH_CODE_FORMULA;
    return strcmp(f->vendor, "arm") == 0 && strncmp(arch_text(row->name), "branch", 6) == 0 &&
           (f->confirmed || f->own_pmu || row->match == UPMU_MATCH_APPROXIMATE);
}

/** What perf opens for its own names. Ours must open the same, or a raw code that the kernel puts in for that id. */
static void check_alias(const char *perf, int kind, uint64_t config)
{
    const struct registry_event *e = registry_find(perf);
    ck_assert_msg(e != NULL, "perf's %s is not known", perf);
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        const struct arch_event *row = arch_family_event(upmu_arch_families[i], e->name);
        if (!row || row->kind == ARCH_CODE_NONE)
            continue;
        bool same = row->kind == kind && row->config == config;
        bool known_code = strcmp(perf, "ref-cycles") == 0 && row->config == 0x100000120; /* Zen 4 and 5 */
        known_code |= strcmp(perf, "ref-cycles") == 0 && row->config == 0x4004; /* Arm, where the kernel has no id */
        known_code |= strcmp(upmu_arch_families[i]->name, "hygon") == 0 && code_of_zen1(e->name, config) == row->config;
        known_code |= is_said_to_differ(upmu_arch_families[i], row);
        ck_assert_msg(same || known_code, "%s: perf's %s would give another number", upmu_arch_families[i]->name, perf);
    }
}

START_TEST(perf_names_open_what_perf_opens)
{
    static const char *const hardware[][2] = {
        {"cycles", "cpu-cycles"},
        {"instructions", "instructions"},
        {"cache-references", "cache-references"},
        {"cache-misses", "cache-misses"},
        {"branches", "branch-instructions"},
        {"branch-misses", "branch-misses"},
        {"bus-cycles", "bus-cycles"},
        {"stalled-cycles-frontend", "stalled-cycles-frontend"},
        {"stalled-cycles-backend", "stalled-cycles-backend"},
        {"ref-cycles", "ref-cycles"},
    };
    for (uint64_t id = 0; id < sizeof(hardware) / sizeof(hardware[0]); id++) {
        check_alias(hardware[id][0], ARCH_CODE_HARDWARE, id);
        check_alias(hardware[id][1], ARCH_CODE_HARDWARE, id);
    }
}
END_TEST

START_TEST(perf_cache_names_open_what_perf_opens)
{
    static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
    static const char *const allowed[] = {"lsp", "lp", "lsp", "lsp", "l", "l", "lsp"};
    static const char *const ops[][2] = {{"loads", "load"}, {"stores", "store"}, {"prefetches", "prefetch"}};
    for (uint64_t cache = 0; cache < 7; cache++) {
        for (uint64_t op = 0; op < 3; op++) {
            if (!strchr(allowed[cache], ops[op][0][0]))
                continue;
            char name[64];
            snprintf(name, sizeof(name), "%s-%s", caches[cache], ops[op][0]);
            check_alias(name, ARCH_CODE_HW_CACHE, cache | op << 8);
            snprintf(name, sizeof(name), "%s-%s-misses", caches[cache], ops[op][1]);
            check_alias(name, ARCH_CODE_HW_CACHE, cache | op << 8 | 1 << 16);
        }
    }
}
END_TEST

START_TEST(families_are_complete_and_generic_is_the_last)
{
    const struct arch_family *last = NULL;
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        const struct arch_family *f = last = upmu_arch_families[i];
        ck_assert_ptr_eq(arch_family_named(f->name), f);
        ck_assert(f->title[0] && f->vendor[0] && f->core_pmu[0] && f->remark && (f->matches || f->cores));
        ck_assert_msg(f->choice && f->choice[0], "%s does not list the codes it programs", f->name);
        ck_assert_uint_eq(strspn(f->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(f->name));
    }
    ck_assert_str_eq(last->name, "generic");
    struct arch_cpu none = {.family = -1, .model = -1};
    ck_assert_ptr_eq(arch_family_of(&none), last);
    ck_assert_ptr_null(arch_family_named("no-such-family"));
}
END_TEST

START_TEST(native_names_are_found_and_mean_one_code_per_family)
{
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        const struct arch_family *f = upmu_arch_families[i];
        const struct arch_native *row;
        const char *before = "";
        for (size_t at = 0; (row = arch_family_native_next(f, &at)) != NULL;) {
            const char *name = arch_text(row->name);
            ck_assert(row->name);
            ck_assert_msg(strcasecmp(before, name) <= 0, "%s: %s is out of order", f->name, name);
            /* The first of two rows of one name would hide the second. */
            ck_assert_msg(arch_family_native(f, name) == row, "%s: %s is there twice", f->name, name);
            ck_assert_msg(counters_fit(f, row->counters), "%s: %s names counters it lacks", f->name, name);
            before = name;
        }
    }
}
END_TEST

/** Every family has a row for every event, or the reason why it is absent; each nearest event exists. */
START_TEST(no_absent_event_lacks_a_reason)
{
    size_t n, absent = 0;
    const struct registry_event *events = registry_events(&n);
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        const struct arch_family *f = upmu_arch_families[i];
        for (size_t j = 0; j < n; j++) {
            const struct arch_event *row = arch_family_event(f, events[j].name);
            if (events[j].software >= 0)
                continue;
            ck_assert_msg(row && (row->kind != ARCH_CODE_NONE || row->why), "%s: %s", f->name, events[j].name);
            absent += row->kind == ARCH_CODE_NONE;
            char near[200];
            snprintf(near, sizeof near, "%s", arch_text(row->near));
            for (char *name = strtok(near, " "); name; name = strtok(NULL, " ")) {
                const struct arch_event *there = arch_family_event(f, name);
                ck_assert_msg(there && there->kind != ARCH_CODE_NONE, "%s: %s is near %s", f->name, name,
                              arch_text(row->name));
            }
        }
    }
    ck_assert_uint_gt(absent, 1000);
}
END_TEST

START_TEST(chips_lead_to_their_family)
{
    static const char *const calls[][2] = {
        {"zen3", "zen3"},
        {"ZEN3", "zen3"},
        {"3a5000", "la464"},
        {"Loongson-3A6000", "la664"},
        {"2K1000LA", "la264"},
        {"2k1000-mips", "loongson2k"},
        {"kx 6000", "zx-e"},
        {"sw_831", "core3b"},
        {"skylake", "intel-skylake"},
        {"ft-2000+", "ftc662"},
        {"FT-2000/4", "ftc663"},
    };
    static const char *const unknown[] = {"", "-", "intel", "phytium-x", "3a", "5000", "zen33", "ft-2000"};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const struct arch_family *f = arch_family_called(calls[i][0]);
        ck_assert_msg(f && strcmp(f->name, calls[i][1]) == 0, "%s does not lead to %s", calls[i][0], calls[i][1]);
    }
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        ck_assert_msg(!arch_family_called(unknown[i]), "'%s' leads to a family", unknown[i]);
    for (size_t i = 0; upmu_arch_families[i]; i++)
        ck_assert_ptr_eq(arch_family_called(upmu_arch_families[i]->name), upmu_arch_families[i]);
    char longer[200] = "";
    memset(longer, 'x', sizeof(longer) - 1);
    ck_assert_ptr_null(arch_family_called(longer));
}
END_TEST

START_TEST(generic_ids_and_what_the_kernel_makes_of_them)
{
    static const struct {
        const char *family, *name;
        int kind;
        bool same_name;
        uint64_t config, raw_encoding;
    } cases[] = {
        {"gs464e", "l1i-miss", ARCH_CODE_HW_CACHE, true, 0x10001, 0x18}, /* programmed itself */
        {"zx-e", "l1i-miss", ARCH_CODE_HW_CACHE, true, 0x10001, 0x301},  /* another one, which is the same code */
        {"zen3", "l1d-load", ARCH_CODE_HW_CACHE, true, 0, 0x40},         /* another code */
        {"hygon", "branches", ARCH_CODE_HARDWARE, true, 4, UINT64_MAX},  /* kernels differ */
        {"core4", "l2-miss", ARCH_CODE_HARDWARE, false, 3, 0x53},        /* an id for something else, same code */
        {"gs464", "mem-read", ARCH_CODE_NONE, false, 0, 0},
        {"zen3", "llc-miss", ARCH_CODE_NONE, false, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct arch_family *f = arch_family_named(cases[i].family);
        struct arch_generic_id id = {.kind = ARCH_CODE_NONE};
        bool found = arch_family_generic_id(f, arch_family_event(f, cases[i].name), &id);
        ck_assert_msg(found == (cases[i].kind != ARCH_CODE_NONE) && id.kind == cases[i].kind, "%s %s", f->name,
                      cases[i].name);
        ck_assert_msg(!found || (id.config == cases[i].config && id.raw_encoding == cases[i].raw_encoding &&
                                 id.same_name == cases[i].same_name),
                      "%s %s has another id", f->name, cases[i].name);
    }
}
END_TEST

START_TEST(native_lookup_keeps_to_the_core_and_ignores_case)
{
    const struct arch_family *zen1 = arch_family_named("zen1"), *zen4 = arch_family_named("zen4");
    ck_assert_uint_eq(arch_family_native(zen1, "fp_ret_sse_avx_ops.all")->config, 0xff03);
    ck_assert_uint_eq(arch_family_native(zen4, "FP_RET_SSE_AVX_OPS.ALL")->config, 0x1f03);
    ck_assert_ptr_null(arch_family_native(zen1, "ls_int_taken"));
    ck_assert_ptr_nonnull(arch_family_native(zen4, "ls_int_taken"));
    ck_assert_ptr_null(arch_family_native(arch_family_named("intel-haswell"), "HW_INTERRUPTS.RECEIVED"));
    ck_assert_uint_eq(arch_family_native(arch_family_named("intel-skylake"), "hw_interrupts.received")->config, 0x01cb);
    ck_assert_ptr_null(arch_family_native(arch_family_named("generic"), "cycles"));
}
END_TEST

/** A raw code of an Intel or AMD row is also in the maker's list for that very core. */
START_TEST(raw_codes_of_listed_sources_are_in_the_native_list)
{
    size_t checked = 0;
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        const struct arch_family *f = upmu_arch_families[i];
        size_t n;
        const struct registry_event *e = registry_events(&n);
        size_t at_first = 0;
        bool listed_names = arch_family_native_next(f, &at_first) != NULL;
        for (size_t j = 0; listed_names && j < n; j++) {
            const struct arch_event *row = arch_family_event(f, e[j].name);
            if (!row || row->kind != ARCH_CODE_RAW || !strstr(arch_text(row->source), "pmu-events"))
                continue;
            /* 0x0347 is the sum of two unit masks that are listed one by one. */
            bool found = row->config == 0x0347;
            const struct arch_native *listed;
            for (size_t at = 0; !found && (listed = arch_family_native_next(f, &at)) != NULL;)
                found = listed->config == row->config;
            ck_assert_msg(found, "%s: the code of %s is not in the maker's list", f->name, arch_text(row->name));
            checked++;
        }
    }
    ck_assert_uint_gt(checked, 100);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("tables");
    tcase_add_test(t, rows_are_sorted_and_unique);
    tcase_add_test(t, names_are_the_registrys);
    tcase_add_test(t, reasons_and_sources_are_given);
    tcase_add_test(t, configs_fit_their_kind);
    tcase_add_test(t, counters_are_those_of_the_family);
    tcase_add_test(t, perf_names_open_what_perf_opens);
    tcase_add_test(t, perf_cache_names_open_what_perf_opens);
    tcase_add_test(t, families_are_complete_and_generic_is_the_last);
    tcase_add_test(t, native_names_are_found_and_mean_one_code_per_family);
    tcase_add_test(t, no_absent_event_lacks_a_reason);
    tcase_add_test(t, chips_lead_to_their_family);
    tcase_add_test(t, generic_ids_and_what_the_kernel_makes_of_them);
    tcase_add_test(t, native_lookup_keeps_to_the_core_and_ignores_case);
    tcase_add_test(t, raw_codes_of_listed_sources_are_in_the_native_list);
    return run_suite("arch.tables", t);
}
