/* SPDX-License-Identifier: MIT */
/* Derived events: parsed formulas, common plans, and sums with a number or a reason. */
#include <string.h>

#include "core/set/counters.h"
#include "core/formula/formula.h"
#include "core/set/value.h"
#include "support/machine.h"
#include "unit/suite.h"

static const char *machines;
static struct machine cpu;

static void cpu_named(const char *name)
{
    machine_bare();
    ck_assert_msg(machine_of_cpu(name, &cpu) == 0, "%s", upmu_error());
}

static void taken_apart(const char *text, const char *expected)
{
    struct formula_term terms[FORMULA_TERMS_MAX];
    char got[512] = "";
    int n = formula_terms(&cpu, text, terms);
    ck_assert_msg(n > 0, "'%s': %s", text, upmu_error());
    for (int i = 0; i < n; i++) {
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%d*%.60s", i ? " " : "", terms[i].weight, terms[i].name);
    }
    ck_assert_str_eq(got, expected);
}

static void not_taken(const char *text, const char *words)
{
    struct formula_term terms[FORMULA_TERMS_MAX];
    ck_assert_msg(formula_terms(&cpu, text, terms) == UPMU_E_INVAL, "'%s' was taken for a formula", text);
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
}

START_TEST(formulas_are_taken_apart)
{
    cpu_named("skylake");
    taken_apart("loads", "1*loads");
    taken_apart("loads + 2*stores - 1024*cycles", "1*loads 2*stores -1024*cycles");
    taken_apart("A.B-C + 3*D", "1*A.B-C 3*D");
    taken_apart("dtlb-miss - cycles", "1*dtlb-load-miss 1*dtlb-store-miss -1*cycles"); /* a formula itself */
    taken_apart("cycles - dtlb-miss", "1*cycles -1*dtlb-load-miss -1*dtlb-store-miss");
    taken_apart("5*dtlb-miss", "5*dtlb-load-miss 5*dtlb-store-miss");
    not_taken("", "at ''");
    not_taken("loads +stores", "at ' +stores'");
    not_taken("loads + ", "at ''");
    not_taken("0*loads", "at '0*loads'");
    not_taken("1025*loads", "at '1025*loads'");
    not_taken("2*", "at '2*'");
    not_taken("a + a + a + a + a + a + a + a + a + a + a + a + a", "more than 12 terms");
}
END_TEST

START_TEST(the_terms_go_into_one_group_and_explain_the_event)
{
    struct counter_list list;
    struct event e;
    cpu_named("skylake");
    ck_assert_int_eq(event_resolve_on(&cpu, "dtlb-miss", &e), 0);
    ck_assert_str_eq(e.formula, "dtlb-load-miss + dtlb-store-miss");
    ck_assert_msg(strstr(e.codes, " + ") != NULL, "%s", e.codes);
    ck_assert_int_eq(counter_list_make_on(&cpu, &list, "r1,r2,r3,dtlb-miss,r4,r5", PLAN_EVENTS_MAX, false), 0);
    ck_assert_uint_eq(list.n, 6);
    ck_assert_uint_eq(list.n_parts, 7);
    ck_assert_uint_eq(list.link[3].also, 6);
    ck_assert(list.link[3].weight == 1 && list.link[6].weight == 1 && list.link[6].owner == 3);
    ck_assert_uint_eq(list.plan.entry[3].group, list.plan.entry[6].group);
    counter_list_free(&list);
}
END_TEST

START_TEST(a_term_that_the_cpu_lacks_makes_the_event_absent)
{
    struct event e = {.summary = ""};
    cpu_named("skylake");
    ck_assert_int_eq(formula_resolve(&cpu, "loads + wibble", &e), UPMU_E_UNSUPPORTED);
    ck_assert_msg(strstr(e.note, "'wibble' cannot be counted") != NULL, "%s", e.note);
    ck_assert_int_eq(e.match, UPMU_MATCH_ABSENT);
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- values */

static struct upmu_value number(uint64_t n, int status)
{
    return (struct upmu_value){.value = n, .raw = n, .enabled = 100, .running = 100, .status = status};
}

START_TEST(sums_are_worth_the_weakest_term)
{
    const int32_t weights[] = {1, 3, -2};
    struct upmu_value terms[] = {number(10, UPMU_EXACT), number(5, UPMU_EXACT), number(4, UPMU_EXACT)};
    struct upmu_value v = value_weighted(terms, weights, 3);
    ck_assert(v.status == UPMU_EXACT && v.value == 17 && v.raw == 17);
    terms[1].status = UPMU_SCALED;
    terms[1].running = 40;
    v = value_weighted(terms, weights, 3);
    ck_assert(v.status == UPMU_SCALED && v.value == 17 && v.running == 40);
    terms[2] = value_without(UPMU_REFUSED, UPMU_E_BUSY);
    v = value_weighted(terms, weights, 3);
    ck_assert(v.status == UPMU_REFUSED && v.cause == UPMU_E_BUSY && v.value == UPMU_NO_VALUE);
}
END_TEST

START_TEST(what_is_below_0_or_too_large_is_no_number)
{
    const int32_t minus[] = {1, -1}, large[] = {1, 1024};
    struct upmu_value terms[] = {number(10, UPMU_EXACT), number(10, UPMU_EXACT)};
    struct upmu_value v = value_weighted(terms, minus, 2);
    ck_assert(v.status == UPMU_EXACT && v.value == 0);
    terms[1] = number(11, UPMU_EXACT);
    v = value_weighted(terms, minus, 2);
    ck_assert(v.status == UPMU_NOT_COUNTED && v.cause == UPMU_E_RANGE && v.value == UPMU_NO_VALUE);
    terms[1] = number(UINT64_MAX / 1024 + 1, UPMU_EXACT);
    v = value_weighted(terms, large, 2);
    ck_assert(v.status == UPMU_NOT_COUNTED && v.cause == UPMU_E_RANGE && v.value == UPMU_NO_VALUE);
    terms[0] = number(UINT64_MAX - 2, UPMU_EXACT);
    terms[1] = number(1, UPMU_EXACT);
    v = value_weighted(terms, (const int32_t[]){1, 1}, 2);
    ck_assert(v.status == UPMU_EXACT && v.value == UINT64_MAX - 1);
    v = value_weighted(terms, (const int32_t[]){1, 2}, 2); /* that is UPMU_NO_VALUE itself */
    ck_assert(v.status == UPMU_NOT_COUNTED && v.value == UPMU_NO_VALUE);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ in sets */

static void script_term(const char *name, const struct scripted_sample *samples, size_t n)
{
    struct event e;
    ck_assert_int_eq(event_of_table(machine_get(), name, &e), 0);
    scripted_counter(e.type, e.config, samples, n);
}

static struct upmu_value counted(const char *event, const char *words)
{
    struct upmu_set *set;
    struct upmu_value v;
    const struct upmu_set_opts opts = {.size = sizeof opts, .flags = UPMU_SET_NO_USER_READ};
    ck_assert_msg(upmu_set_open(&set, event, &opts) == 0, "%s", upmu_error());
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    ck_assert_msg(strstr(upmu_set_reason(set, 0), words) != NULL, "'%s' is missing in: %s", words,
                  upmu_set_reason(set, 0));
    upmu_set_close(set);
    return v;
}

START_TEST(a_difference_is_a_number_or_has_a_reason)
{
    const struct scripted_sample many = {500, 1000, 1000}, few = {20, 1000, 1000};
    machine_recorded(machines, "loongarch_3a5000"); /* PAPI_BR_PRC is branches - branch-misses */
    script_term("branches", &many, 1);
    script_term("branch-misses", &few, 1);
    struct upmu_value v = counted("PAPI_BR_PRC", "");
    ck_assert(v.status == UPMU_EXACT && v.value == 480);
    script_term("branches", &few, 1);
    script_term("branch-misses", &many, 1);
    v = counted("PAPI_BR_PRC", "below 0");
    ck_assert(v.status == UPMU_NOT_COUNTED && v.cause == UPMU_E_RANGE && v.value == UPMU_NO_VALUE);
}
END_TEST

START_TEST(weights_count_and_cannot_run_over_in_silence)
{
    const struct scripted_sample one = {1, UINT64_C(1) << 60, UINT64_C(1) << 60},
                                 huge = {UINT64_C(1) << 61, UINT64_C(1) << 60, UINT64_C(1) << 60};
    struct formula_term terms[FORMULA_TERMS_MAX];
    struct event e;
    uint64_t weights = 0;
    machine_recorded(machines, "intel_skx");
    ck_assert_int_eq(event_resolve("fp-ops", &e), 0);
    int n = formula_terms(machine_get(), e.formula, terms);
    ck_assert_int_gt(n, 3);
    for (int i = 0; i < n; i++) {
        script_term(terms[i].name, &one, 1);
        weights += (uint64_t)terms[i].weight;
    }
    struct upmu_value v = counted("fp-ops", "");
    ck_assert_msg(v.status == UPMU_EXACT && v.value == weights && weights > (uint64_t)n, "%llu",
                  (unsigned long long)v.value);
    script_term(terms[n - 1].name, &huge, 1);
    v = counted("fp-ops", "exceeds 64 bits");
    ck_assert(v.status == UPMU_NOT_COUNTED && v.cause == UPMU_E_RANGE);
}
END_TEST

int main(int argc, char **argv)
{
    TCase *cases = tcase_create("derived");
    machines = argc > 1 ? argv[1] : "";
    tcase_add_test(cases, formulas_are_taken_apart);
    tcase_add_test(cases, the_terms_go_into_one_group_and_explain_the_event);
    tcase_add_test(cases, a_term_that_the_cpu_lacks_makes_the_event_absent);
    tcase_add_test(cases, sums_are_worth_the_weakest_term);
    tcase_add_test(cases, what_is_below_0_or_too_large_is_no_number);
    tcase_add_test(cases, a_difference_is_a_number_or_has_a_reason);
    tcase_add_test(cases, weights_count_and_cannot_run_over_in_silence);
    return run_suite("derived", cases);
}
