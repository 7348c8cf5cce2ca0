/* SPDX-License-Identifier: MIT */
/* Arithmetic over counts: what is computed, what is refused with the place of the mistake, and metrics of users. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/formula/expression.h"
#include "core/formula/metric.h"
#include "core/formula/metric_table.h"
#include "support/machine.h"
#include "unit/suite.h"

static void computes(const char *text, const char *names, const double *values, double expected)
{
    struct expression e;
    char got[256] = "";
    ck_assert_msg(expression_parse(text, &e) == 0, "%s", upmu_error());
    for (size_t i = 0; i < e.n_names; i++) {
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%.100s", i ? "," : "", e.name[i]);
    }
    ck_assert_str_eq(got, names);
    double v = expression_compute(&e, values, 2.0);
    if (isnan(expected))
        ck_assert_msg(isnan(v), "'%s' is %g", text, v);
    else
        ck_assert_double_eq_tol(v, expected, 1e-12);
}

static bool is_metric(const char *name)
{
    size_t first;
    return metric_row_find(name, &first);
}

START_TEST(operators_bind_as_in_arithmetic)
{
    const double v[] = {10, 4, 3};
    computes("1 + 2 * 3", "", v, 7);
    computes("(1 + 2) * 3", "", v, 9);
    computes("8 / 2 / 2", "", v, 2);
    computes("8 - 3 - 2", "", v, 3);
    computes("a - b * c", "a,b,c", v, -2);
    computes("100 * a / b", "a,b", v, 250);
    computes("a / (a + b)", "a,b", v, 10.0 / 14);
    computes("1e-1*a*1.5", "a", v, 1.5);
    computes("a / wall-time", "a", v, 5);
    computes("a / (b - b)", "a,b", v, NAN);
    computes("1 / 0 * a", "a", v, NAN);
}
END_TEST

START_TEST(names_keep_their_hyphens_slashes_and_colons)
{
    const double v[] = {10, 4};
    computes("l1d-load-miss - l1d-load", "l1d-load-miss,l1d-load", v, 6);
    computes("power/energy-pkg/ / wall-time", "power/energy-pkg/", v, 5);
    computes("cpu/event=0x3c,umask=1/u / cycles:u", "cpu/event=0x3c,umask=1/u,cycles:u", v, 2.5);
    computes("native::A.B:C - sched:sched_switch", "native::A.B:C,sched:sched_switch", v, 6);
    computes("a/b", "a,b", v, 2.5);
}
END_TEST

static void refused(const char *text, const char *words)
{
    struct expression e;
    ck_assert_msg(expression_parse(text, &e) == UPMU_E_INVAL, "'%s' was taken", text);
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
}

START_TEST(mistakes_are_shown_with_their_place)
{
    char deep[200] = "", wide[1024] = "1";
    refused("", "missing at the end");
    refused("a +", "missing at the end");
    refused("a b", "an operator expected at 'b' (column 3)");
    refused("(a", "')' or an operator is missing");
    refused("a)", "an operator expected at ')'");
    refused("a + * b", "expected at '* b' (column 5)");
    refused("2x", "a number expected at '2x'");
    refused("-a", "expected at '-a'");
    for (int i = 0; i < 40; i++)
        strcat(deep, "(");
    refused(deep, "parentheses more than");
    for (int i = 0; i < 100; i++)
        strcat(wide, " + 1");
    refused(wide, "more than 64 numbers");
}
END_TEST

START_TEST(every_metric_of_the_library_is_well_formed)
{
    for (size_t i = 0; i < upmu_metric_n_rows; i++) {
        struct expression e;
        const struct metric_row *row = &upmu_metric_rows[i];
        ck_assert_msg(expression_parse(row->formula, &e) == 0, "%s: %s", row->name, upmu_error());
        ck_assert_uint_ge(e.n_names, 1);
        for (size_t k = 0; k < i; k++) /* those of one name stand together */
            ck_assert_msg(strcmp(row->name, upmu_metric_rows[k].name) != 0 ||
                              strcmp(row->name, upmu_metric_rows[i - 1].name) == 0,
                          "%s", row->name);
        for (const char *p = row->families; p && *p;) {
            char key[64];
            size_t n = strcspn(p, " ");
            snprintf(key, sizeof key, "%.*s", (int)n, p);
            ck_assert_msg(arch_family_named(key) != NULL, "%s: no CPU family '%s'", row->name, key);
            p += n + (p[n] == ' ');
        }
    }
    for (size_t g = 0; g < upmu_metric_n_groups; g++) {
        for (const char *p = upmu_metric_groups[g].metrics; *p;) {
            char name[64];
            size_t n = strcspn(p, ",");
            snprintf(name, sizeof name, "%.*s", (int)n, p);
            ck_assert_msg(is_metric(name), "group %s: no metric '%s'", upmu_metric_groups[g].name, name);
            p += n + (p[n] == ',');
        }
    }
}
END_TEST

/* A metric for families has its events there. */
START_TEST(metrics_of_families_have_their_events)
{
    static struct machine m;
    machine_bare();
    for (size_t i = 0; i < upmu_metric_n_rows; i++) {
        struct expression e;
        for (const char *p = upmu_metric_rows[i].families; p && *p;) {
            char key[64];
            size_t n = strcspn(p, " ");
            snprintf(key, sizeof key, "%.*s", (int)n, p);
            ck_assert_int_eq(machine_of_cpu(key, &m), 0);
            ck_assert(expression_parse(upmu_metric_rows[i].formula, &e) == 0);
            for (size_t k = 0; k < e.n_names; k++) {
                struct event event;
                ck_assert_msg(event_resolve_on(&m, e.name[k], &event) == 0, "%s on %s: %s", upmu_metric_rows[i].name,
                              key, upmu_error());
            }
            p += n + (p[n] == ' ');
        }
    }
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- files */

static int loaded(const char *text)
{
    char path[] = "/tmp/upmu-metrics-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    int rc = upmu_metric_load(path);
    unlink(path);
    return rc;
}

static void not_loaded(const char *text, const char *words)
{
    ck_assert_msg(loaded(text) == UPMU_E_FORMAT, "'%s' was loaded", text);
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
}

START_TEST(metrics_of_users_are_checked_line_by_line)
{
    machine_plain((struct scripted_sample[]){{1, 1, 1}}, 1);
    ck_assert_int_eq(upmu_metric_load(NULL), 0);
    not_loaded("ok = cycles\nmine cycles\n", ":2: 'name = formula' expected");
    not_loaded("Mine = cycles\n", ":1: '=' must follow a name of lower case letters");
    not_loaded("cycles = instructions\n", "'cycles' is an event");
    not_loaded("ipc = instructions / cycles\n", "'ipc' is a metric already");
    not_loaded("# one\n\nmine = cycles +\n", ":3: formula 'cycles +'");
    not_loaded("mine = cylces / instructions\n", ":1: no event 'cylces'; did you mean 'cycles'?");
    not_loaded("mine = cycles\nmine = cycles\n", ":2: 'mine' is defined twice");
    ck_assert(!is_metric("mine") && !is_metric("ok"));
    ck_assert_int_eq(upmu_metric_load("/nonexistent/metrics"), UPMU_E_IO);
    ck_assert_int_eq(loaded("  mine = 2 * cycles / (instructions + 1) # twice\n\nother = page-faults\n"), 2);
    ck_assert_int_eq(loaded("third = mine-not\n"), UPMU_E_FORMAT);
    ck_assert(is_metric("mine") && is_metric("other") && !is_metric("third"));
    const char *const names[] = {"instructions", "cycles"};
    const struct upmu_value values[] = {{.value = 9, .status = UPMU_EXACT}, {.value = 30, .status = UPMU_SCALED}};
    struct upmu_metric_value v;
    ck_assert_int_eq(upmu_metric_eval("mine", names, values, 2, 1, &v), 0);
    ck_assert(v.status == UPMU_SCALED && v.value == 6);
}
END_TEST

START_TEST(metric_names_expand_to_their_events_in_lists)
{
    struct upmu_set *set;
    machine_plain((struct scripted_sample[]){{1, 1, 1}}, 1);
    ck_assert_int_eq(upmu_set_open(&set, "ipc,cycles,branch-miss-ratio:u,page-faults", NULL), 0);
    ck_assert_uint_eq(upmu_set_event_count(set), 5);
    ck_assert_str_eq(upmu_set_name(set, 0), "instructions");
    ck_assert_str_eq(upmu_set_name(set, 1), "cycles");
    ck_assert_str_eq(upmu_set_name(set, 2), "branch-misses:u");
    ck_assert_str_eq(upmu_set_name(set, 3), "branches:u");
    ck_assert_str_eq(upmu_set_name(set, 4), "page-faults");
    upmu_set_close(set);
    ck_assert_int_eq(upmu_set_open(&set, "cycles,cycles", NULL), 0);
    ck_assert_uint_eq(upmu_set_event_count(set), 2);
    upmu_set_close(set);
    ck_assert_int_eq(upmu_set_open(&set, "{ipc},clock-ghz:u", NULL), 0);
    ck_assert_str_eq(upmu_set_name(set, 2), "cycles:u");
    ck_assert_str_eq(upmu_set_name(set, 3), "task-clock");
    upmu_set_close(set);
    ck_assert_int_eq(upmu_set_open(&set, "icp", NULL), UPMU_E_NAME);
    ck_assert_msg(strstr(upmu_error(), "did you mean 'ipc'?") != NULL, "%s", upmu_error());
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("expression");
    tcase_add_test(cases, operators_bind_as_in_arithmetic);
    tcase_add_test(cases, names_keep_their_hyphens_slashes_and_colons);
    tcase_add_test(cases, mistakes_are_shown_with_their_place);
    tcase_add_test(cases, every_metric_of_the_library_is_well_formed);
    tcase_add_test(cases, metrics_of_families_have_their_events);
    tcase_add_test(cases, metrics_of_users_are_checked_line_by_line);
    tcase_add_test(cases, metric_names_expand_to_their_events_in_lists);
    return run_suite("expression", cases);
}
