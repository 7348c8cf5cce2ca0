/* SPDX-License-Identifier: MIT */
/* Events of the kernel's PMUs: sysfs terms become bits of config. */
#include <errno.h>
#include <string.h>

#include "core/names/event.h"
#include "support/machine.h"
#include "unit/suite.h"

static void set_up(void)
{
    machine_bare();
    scripted_file(TEST_DEVICES "/cpu/type", "4\n");
    scripted_file(TEST_DEVICES "/cpu/format/event", "config:0-7,32-35\n");
    scripted_file(TEST_DEVICES "/cpu/format/umask", "config:8-15\n");
    scripted_file(TEST_DEVICES "/cpu/format/edge", "config:18\n");
    scripted_file(TEST_DEVICES "/cpu/format/offcore_rsp", "config1:0-63\n");
    scripted_file(TEST_DEVICES "/cpu/format/filter", "config2:4-7\n");
    scripted_file(TEST_DEVICES "/cpu/format/strange", "config7:0-3\n");
    scripted_file(TEST_DEVICES "/cpu/format/broken", "config:5-2\n");
    scripted_file(TEST_DEVICES "/cpu/events/cpu-cycles", "event=0x3c\n");
    scripted_file(TEST_DEVICES "/cpu/events/mem-loads", "event=0xcd,umask=0x1,offcore_rsp=3\n");
    scripted_file(TEST_DEVICES "/msr/type", "11\n");
    scripted_file(TEST_DEVICES "/msr/format/event", "config:0-63\n");
    scripted_file(TEST_DEVICES "/msr/events/tsc", "event=0x00\n");
    scripted_file(TEST_DEVICES "/power/type", "12\n");
    scripted_file(TEST_DEVICES "/power/cpumask", "2-3,8\n");
    scripted_file(TEST_DEVICES "/power/format/event", "config:0-7\n");
    scripted_file(TEST_DEVICES "/power/events/energy-pkg", "event=0x02\n");
    scripted_file(TEST_DEVICES "/power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
    scripted_file(TEST_DEVICES "/power/events/energy-pkg.unit", "Joules\n");
}

static struct event resolved(const char *name)
{
    struct event e;
    int rc = event_resolve(name, &e);
    ck_assert_msg(rc == 0, "'%s': %s", name, upmu_error());
    return e;
}

static void expect(const char *name, uint64_t config, uint64_t config1, uint64_t config2)
{
    struct event e = resolved(name);
    ck_assert_msg(e.config == config && e.config1 == config1 && e.config2 == config2, "'%s' is 0x%llx, 0x%llx, 0x%llx",
                  name, (unsigned long long)e.config, (unsigned long long)e.config1, (unsigned long long)e.config2);
    ck_assert_str_eq(e.name, name);
}

static void refused(const char *name, int code, const char *words)
{
    struct event e;
    int rc = event_resolve(name, &e);
    ck_assert_msg(rc == code, "'%s': %s instead of %s", name, upmu_strerror(rc), upmu_strerror(code));
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
}

START_TEST(terms_fill_their_fields)
{
    expect("cpu/event=0x3c,umask=0x1/", 0x13c, 0, 0);
    expect("cpu/event=60/", 0x3c, 0, 0);
    expect("cpu/edge/", 1u << 18, 0, 0);
    expect("cpu/offcore_rsp=0xffffffffffffffff,event=1/", 1, UINT64_MAX, 0);
    expect("cpu/filter=0xf/", 0, 0, 0xf0);
    expect("cpu/config=0x123,config1=4,config2=5/", 0x123, 4, 5);
}
END_TEST

START_TEST(a_field_in_two_pieces_is_spread)
{
    expect("cpu/event=0x5c3/", 0xc3 | UINT64_C(5) << 32, 0, 0);
    expect("cpu/event=0xfff/", 0xff | UINT64_C(0xf) << 32, 0, 0);
    refused("cpu/event=0x1fff/", UPMU_E_INVAL, "does not fit");
}
END_TEST

START_TEST(named_events_and_further_terms)
{
    expect("cpu/cpu-cycles/", 0x3c, 0, 0);
    expect("cpu/mem-loads/", 0x1cd, 3, 0);
    expect("cpu/cpu-cycles,edge/", 0x3c | 1u << 18, 0, 0);
}
END_TEST

START_TEST(the_class_is_that_of_the_pmu)
{
    ck_assert_int_eq(resolved("cpu/cpu-cycles/").class, EVENT_CORE);
    struct event tsc = resolved("msr/tsc/");
    ck_assert_int_eq(tsc.class, EVENT_OTHER);
    ck_assert_uint_eq(tsc.type, 11);
    ck_assert_str_eq(tsc.pmu, "msr");
    ck_assert_int_eq(tsc.cpu, -1);
    ck_assert(tsc.all_modes_only);
}
END_TEST

START_TEST(an_uncore_pmu_is_opened_on_its_cpu)
{
    struct event e = resolved("power/energy-pkg/");
    ck_assert(e.zero_unsure);
    ck_assert_int_eq(e.cpu, 2);
    ck_assert_msg(strstr(e.note, "2.3283064365386962890625e-10") && strstr(e.note, "Joules"), "%s", e.note);
}
END_TEST

START_TEST(modes_of_a_pmu_that_has_none_are_refused)
{
    refused("msr/tsc/u", UPMU_E_UNSUPPORTED, "no filter for user and kernel mode");
    ck_assert(resolved("cpu/cpu-cycles/u").user);
    ck_assert(!resolved("cpu/cpu-cycles/u").kernel);
}
END_TEST

START_TEST(malformed_sysfs_files_are_reported)
{
    refused("gpu/cycles/", UPMU_E_NAME, "no PMU 'gpu'");
    refused("cpu/cpu-cycle/", UPMU_E_NAME, "did you mean cpu/cpu-cycles/?");
    refused("cpu/nothing-like-it=1/", UPMU_E_NAME, TEST_DEVICES "/cpu/events");
    refused("cpu/event=x/", UPMU_E_INVAL, "'x' is not a number");
    refused("cpu/event=/", UPMU_E_INVAL, "is not a number");
    refused("cpu/event=-1/", UPMU_E_INVAL, "'-1' is not a number");
    refused("cpu/event=1x/", UPMU_E_INVAL, "is not a number");
    refused("cpu/event=0x10000000000000000/", UPMU_E_INVAL, "is not a number");
    refused("cpu/umask=0x100/", UPMU_E_INVAL, "does not fit");
    refused("cpu/edge=2/", UPMU_E_INVAL, "does not fit");
    refused("cpu/event=1,,umask=2/", UPMU_E_INVAL, "a term is empty");
    refused("cpu/strange=1/", UPMU_E_UNSUPPORTED, "config7:0-3");
    refused("cpu/broken=1/", UPMU_E_UNSUPPORTED, "config:5-2");
    refused("cpu//", UPMU_E_INVAL, "expected pmu/event/");
    refused("/cycles/", UPMU_E_INVAL, "expected pmu/event/");
}
END_TEST

START_TEST(names_do_not_leave_the_devices_folder)
{
    scripted_file("/sys/bus/event_source/secret/type", "4\n");
    refused("../secret/", UPMU_E_INVAL, "expected pmu/event/");
    refused("cpu/../type/", UPMU_E_INVAL, "cpu/../type/");
    refused("cpu/..=1/", UPMU_E_INVAL, "expected pmu/event/");
}
END_TEST

START_TEST(a_type_that_is_no_number_is_no_pmu)
{
    scripted_file(TEST_DEVICES "/odd/type", "four\n");
    refused("odd/config=1/", UPMU_E_NAME, "no PMU 'odd'");
    scripted_file(TEST_DEVICES "/huge/type", "4294967296\n");
    refused("huge/config=1/", UPMU_E_NAME, "no PMU 'huge'");
    scripted_file_error(TEST_DEVICES "/closed/type", EACCES);
    refused("closed/config=1/", UPMU_E_NAME, "no PMU 'closed'");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sysfs");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, terms_fill_their_fields);
    tcase_add_test(cases, a_field_in_two_pieces_is_spread);
    tcase_add_test(cases, named_events_and_further_terms);
    tcase_add_test(cases, the_class_is_that_of_the_pmu);
    tcase_add_test(cases, an_uncore_pmu_is_opened_on_its_cpu);
    tcase_add_test(cases, modes_of_a_pmu_that_has_none_are_refused);
    tcase_add_test(cases, malformed_sysfs_files_are_reported);
    tcase_add_test(cases, names_do_not_leave_the_devices_folder);
    tcase_add_test(cases, a_type_that_is_no_number_is_no_pmu);
    return run_suite("sysfs", cases);
}
