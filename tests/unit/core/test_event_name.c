/* SPDX-License-Identifier: MIT */
/* The grammar of event names and lists, and the messages for unknown names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/names/event.h"
#include "support/machine.h"
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

START_TEST(other_modifiers_of_perf_are_taken)
{
    struct event_name n;
    parsed("cycles:h", "cycles", false, false, true);
    ck_assert_int_eq(event_name_parse("cycles:ukhG", &n), 0);
    ck_assert(n.hypervisor && n.guest && !n.host && n.user && n.kernel);
    ck_assert_int_eq(event_name_parse("cycles:H", &n), 0);
    ck_assert(n.host && !n.modes_given && n.user && n.kernel);
    ck_assert_int_eq(event_name_parse("cycles:ppu", &n), 0);
    ck_assert(n.precise == 2 && n.user && !n.kernel && !n.precise_max);
    ck_assert_int_eq(event_name_parse("cycles:P", &n), 0);
    ck_assert(n.precise_max && n.precise == 0);
    not_parsed("cycles:pppp", "at most 3");
    not_parsed("cycles:S", "perf uses it");
    not_parsed("cycles:uD", "perf uses it");
}
END_TEST

START_TEST(a_colon_between_words_makes_a_tracepoint)
{
    struct event_name n;
    parsed("sched:sched_switch", "sched:sched_switch", true, true, false);
    parsed("raw_syscalls:sys_enter:k", "raw_syscalls:sys_enter", false, true, true);
    ck_assert_int_eq(event_name_parse("sched:sched_switch", &n), 0);
    ck_assert(n.tracepoint);
    ck_assert_int_eq(event_name_parse("cycles:u", &n), 0);
    ck_assert(!n.tracepoint);
    not_parsed("cycles:user", "modifier 's' is unknown");
    not_parsed("sched:sched_switch:x", "modifier 'x' is unknown");
    not_parsed("{cycles", "braces group events");
}
END_TEST

START_TEST(names_of_libpfm4_keep_their_own_colons)
{
    parsed("skl::INST_RETIRED:ANY_P", "skl::INST_RETIRED:ANY_P", true, true, false);
    parsed("skl::INST_RETIRED:ANY_P:u", "skl::INST_RETIRED:ANY_P", true, false, true);
}
END_TEST

START_TEST(native_names_keep_their_own_colons)
{
    parsed("native::RETIRED:ANY", "native::RETIRED:ANY", true, true, false);
    parsed("native::RETIRED:ANY:u", "native::RETIRED:ANY", true, false, true);
    parsed("native::INST", "native::INST", true, true, false);
}
END_TEST

START_TEST(malformed_name_is_reported)
{
    not_parsed("", "empty");
    not_parsed("cycles:x", "modifier 'x' is unknown");
    not_parsed("cycles:", "a modifier is missing after ':'");
    not_parsed("cpu/event=0x3c/:", "a modifier is missing after ':'");
    not_parsed("sched:sched_switch:", "a modifier is missing after ':'");
    not_parsed("cpu/event=0x3c/z", "modifier 'z' is unknown");
    not_parsed("cpu/event=0x3c", "closing '/' is missing");
    char lengthy[EVENT_NAME_MAX + 10];
    memset(lengthy, 'a', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    not_parsed(lengthy, "longer than 159 bytes");
}
END_TEST

/* The names of a list, joined by '|', those in braces with the number of their group. */
static const char *listed(const char *list)
{
    static char text[256];
    char name[EVENT_NAME_MAX];
    struct event_list it = {.rest = list};
    int rc;
    text[0] = '\0';
    while ((rc = event_list_next(&it, name)) > 0) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used ? "|" : "", name);
        used = strlen(text);
        if (it.in_group)
            snprintf(text + used, sizeof text - used, "@%u", it.groups);
    }
    return rc < 0 ? upmu_error() : text;
}

static void not_listed(const char *list, const char *words)
{
    const char *text = listed(list);
    ck_assert_msg(strstr(text, words) != NULL, "'%s': '%s' is missing in: %s", list, words, text);
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

START_TEST(braces_group_names_and_give_them_modifiers)
{
    ck_assert_str_eq(listed("{cycles,instructions},faults"), "cycles@1|instructions@1|faults");
    ck_assert_str_eq(listed("a, { b , c } , {d,e}:u"), "a|b@1|c@1|d:u@2|e:u@2");
    ck_assert_str_eq(listed("{cycles:u,instructions}:k"), "cycles:uk@1|instructions:k@1");
    ck_assert_str_eq(listed("{cpu/event=1,umask=2/u,cpu/event=3/}:k"), "cpu/event=1,umask=2/uk@1|cpu/event=3/:k@1");
    ck_assert_str_eq(listed("{},{cycles}"), "cycles@2");
    not_listed("{cycles,instructions", "closing '}' is missing");
    not_listed("{cycles,{instructions}}", "cannot hold another group");
    not_listed("{cycles}u", "'}' must be followed");
    not_listed("{cycles}:", "'}' must be followed");
    not_parsed("cycles}", "braces group events");
}
END_TEST

START_TEST(an_unclosed_slash_swallows_no_name_in_silence)
{
    ck_assert_str_eq(listed("cpu/event=1,cycles"), "cpu/event=1,cycles");
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
}
END_TEST

START_TEST(clocks_take_no_mode_of_their_own)
{
    struct event e;
    machine_bare();
    not_resolved("task-clock:u", UPMU_E_UNSUPPORTED, "Use user-time or system-time");
    not_resolved("task-clock:k", UPMU_E_UNSUPPORTED, "'task-clock:k'");
    not_resolved("cpu-clock:u", UPMU_E_UNSUPPORTED, "a clock runs in all modes");
    not_resolved("cpu-clock:h", UPMU_E_UNSUPPORTED, "a clock runs in all modes");
    scripted_file(TEST_DEVICES "/software/type", "1\n");
    not_resolved("software/config=1/u", UPMU_E_UNSUPPORTED, "a clock runs in all modes");
    not_resolved("user-time:u", UPMU_E_UNSUPPORTED, "part of the name");
    ck_assert_int_eq(event_resolve("task-clock:uk", &e), 0);
    ck_assert_int_eq(event_resolve("user-time", &e), 0);
    ck_assert_str_eq(e.unit, "ns");
    ck_assert(e.match == UPMU_MATCH_APPROXIMATE && strstr(e.note, "getrusage"));
}
END_TEST

START_TEST(guests_and_hypervisor_are_distinguished_where_the_pmu_can)
{
    struct event e;
    machine_plain((struct scripted_sample[]){{1, 1, 1}}, 1);
    not_resolved("cycles:G", UPMU_E_UNSUPPORTED, "counts guests and host together");
    not_resolved("cycles:H", UPMU_E_UNSUPPORTED, "would ignore ':H'");
    not_resolved("cycles:h", UPMU_E_UNSUPPORTED, "no hypervisor mode");
    not_resolved("page-faults:h", UPMU_E_UNSUPPORTED, "no hypervisor mode");
    not_resolved("page-faults:G", UPMU_E_UNSUPPORTED, "counts guests and host together");
    ck_assert_int_eq(event_resolve("cycles:GH", &e), 0);
    ck_assert_str_eq(e.name, "cycles:GH");
    ck_assert_int_eq(event_resolve("cycles:uh", &e), 0);
    ck_assert_str_eq(e.name, "cycles:uh");
    static struct machine skylake, arm, zhaoxin;
    ck_assert_int_eq(machine_of_cpu("skylake", &skylake), 0);
    ck_assert_int_eq(event_resolve_on(&skylake, "cycles:uG", &e), 0);
    ck_assert(e.guest && !e.host && e.user && !e.kernel);
    ck_assert_int_eq(event_resolve_on(&skylake, "cycles:h", &e), UPMU_E_UNSUPPORTED);
    ck_assert_int_eq(machine_of_cpu("armv8", &arm), 0);
    ck_assert_int_eq(event_resolve_on(&arm, "cycles:h", &e), 0);
    ck_assert(e.zero_unsure); /* a kernel at EL2 leaves nothing to count */
    ck_assert_int_eq(machine_of_cpu("kx-6000", &zhaoxin), 0);
    ck_assert_int_eq(event_resolve_on(&zhaoxin, "cycles:H", &e), UPMU_E_UNSUPPORTED);
}
END_TEST

#define TRACING "/sys/kernel/tracing"

START_TEST(tracepoints_have_their_numbers_from_tracefs)
{
    struct event e;
    machine_bare();
    scripted_file(TRACING "/events/sched/sched_switch/id", "372\n");
    ck_assert_int_eq(event_resolve("sched:sched_switch", &e), 0);
    ck_assert_uint_eq(e.type, KERNEL_TYPE_TRACEPOINT);
    ck_assert_uint_eq(e.config, 372);
    ck_assert_str_eq(e.name, "sched:sched_switch");
    not_resolved("sched:sched_swich", UPMU_E_NAME, "did you mean 'sched:sched_switch'?");
    not_resolved("sced:sched_switch", UPMU_E_NAME, "neither an event nor a subsystem");
    not_resolved("sched:sched_switch:u", UPMU_E_UNSUPPORTED, "would always read 0");
    not_resolved("sched:sched_switch:k", UPMU_E_UNSUPPORTED, "no filter for user and kernel mode");
    not_resolved("sched:*", UPMU_E_INVAL, "wildcards are not supported");
    not_resolved("sched:..", UPMU_E_INVAL, "expected subsystem:event");
    scripted_file(TRACING "/events/sched/odd/id", "none\n");
    not_resolved("sched:odd", UPMU_E_SYSTEM, "does not contain a number");
}
END_TEST

START_TEST(tracepoints_in_debugfs_are_found)
{
    struct event e;
    machine_bare();
    scripted_dir(TRACING);
    scripted_file("/sys/kernel/debug/tracing/events/kvm/kvm_exit/id", "12\n");
    ck_assert_int_eq(event_resolve("kvm:kvm_exit", &e), 0);
    ck_assert_uint_eq(e.config, 12);
}
END_TEST

START_TEST(reason_why_tracefs_cannot_be_read_is_reported)
{
    machine_bare();
    not_resolved("sched:sched_switch", UPMU_E_UNSUPPORTED, "mount -t tracefs tracefs /sys/kernel/tracing");
    scripted_file_error(TRACING "/events/sched/sched_switch/id", EACCES);
    not_resolved("sched:sched_switch", UPMU_E_PERM, "mode=750 /sys/kernel/tracing");
    scripted_file_error(TRACING "/events/sched/sched_switch/id", EIO);
    not_resolved("sched:sched_switch", UPMU_E_SYSTEM, "EIO");
    static struct machine zen;
    struct event e;
    ck_assert_int_eq(machine_of_cpu("zen3", &zen), 0);
    ck_assert_int_eq(event_resolve_on(&zen, "sched:sched_switch", &e), UPMU_E_NAME);
}
END_TEST

START_TEST(a_family_may_precede_the_colons)
{
    struct event e;
    static struct machine zen;
    machine_bare();
    ck_assert_int_eq(machine_of_cpu("zen3", &zen), 0);
    ck_assert_int_eq(event_resolve_on(&zen, "zen3::all_tlbs_flushed:u", &e), 0);
    ck_assert(e.user && !e.kernel);
    ck_assert_int_eq(event_resolve_on(&zen, "skylake::INST_RETIRED.ANY", &e), UPMU_E_NAME);
    ck_assert_msg(strstr(upmu_error(), "is an event of") != NULL, "%s", upmu_error());
    ck_assert_int_eq(event_resolve_on(&zen, "wibble::INST", &e), UPMU_E_NAME);
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
    tcase_add_test(cases, other_modifiers_of_perf_are_taken);
    tcase_add_test(cases, a_colon_between_words_makes_a_tracepoint);
    tcase_add_test(cases, names_of_libpfm4_keep_their_own_colons);
    tcase_add_test(cases, native_names_keep_their_own_colons);
    tcase_add_test(cases, braces_group_names_and_give_them_modifiers);
    tcase_add_test(cases, clocks_take_no_mode_of_their_own);
    tcase_add_test(cases, guests_and_hypervisor_are_distinguished_where_the_pmu_can);
    tcase_add_test(cases, tracepoints_have_their_numbers_from_tracefs);
    tcase_add_test(cases, tracepoints_in_debugfs_are_found);
    tcase_add_test(cases, reason_why_tracefs_cannot_be_read_is_reported);
    tcase_add_test(cases, a_family_may_precede_the_colons);
    tcase_add_test(cases, malformed_name_is_reported);
    tcase_add_test(cases, lists_are_cut_at_commas_outside_slashes);
    tcase_add_test(cases, an_unclosed_slash_swallows_no_name_in_silence);
    tcase_add_test(cases, unknown_names_are_answered_with_the_nearest);
    tcase_add_test(cases, modes_that_would_always_read_zero_are_refused);
    tcase_add_test(cases, raw_codes);
    return run_suite("event name", cases);
}
