/* SPDX-License-Identifier: MIT */
/* The vendor-neutral event set: complete, sorted, no name or alias with two meanings. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/suggest.h"
#include "core/names/registry.h"
#include "unit/suite.h"

/* The set as it was agreed on; a name may be added, none may go. */
static const char *const agreed[] = {
    "alignment-faults",
    "branch-misses",
    "branches",
    "branches-conditional",
    "branches-return",
    "bus-access",
    "bus-cycles",
    "cgroup-switches",
    "context-switches",
    "cpu-clock",
    "cpu-migrations",
    "cycles",
    "dtlb-access",
    "dtlb-load-miss",
    "dtlb-miss",
    "dtlb-store-miss",
    "dtlb-walk",
    "emulation-faults",
    "exceptions",
    "fp-instructions",
    "fp-ops",
    "instructions",
    "instructions-spec",
    "int-instructions",
    "interrupts",
    "itlb-access",
    "itlb-miss",
    "itlb-walk",
    "l1d-access",
    "l1d-load",
    "l1d-load-miss",
    "l1d-miss",
    "l1d-prefetch",
    "l1d-prefetch-miss",
    "l1d-store",
    "l1d-store-miss",
    "l1d-writeback",
    "l1i-access",
    "l1i-miss",
    "l2-access",
    "l2-load",
    "l2-load-miss",
    "l2-miss",
    "l2-store",
    "l2-writeback",
    "llc-access",
    "llc-load",
    "llc-load-miss",
    "llc-miss",
    "llc-prefetch",
    "llc-store",
    "llc-store-miss",
    "loads",
    "loads-stores",
    "major-faults",
    "mem-read",
    "mem-write",
    "memory-errors",
    "minor-faults",
    "page-faults",
    "ref-cycles",
    "remote-access",
    "simd-instructions",
    "stall-any",
    "stall-backend",
    "stall-frontend",
    "stores",
    "task-clock",
    "unaligned-access",
    "uops-retired",
    "cache-misses",
    "cache-references",
    "stalled-cycles-backend",
    "stalled-cycles-frontend",
};

START_TEST(every_agreed_name_is_there)
{
    for (size_t i = 0; i < sizeof(agreed) / sizeof(agreed[0]); i++) {
        const struct registry_event *e = registry_find(agreed[i]);
        ck_assert_msg(e != NULL, "%s is missing", agreed[i]);
        ck_assert_str_eq(e->name, agreed[i]);
    }
}
END_TEST

START_TEST(names_are_sorted_and_complete_rows)
{
    size_t n;
    const struct registry_event *e = registry_events(&n);
    ck_assert_uint_ge(n, sizeof(agreed) / sizeof(agreed[0]));
    for (size_t i = 0; i < n; i++) {
        ck_assert_msg(i == 0 || strcmp(e[i - 1].name, e[i].name) < 0, "%s is out of order", e[i].name);
        ck_assert_msg(e[i].summary[0] != '\0', "%s has no summary", e[i].name);
        ck_assert_msg(e[i].unit[0] == '\0' || strcmp(e[i].unit, "ns") == 0, "%s has an odd unit", e[i].name);
        ck_assert_msg(e[i].remark[0] == '\0' || e[i].software >= 0, "%s: remarks are for software events", e[i].name);
    }
}
END_TEST

static bool has_word(const struct registry_event *e, const char *word)
{
    return strcasecmp(e->name, word) == 0 || (e->perf && strcasecmp(e->perf, word) == 0) ||
           (e->papi && strcasecmp(e->papi, word) == 0);
}

START_TEST(no_name_or_alias_means_two_events)
{
    size_t n;
    const struct registry_event *e = registry_events(&n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (i == j)
                continue;
            ck_assert_msg(!has_word(&e[j], e[i].name), "%s is also %s", e[i].name, e[j].name);
            ck_assert_msg(!e[i].perf || !has_word(&e[j], e[i].perf), "%s is also %s", e[i].perf, e[j].name);
            ck_assert_msg(!e[i].papi || !has_word(&e[j], e[i].papi), "%s is also %s", e[i].papi, e[j].name);
        }
    }
}
END_TEST

START_TEST(aliases_lead_to_their_event)
{
    static const struct {
        const char *alias, *name;
    } cases[] = {
        {"PAPI_TOT_CYC", "cycles"},
        {"papi_tot_ins", "instructions"},
        {"PAPI_BR_MSP", "branch-misses"},
        {"PAPI_L1_DCM", "l1d-miss"},
        {"PAPI_L3_TCM", "llc-miss"},
        {"cpu-cycles", "cycles"},
        {"branch-instructions", "branches"},
        {"L1-dcache-loads", "l1-dcache-loads"},
        {"LLC-load-misses", "llc-load-misses"},
        {"dTLB-store-misses", "dtlb-store-misses"},
        {"faults", "page-faults"},
        {"cs", "context-switches"},
        {"migrations", "cpu-migrations"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct registry_event *e = registry_find(cases[i].alias);
        ck_assert_msg(e && strcmp(e->name, cases[i].name) == 0, "%s does not lead to %s", cases[i].alias,
                      cases[i].name);
    }
}
END_TEST

START_TEST(software_events_have_the_kernels_ids)
{
    static const struct {
        const char *name;
        int32_t id;
    } cases[] = {
        {"cpu-clock", 0},        {"task-clock", 1},       {"page-faults", 2},  {"context-switches", 3},
        {"cpu-migrations", 4},   {"minor-faults", 5},     {"major-faults", 6}, {"alignment-faults", 7},
        {"emulation-faults", 8}, {"cgroup-switches", 11},
    };
    size_t n, software = 0;
    const struct registry_event *e = registry_events(&n);
    for (size_t i = 0; i < n; i++)
        software += e[i].software >= 0 && e[i].software < REGISTRY_USAGE;
    ck_assert_uint_eq(software, sizeof(cases) / sizeof(cases[0]));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_int_eq(registry_find(cases[i].name)->software, cases[i].id);
    ck_assert_int_eq(registry_find("user-time")->software, REGISTRY_USAGE);
    ck_assert_int_eq(registry_find("system-time")->software, REGISTRY_USAGE + 1);
    ck_assert_str_eq(registry_find("task-clock")->unit, "ns");
    ck_assert_str_eq(registry_find("cpu-clock")->unit, "ns");
    ck_assert_str_ne(registry_find("alignment-faults")->remark, "");
    ck_assert_str_ne(registry_find("emulation-faults")->remark, "");
}
END_TEST

START_TEST(unknown_names_are_unknown_and_a_near_one_is_suggested)
{
    static const char *const unknown[] = {"", "cycle", "cycles ", "PAPI_", "l1d", "cycles:u"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        ck_assert_ptr_null(registry_find(unknown[i]));

    struct suggest s;
    suggest_begin(&s, "branch-mises");
    registry_offer(&s);
    ck_assert_str_eq(s.best, "branch-misses");
    suggest_begin(&s, "PAPI_TOT_INZ");
    registry_offer(&s);
    ck_assert_str_eq(s.best, "PAPI_TOT_INS");
    suggest_begin(&s, "LLC-load-mises");
    registry_offer(&s);
    ck_assert_ptr_nonnull(s.best);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("registry");
    tcase_add_test(t, every_agreed_name_is_there);
    tcase_add_test(t, names_are_sorted_and_complete_rows);
    tcase_add_test(t, no_name_or_alias_means_two_events);
    tcase_add_test(t, aliases_lead_to_their_event);
    tcase_add_test(t, software_events_have_the_kernels_ids);
    tcase_add_test(t, unknown_names_are_unknown_and_a_near_one_is_suggested);
    return run_suite("core.registry", t);
}
