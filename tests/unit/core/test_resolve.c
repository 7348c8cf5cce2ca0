/* SPDX-License-Identifier: MIT */
/* One name on many machines: the encoding on each, and aliases with the same encoding. */
#include <stdio.h>
#include <string.h>

#include "core/names/event.h"
#include "core/names/presets.h"
#include "core/names/registry.h"
#include "support/machine.h"
#include "unit/suite.h"

static const char *machines;

static struct event resolved(const char *name)
{
    struct event e;
    int rc = event_resolve(name, &e);
    ck_assert_msg(rc == 0, "'%s': %s", name, upmu_error());
    return e;
}

static void expect(const char *name, uint32_t type, uint64_t config, uint64_t raw_encoding, int match)
{
    struct event e = resolved(name);
    ck_assert_msg(e.type == type && e.config == config, "'%s' is %u:0x%llx", name, e.type,
                  (unsigned long long)e.config);
    ck_assert_msg(e.raw_encoding == raw_encoding, "'%s' has raw encoding 0x%llx", name,
                  (unsigned long long)e.raw_encoding);
    ck_assert_int_eq(e.match, match);
    ck_assert_int_eq(e.class, EVENT_CORE);
    ck_assert_str_eq(e.pmu, "cpu");
}

static void expect_absent(const char *name, const char *words)
{
    struct event e;
    ck_assert_int_eq(event_resolve(name, &e), UPMU_E_UNSUPPORTED);
    ck_assert_int_eq(e.match, UPMU_MATCH_ABSENT);
    ck_assert_str_eq(e.name, name);
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
}

#define NOT_KNOWN UINT64_MAX

START_TEST(intel_names)
{
    machine_recorded(machines, "intel_skx");
    ck_assert_str_eq(machine_get()->family->vendor, "x86");
    expect("cycles", KERNEL_TYPE_HARDWARE, 0, 0x3c, UPMU_MATCH_EXACT);
    expect("instructions", KERNEL_TYPE_HARDWARE, 1, 0xc0, UPMU_MATCH_EXACT);
    expect("branch-misses", KERNEL_TYPE_HARDWARE, 5, 0xc5, UPMU_MATCH_EXACT);
    expect("l1d-load-miss", KERNEL_TYPE_RAW, 0x8d1, NOT_KNOWN, UPMU_MATCH_APPROXIMATE);
    ck_assert_str_ne(resolved("l1d-load-miss").note, "");
}
END_TEST

START_TEST(amd_names)
{
    machine_recorded(machines, "amd_zen3");
    expect("cycles", KERNEL_TYPE_HARDWARE, 0, 0x76, UPMU_MATCH_EXACT);
    expect("instructions", KERNEL_TYPE_HARDWARE, 1, 0xc0, UPMU_MATCH_EXACT);
    expect_absent("exceptions", "AMD Zen 3");
    expect_absent("exceptions", ": no event of AMD's list of this core is known to count it; near: interrupts");
}
END_TEST

START_TEST(la464_names)
{
    machine_recorded(machines, "loongarch_3a5000");
    ck_assert_str_eq(machine_get()->family->name, "la464");
    expect("cycles", KERNEL_TYPE_HARDWARE, 0, 0, UPMU_MATCH_EXACT);
    expect("instructions", KERNEL_TYPE_HARDWARE, 1, 1, UPMU_MATCH_EXACT);
    expect("llc-miss", KERNEL_TYPE_RAW, 0xd, NOT_KNOWN, UPMU_MATCH_EXACT);
}
END_TEST

START_TEST(gs464_names)
{
    machine_recorded(machines, "loongson3a1000");
    ck_assert_str_eq(machine_get()->family->name, "gs464");
    expect("instructions", KERNEL_TYPE_HARDWARE, 1, 0x80, UPMU_MATCH_EXACT);
    expect("dtlb-miss", KERNEL_TYPE_RAW, 0x0d, NOT_KNOWN, UPMU_MATCH_APPROXIMATE);
    ck_assert_uint_eq(resolved("cycles").counters, 1u << 0);
    ck_assert_uint_eq(resolved("instructions").counters, 1u << 1);
    ck_assert_str_ne(resolved("fp-ops").formula, "");
    expect_absent("dtlb-walk", "Loongson");
}
END_TEST

START_TEST(core3b_names)
{
    machine_recorded(machines, "sunway_sw3231");
    ck_assert_str_eq(machine_get()->family->name, "core3b");
    expect("cycles", KERNEL_TYPE_HARDWARE, 0, 8, UPMU_MATCH_EXACT);
    expect("instructions", KERNEL_TYPE_HARDWARE, 1, 0, UPMU_MATCH_EXACT);
    expect("l1d-miss", KERNEL_TYPE_RAW, 0x132, NOT_KNOWN, UPMU_MATCH_EXACT);
    expect("native::PC1_DCACHE_MISSES", KERNEL_TYPE_RAW, 0x132, NOT_KNOWN, UPMU_MATCH_EXACT);
}
END_TEST

START_TEST(an_unknown_cpu_gets_the_kernels_generic_events)
{
    machine_recorded(machines, "x86_64-qemu10.0-tcg-max-linux6.1");
    ck_assert_str_eq(machine_get()->family->name, "generic");
    struct event e = resolved("cycles");
    ck_assert_uint_eq(e.type, KERNEL_TYPE_HARDWARE);
    ck_assert_uint_eq(e.config, 0);
    ck_assert_int_eq(e.match, UPMU_MATCH_APPROXIMATE);
    ck_assert_str_ne(e.note, "");
}
END_TEST

static void list_event(const char *pmu, unsigned code)
{
    char path[128], text[32];
    snprintf(path, sizeof path, TEST_DEVICES "/%s/events/event_%02x", pmu, code);
    snprintf(text, sizeof text, "event=0x%04x\n", code);
    scripted_file(path, text);
}

/* On Arm a raw code opens whether the core has the event or not, and would read 0. */
START_TEST(an_event_that_the_core_does_not_list_is_absent)
{
    struct event e;
    machine_recorded(machines, "kunpeng920");
    scripted_file(TEST_DEVICES "/armv8_pmuv3_0/type", "8\n");
    ck_assert_uint_eq(resolved("branches").config, 0x21); /* no list at all: the table is believed */
    machine_forget();
    for (unsigned code = 1; code < 0x30; code++)
        if (code != 0x21)
            list_event("armv8_pmuv3_0", code);
    ck_assert_uint_eq(resolved("branch-misses").config, 0x22);
    ck_assert_uint_eq(resolved("cycles").type, KERNEL_TYPE_HARDWARE);
    ck_assert_uint_eq(resolved("l1d-load").config, 0x40); /* no list has numbers like this one */
    ck_assert(!resolved("l1d-load").zero_unsure);         /* but the maker's */
    ck_assert(!resolved("cycles").zero_unsure);
    ck_assert_int_eq(event_resolve("branches", &e), UPMU_E_UNSUPPORTED);
    ck_assert_int_eq(e.match, UPMU_MATCH_ABSENT);
    ck_assert_ptr_nonnull(strstr(e.note, "does not list"));
    ck_assert_uint_eq(resolved("native::BR_MIS_PRED_RETIRED").config, 0x22);
    ck_assert_int_eq(event_resolve("native::BR_RETIRED", &e), UPMU_E_UNSUPPORTED);
    ck_assert_uint_eq(resolved("r21").config, 0x21); /* a raw code is the user's own affair, */
    ck_assert(resolved("r21").zero_unsure);          /* but a 0 of it is not counted */
    ck_assert(!resolved("r22").zero_unsure);
    ck_assert(!resolved("native::L1D_CACHE_RD").zero_unsure);
}
END_TEST

/* QEMU names the core after a real one, of whose events it has few. */
START_TEST(the_list_of_an_emulated_core_is_the_emulators)
{
    struct event e;
    machine_recorded(machines, "arm64-qemu7.2-cortex-a72-linux6.1");
    scripted_file(TEST_DEVICES "/armv8_pmuv3_0/type", "8\n");
    ck_assert(!resolved("l1d-load").zero_unsure); /* no list at all: the table holds */
    machine_forget();
    list_event("armv8_pmuv3_0", 0x08);
    list_event("armv8_pmuv3_0", 0x11);
    ck_assert(resolved("l1d-load").zero_unsure);
    ck_assert(resolved("native::L1D_CACHE_RD").zero_unsure);
    ck_assert_int_eq(event_resolve("l2-access", &e), UPMU_E_UNSUPPORTED);
    ck_assert(!resolved("instructions").zero_unsure);
}
END_TEST

/* An Arm core without a table has the architecture's events and no others. */
START_TEST(a_new_arm_core_has_the_events_of_the_architecture)
{
    machine_recorded(machines, "arm64_new_core");
    ck_assert_str_eq(machine_get()->family->name, "armv8");
    ck_assert_ptr_nonnull(strstr(machine_get()->family->title, "unknown core"));
    ck_assert_uint_eq(resolved("instructions").raw_encoding, 0x08);
    ck_assert_int_eq(resolved("branches").match, UPMU_MATCH_APPROXIMATE);
    ck_assert(resolved("l1d-load").zero_unsure);
}
END_TEST

/* Codes of the kernel's driver for Apple's cores are other events on the PMUv3 that it shows to a guest. */
START_TEST(apples_codes_are_for_its_own_pmu_alone)
{
    machine_recorded(machines, "apple_m1_guest");
    scripted_file(TEST_DEVICES "/armv8_pmuv3/type", "8\n");
    ck_assert_str_eq(machine_get()->family->name, "armv8");
    ck_assert_uint_eq(resolved("branches").config, 0x21);
    machine_recorded(machines, "apple_m1");
    scripted_file(TEST_DEVICES "/apple_firestorm_pmu/type", "10\n");
    scripted_file(TEST_DEVICES "/apple_firestorm_pmu/cpus", "4-7\n");
    scripted_file(TEST_DEVICES "/apple_icestorm_pmu/type", "9\n");
    scripted_file(TEST_DEVICES "/apple_icestorm_pmu/cpus", "0-3\n");
    ck_assert_str_eq(machine_core_type(0)->family->name, "apple-firestorm");
    ck_assert_str_eq(machine_core_type(1)->family->name, "apple-icestorm");
    ck_assert_uint_eq(resolved("branches").config, 0x8d);
    ck_assert_uint_eq(resolved("branches").type, 10);
}
END_TEST

/* Retired loads on one core type, speculative ones included on the other. */
START_TEST(an_event_is_as_exact_as_on_each_kind_of_core)
{
    machine_recorded(machines, "cortex_a53_a72");
    scripted_file(TEST_DEVICES "/armv8_cortex_a53/type", "8\n");
    scripted_file(TEST_DEVICES "/armv8_cortex_a53/cpus", "0-3\n");
    ck_assert_int_eq(resolved("loads").match, UPMU_MATCH_EXACT);
    machine_forget();
    scripted_file(TEST_DEVICES "/armv8_cortex_a72/type", "9\n");
    scripted_file(TEST_DEVICES "/armv8_cortex_a72/cpus", "4-5\n");
    struct event e = resolved("loads");
    ck_assert_uint_eq(e.config, 0x06);
    ck_assert_int_eq(e.match, UPMU_MATCH_APPROXIMATE);
    ck_assert_ptr_nonnull(strstr(e.note, "armv8_cortex_a72"));
    ck_assert_int_eq(resolved("l1d-access").match, UPMU_MATCH_EXACT);
}
END_TEST

START_TEST(a_zero_of_an_unconfirmed_event_is_no_number)
{
    machine_recorded(machines, "phytium_d2000");
    ck_assert(resolved("branches").zero_unsure); /* the kernel lists nothing */
    ck_assert(resolved("l1d-load").zero_unsure);
    ck_assert(!resolved("l1d-access").zero_unsure); /* a perf generic event: the kernel has asked the core */
    machine_forget();
    scripted_file(TEST_DEVICES "/armv8_pmuv3_0/type", "8\n");
    scripted_file(TEST_DEVICES "/armv8_pmuv3_0/events/pc_write_retired", "event=0x000c\n");
    ck_assert(!resolved("branches").zero_unsure);
    ck_assert(resolved("l1d-load").zero_unsure); /* beyond the kernel's lists */
}
END_TEST

START_TEST(another_cpus_names_come_from_its_table_alone)
{
    struct machine m;
    struct event e;
    machine_recorded(machines, "amd_zen3");
    ck_assert_int_eq(machine_of_cpu("3a3000", &m), 0);
    ck_assert_str_eq(m.family->name, "gs464e");
    ck_assert_int_eq(event_resolve_on(&m, "l1i-miss", &e), 0);
    ck_assert_uint_eq(e.type, KERNEL_TYPE_HW_CACHE);
    ck_assert_uint_eq(e.config, 0x10001);
    ck_assert_uint_eq(e.raw_encoding, 0x18);
    ck_assert_int_eq(e.generic.kind, ARCH_CODE_HW_CACHE);
    ck_assert_int_eq(event_resolve_on(&m, "l1i-access", &e), UPMU_E_UNSUPPORTED);
    ck_assert_int_eq(event_resolve_on(&m, "native::ls_dispatch.ld_dispatch", &e), UPMU_E_NAME);
    ck_assert_int_eq(event_resolve_on(&m, "cpu/cycles/", &e), UPMU_E_NAME);
    ck_assert_int_eq(event_resolve_on(&m, "cycels", &e), UPMU_E_NAME);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "cycles"));
    ck_assert_int_eq(machine_of_cpu("3a30000", &m), UPMU_E_NAME);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "'3a3000'"));
}
END_TEST

START_TEST(a_machine_without_cpuinfo_still_has_software_events)
{
    machine_bare();
    struct event e = resolved("page-faults");
    ck_assert_uint_eq(e.type, KERNEL_TYPE_SOFTWARE);
    ck_assert_uint_eq(e.config, KERNEL_SW_PAGE_FAULTS);
    ck_assert_int_eq(e.class, EVENT_SOFTWARE);
    ck_assert_str_eq(e.pmu, "software");
    ck_assert(resolved("context-switches").kernel_only);
    ck_assert(resolved("task-clock").mode_blind);
}
END_TEST

START_TEST(a_machine_is_examined_anew_once_forgotten)
{
    machine_recorded(machines, "amd_zen3");
    ck_assert_uint_eq(resolved("cycles").raw_encoding, 0x76);
    machine_recorded(machines, "intel_skx");
    ck_assert_uint_eq(resolved("cycles").raw_encoding, 0x3c);
}
END_TEST

/* Type, config, counters and match must not depend on which of its names an event is called by. */
static void expect_same(const char *name, const char *alias)
{
    struct event a, b;
    int rc_a = event_resolve(name, &a), rc_b = event_resolve(alias, &b);
    ck_assert_msg(rc_a == rc_b, "'%s' gives %d, '%s' %d", name, rc_a, alias, rc_b);
    ck_assert_str_eq(a.name, b.name);
    ck_assert_msg(a.type == b.type && a.config == b.config && a.config1 == b.config1 && a.counters == b.counters &&
                      a.match == b.match && a.raw_encoding == b.raw_encoding,
                  "'%s' and '%s' are encoded differently", name, alias);
}

static bool counts(const char *name)
{
    struct event e;
    return event_resolve(name, &e) == 0;
}

START_TEST(every_alias_is_encoded_as_its_name_on_every_machine)
{
    static const char *const played[] = {"intel_skx",      "amd_zen3",      "loongarch_3a5000",
                                         "loongson3a1000", "sunway_sw3231", "riscv_generic"};
    size_t n, aliases = 0;
    const struct registry_event *events = registry_events(&n);
    for (size_t m = 0; m < sizeof played / sizeof *played; m++) {
        machine_recorded(machines, played[m]);
        for (size_t i = 0; i < n; i++) {
            char capitals[128];
            size_t k = 0;
            for (; events[i].name[k] && k + 1 < sizeof capitals; k++)
                capitals[k] = (char)(events[i].name[k] >= 'a' && events[i].name[k] <= 'z' ? events[i].name[k] - 32
                                                                                          : events[i].name[k]);
            capitals[k] = '\0';
            expect_same(events[i].name, capitals);
            /* A sum of two other events, or one of the CPU's own, may replace a preset where the CPU lacks the event
             * itself. */
            const char *papi = events[i].papi;
            bool has_preset = papi && (preset_find(papi) || arch_family_preset(machine_get()->family, papi)) &&
                              !counts(events[i].name);
            if (papi && !has_preset)
                expect_same(events[i].name, events[i].papi);
            if (events[i].perf)
                expect_same(events[i].name, events[i].perf);
            aliases += events[i].papi != NULL;
        }
    }
    ck_assert_uint_gt(aliases, 100);
}
END_TEST

START_TEST(a_hybrid_cpu_reports_what_it_adds_up)
{
    machine_recorded(machines, "intel_skx");
    scripted_reset();
    scripted_file("/proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 154\n");
    scripted_file(TEST_DEVICES "/cpu_atom/type", "10\n");
    scripted_file(TEST_DEVICES "/cpu_core/type", "4\n");
    machine_forget();
    struct event e = resolved("instructions");
    ck_assert_str_eq(e.pmu, "cpu_core");
    ck_assert_int_eq(e.match, UPMU_MATCH_EXACT);
    ck_assert_msg(strstr(e.note, "added up: cpu_core cpu_atom") != NULL, "%s", e.note);
}
END_TEST

START_TEST(raw_codes_go_to_the_core_pmus_own_type)
{
    machine_bare();
    scripted_file(TEST_DEVICES "/armv8_pmuv3_0/type", "8\n");
    scripted_file(TEST_DEVICES "/armv8_pmuv3_0/format/rdpmc", "config1:1\n");
    struct event e = resolved("r11");
    ck_assert_uint_eq(e.type, 8);
    ck_assert_uint_eq(machine_get()->user_read_config1, 2);
}
END_TEST

START_TEST(information_for_the_caller)
{
    struct upmu_event_info info = {.size = sizeof info};
    machine_recorded(machines, "intel_skx");
    ck_assert_int_eq(upmu_event_find("PAPI_TOT_CYC:u", &info), 0);
    ck_assert_str_eq(info.name, "cycles:u");
    ck_assert_str_eq(info.encoding, "hardware:0x0 (raw 0x3c)");
    ck_assert_str_eq(info.counters, "0-3, fixed 1");
    ck_assert_str_eq(info.pmu, "cpu");
    ck_assert_int_eq(upmu_event_find("page-faults", &info), 0);
    ck_assert_str_eq(info.encoding, "software:0x2");
    ck_assert_str_eq(info.counters, "");
    machine_recorded(machines, "amd_zen3");
    ck_assert_int_eq(upmu_event_find("int-instructions", &info), UPMU_E_UNSUPPORTED);
    ck_assert_int_eq(info.match, UPMU_MATCH_ABSENT);
    ck_assert_ptr_null(info.pmu);
    ck_assert_str_eq(info.encoding, "");
    ck_assert_int_eq(upmu_event_find("cylces", &info), UPMU_E_NAME);
    ck_assert_int_eq(upmu_event_find(NULL, &info), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_event_find("cycles", NULL), UPMU_E_INVAL);
    info.size = 8;
    ck_assert_int_eq(upmu_event_find("cycles", &info), UPMU_E_INVAL);
}
END_TEST

START_TEST(the_list_of_names_has_the_registry_and_sysfs)
{
    size_t n, names = 0, from_sysfs = 0;
    const char *name;
    machine_bare();
    scripted_file(TEST_DEVICES "/msr/events/tsc", "event=0x00\n");
    scripted_file(TEST_DEVICES "/power/events/energy-pkg", "event=0x02\n");
    scripted_file(TEST_DEVICES "/power/events/energy-pkg.scale", "2.3e-10\n");
    (void)registry_events(&n);
    for (size_t i = 0; upmu_event_name_at(i, &name) == 0; i++) {
        names++;
        from_sysfs += strcmp(name, "msr/tsc/") == 0 || strcmp(name, "power/energy-pkg/") == 0;
    }
    ck_assert_uint_eq(from_sysfs, 2);
    ck_assert_uint_eq(names, upmu_event_count());
    ck_assert_uint_eq(names, n + 2); /* .scale is not an event */
}
END_TEST

static void list_is_refused(size_t names, const char *words)
{
    struct upmu_plan *plan;
    char list[8 * 2048], *at = list;
    for (size_t i = 0; i < names; i++)
        at += sprintf(at, "%sr%zx", i > 0 ? "," : "", i + 1);
    ck_assert_int_eq(upmu_plan_open(&plan, "zen4", list), UPMU_E_LIMIT);
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
}

/* Each name is compared with those before it, which took 5 s for 4,000. */
START_TEST(a_long_list_is_refused_by_its_length)
{
    list_is_refused(65, "65 events given, at most 64");
    list_is_refused(1024, "1024 events given, at most 64");
    list_is_refused(1025, "more than 1024 events given");
    list_is_refused(2048, "more than 1024 events given");
}
END_TEST

int main(int argc, char **argv)
{
    machines = argc > 1 ? argv[1] : "tests/machines";
    TCase *cases = tcase_create("resolve");
    tcase_add_test(cases, intel_names);
    tcase_add_test(cases, amd_names);
    tcase_add_test(cases, la464_names);
    tcase_add_test(cases, gs464_names);
    tcase_add_test(cases, core3b_names);
    tcase_add_test(cases, an_unknown_cpu_gets_the_kernels_generic_events);
    tcase_add_test(cases, an_event_that_the_core_does_not_list_is_absent);
    tcase_add_test(cases, the_list_of_an_emulated_core_is_the_emulators);
    tcase_add_test(cases, a_new_arm_core_has_the_events_of_the_architecture);
    tcase_add_test(cases, apples_codes_are_for_its_own_pmu_alone);
    tcase_add_test(cases, an_event_is_as_exact_as_on_each_kind_of_core);
    tcase_add_test(cases, a_zero_of_an_unconfirmed_event_is_no_number);
    tcase_add_test(cases, another_cpus_names_come_from_its_table_alone);
    tcase_add_test(cases, a_machine_without_cpuinfo_still_has_software_events);
    tcase_add_test(cases, a_machine_is_examined_anew_once_forgotten);
    tcase_add_test(cases, every_alias_is_encoded_as_its_name_on_every_machine);
    tcase_add_test(cases, a_hybrid_cpu_reports_what_it_adds_up);
    tcase_add_test(cases, raw_codes_go_to_the_core_pmus_own_type);
    tcase_add_test(cases, information_for_the_caller);
    tcase_add_test(cases, the_list_of_names_has_the_registry_and_sysfs);
    tcase_add_test(cases, a_long_list_is_refused_by_its_length);
    tcase_set_timeout(cases, 30);
    return run_suite("resolve", cases);
}
