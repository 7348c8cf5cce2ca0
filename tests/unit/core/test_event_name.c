/* SPDX-License-Identifier: MIT */
/* The grammar of names and lists, and what a name nobody knows is answered. Room: core (event_name.c, event.c). */
#include <string.h>

#include "core/event.h"
#include "machine.h"
#include "unit/suite.h"

static void parsed(const char *text, const char *base, bool user, bool kernel, bool given)
{
    struct event_name n;
    int rc = event_name_parse(text, &n);
    ck_assert_msg(rc == 0, "'%s': %s", text, upmu_error());
    ck_assert_str_eq(n.base, base);
    ck_assert_msg(n.user == user && n.kernel == kernel && n.modes_given == given, "'%s': user %d kernel %d given %d",
                  text, n.user, n.kernel, n.modes_given);
}

static void not_parsed(const char *text, const char *words)
{
    struct event_name n;
    ck_assert_msg(event_name_parse(text, &n) == UPMU_E_INVAL, "'%s' was taken for a name", text);
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
}

START_TEST(modifiers_follow_a_colon)
{
    parsed("cycles", "cycles", true, true, false);
    parsed("cycles:u", "cycles", true, false, true);
    parsed("cycles:k", "cycles", false, true, true);
    parsed("cycles:uk", "cycles", true, true, true);
    parsed("cycles:ku", "cycles", true, true, true);
    parsed("r1a8:k", "r1a8", false, true, true);
}
END_TEST

START_TEST(modifiers_of_a_pmus_event_follow_its_second_slash)
{
    parsed("msr/tsc/", "msr/tsc/", true, true, false);
    parsed("cpu/event=0x3c/u", "cpu/event=0x3c/", true, false, true);
    parsed("cpu/event=0x3c/:k", "cpu/event=0x3c/", false, true, true);
}
END_TEST

START_TEST(native_names_keep_their_own_colons)
{
    parsed("native::RETIRED:ANY", "native::RETIRED:ANY", true, true, false);
    parsed("native::RETIRED:ANY:u", "native::RETIRED:ANY", true, false, true);
    parsed("native::INST", "native::INST", true, true, false);
}
END_TEST

START_TEST(what_is_no_name_is_told)
{
    not_parsed("", "empty");
    not_parsed("cycles:x", "modifier 'x' is not known");
    not_parsed("cycles:uh", "modifier 'h' is not known");
    not_parsed("cpu/event=0x3c/z", "modifier 'z' is not known");
    not_parsed("cpu/event=0x3c", "closing '/' is missing");
    char lengthy[EVENT_NAME_MAX + 10];
    memset(lengthy, 'a', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    not_parsed(lengthy, "longer than 159 bytes");
}
END_TEST

/* The names of a list, joined by '|'. */
static const char *listed(const char *list)
{
    static char text[256];
    const char *start;
    size_t len;
    text[0] = '\0';
    while ((len = event_list_next(&list, &start)) > 0) {
        if (text[0])
            strcat(text, "|");
        strncat(text, start, len);
    }
    return text;
}

START_TEST(lists_are_cut_at_commas_outside_slashes)
{
    ck_assert_str_eq(listed("cycles,instructions"), "cycles|instructions");
    ck_assert_str_eq(listed("cpu/event=0x3c,umask=1/u,cycles"), "cpu/event=0x3c,umask=1/u|cycles");
    ck_assert_str_eq(listed("msr/tsc/,msr/aperf/,r1"), "msr/tsc/|msr/aperf/|r1");
    ck_assert_str_eq(listed(" cycles , instructions\t,\n page-faults "), "cycles|instructions|page-faults");
    ck_assert_str_eq(listed("cycles,,instructions,"), "cycles|instructions");
    ck_assert_str_eq(listed(" ,, "), "");
    ck_assert_str_eq(listed(""), "");
}
END_TEST

START_TEST(an_unclosed_slash_swallows_no_name_in_silence)
{
    const char *list = "cpu/event=1,cycles", *start;
    size_t len = event_list_next(&list, &start);
    ck_assert_uint_eq(len, strlen("cpu/event=1,cycles"));
    not_parsed("cpu/event=1,cycles", "closing '/' is missing");
}
END_TEST

static void not_resolved(const char *name, int code, const char *words)
{
    struct event e;
    int rc = event_resolve(name, &e);
    ck_assert_msg(rc == code, "'%s': %s instead of %s", name, upmu_strerror(rc), upmu_strerror(code));
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
}

START_TEST(unknown_names_are_answered_with_the_nearest)
{
    machine_bare();
    scripted_file(TEST_DEVICES "/msr/type", "11\n");
    scripted_file(TEST_DEVICES "/msr/events/tsc", "event=0x00\n");
    not_resolved("cylces", UPMU_E_NAME, "did you mean 'cycles'?");
    not_resolved("page-fault", UPMU_E_NAME, "did you mean 'page-faults'?");
    not_resolved("PAPI_TOT_INST", UPMU_E_NAME, "did you mean 'PAPI_TOT_INS'?");
    not_resolved("msr/tcs/", UPMU_E_NAME, "did you mean msr/tsc/?");
    not_resolved("wibble-wobble", UPMU_E_NAME, "upmu list");
    not_resolved(":u", UPMU_E_NAME, "no event ''");
    not_resolved("r", UPMU_E_NAME, "no event 'r'");
    not_resolved("rxyz", UPMU_E_NAME, "no event 'rxyz'");
}
END_TEST

START_TEST(modes_that_would_always_read_zero_are_refused)
{
    machine_bare();
    not_resolved("context-switches:u", UPMU_E_UNSUPPORTED, "always read 0");
    not_resolved("cpu-migrations:u", UPMU_E_UNSUPPORTED, "always read 0");
    not_resolved("cs:u", UPMU_E_UNSUPPORTED, "context-switches:u");
    struct event e;
    ck_assert_int_eq(event_resolve("context-switches:k", &e), 0);
    ck_assert_int_eq(event_resolve("task-clock:u", &e), 0);
}
END_TEST

START_TEST(raw_codes)
{
    struct event e;
    machine_bare();
    ck_assert_int_eq(event_resolve("r1A8:u", &e), 0);
    ck_assert_uint_eq(e.config, 0x1a8);
    ck_assert_uint_eq(e.type, KERNEL_TYPE_RAW);
    ck_assert_int_eq(e.class, EVENT_CORE);
    ck_assert_str_eq(e.name, "r1A8:u");
    ck_assert(e.user && !e.kernel && e.modes_fixed);
    ck_assert_int_eq(event_resolve("rffffffffffffffff", &e), 0);
    ck_assert_uint_eq(e.config, UINT64_MAX);
    not_resolved("r10000000000000000", UPMU_E_INVAL, "longer than 64 bits");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("event name");
    tcase_add_test(cases, modifiers_follow_a_colon);
    tcase_add_test(cases, modifiers_of_a_pmus_event_follow_its_second_slash);
    tcase_add_test(cases, native_names_keep_their_own_colons);
    tcase_add_test(cases, what_is_no_name_is_told);
    tcase_add_test(cases, lists_are_cut_at_commas_outside_slashes);
    tcase_add_test(cases, an_unclosed_slash_swallows_no_name_in_silence);
    tcase_add_test(cases, unknown_names_are_answered_with_the_nearest);
    tcase_add_test(cases, modes_that_would_always_read_zero_are_refused);
    tcase_add_test(cases, raw_codes);
    return run_suite("event name", cases);
}
