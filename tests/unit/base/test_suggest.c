/* SPDX-License-Identifier: MIT */
/* "did you mean": what is near enough, what is not, which of two is nearer. */
#include <string.h>

#include "base/text/suggest.h"
#include "unit/suite.h"

static const char *const names[] = {"cycles", "instructions", "l1d-load-miss", "l1d-load", "page-faults", "ipc"};

static const char *nearest(const char *wanted)
{
    struct suggest s;
    suggest_begin(&s, wanted);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        suggest_offer(&s, names[i]);
    return s.best ? s.best : "";
}

START_TEST(a_typo_finds_its_name)
{
    ck_assert_str_eq(nearest("cylces"), "cycles");            /* two adjacent letters swapped */
    ck_assert_str_eq(nearest("instruction"), "instructions"); /* one left out */
    ck_assert_str_eq(nearest("pagefaults"), "page-faults");
    ck_assert_str_eq(nearest("l1d-load-mis"), "l1d-load-miss");
    ck_assert_str_eq(nearest("l1d-loads"), "l1d-load"); /* the nearer of two */
}
END_TEST

START_TEST(an_abbreviation_finds_its_name)
{
    ck_assert_str_eq(nearest("cyc"), "cycles");
    ck_assert_str_eq(nearest("PAGE"), "page-faults");
}
END_TEST

START_TEST(case_and_underscores_do_not_count)
{
    ck_assert_str_eq(nearest("PAGE_FAULTS"), "page-faults");
    ck_assert_str_eq(nearest("L1D_Load_Miss"), "l1d-load-miss");
}
END_TEST

START_TEST(another_word_is_no_typo)
{
    ck_assert_str_eq(nearest("temperature"), "");
    ck_assert_str_eq(nearest("xyz"), "");
    ck_assert_str_eq(nearest(""), "");
}
END_TEST

START_TEST(names_too_long_to_compare_are_passed_over)
{
    char lengthy[200];
    memset(lengthy, 'c', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    ck_assert_str_eq(nearest(lengthy), "");
    struct suggest s;
    suggest_begin(&s, "cycles");
    suggest_offer(&s, lengthy);
    ck_assert_ptr_null(s.best);
}
END_TEST

START_TEST(the_first_of_equals_stays)
{
    struct suggest s;
    suggest_begin(&s, "loadx");
    suggest_offer(&s, "loada");
    suggest_offer(&s, "loadb");
    ck_assert_str_eq(s.best, "loada");
    suggest_offer(&s, "loadx");
    ck_assert_str_eq(s.best, "loadx");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("suggest");
    tcase_add_test(cases, a_typo_finds_its_name);
    tcase_add_test(cases, an_abbreviation_finds_its_name);
    tcase_add_test(cases, case_and_underscores_do_not_count);
    tcase_add_test(cases, another_word_is_no_typo);
    tcase_add_test(cases, names_too_long_to_compare_are_passed_over);
    tcase_add_test(cases, the_first_of_equals_stays);
    return run_suite("suggest", cases);
}
