/* SPDX-License-Identifier: MIT */
/* Patterns of suppressions: what they match, and that no pattern takes exponential time. */
#include <string.h>

#include "deadlock/suppress.h"
#include "unit/suite.h"

static bool match(const char *pattern, const char *text)
{
    char kind[] = "deadlock", copy[256];
    struct suppression one = {.kind = kind, .pattern = copy};
    const struct suppressions all = {.all = &one, .n = 1};
    strcpy(copy, pattern);
    return suppressions_match(&all, "order", "cycle", text);
}

START_TEST(patterns_match_as_documented)
{
    ck_assert(match("b", "abc"));
    ck_assert(match("^ab", "abc"));
    ck_assert(!match("^b", "abc"));
    ck_assert(match("c$", "abc"));
    ck_assert(!match("b$", "abc"));
    ck_assert(match("^a*c$", "abcbc"));
    ck_assert(match("a*b*c", "xaxbxcx"));
    ck_assert(!match("a*c*b", "abc"));
    ck_assert(match("^*$", ""));
    ck_assert(match("^$", ""));
    ck_assert(!match("^$", "a"));
    ck_assert(match("^a*b$", "abab"));
    ck_assert(match("a$b", "a$b"));
    ck_assert(match("*", ""));
    ck_assert(!match("x", ""));
    ck_assert(match("aab", "aaab"));
    ck_assert(match("**b", "ab"));
}
END_TEST

START_TEST(no_pattern_takes_exponential_time)
{
    char text[4001];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ck_assert(!match("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
    ck_assert(!match("^*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*ab$", text));
    ck_assert(match("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a$", text));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("suppress");
    tcase_add_test(cases, patterns_match_as_documented);
    tcase_add_test(cases, no_pattern_takes_exponential_time);
    return run_suite("suppress", cases);
}
