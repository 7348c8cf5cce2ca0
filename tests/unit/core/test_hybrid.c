/* SPDX-License-Identifier: MIT */
/* Neutral events of Intel's hybrid CPUs and newest servers on recorded machines: the right PMU and code for each core type. */
#include <inttypes.h>
#include <string.h>

#include "core/names/event.h"
#include "core/names/registry.h"
#include "support/machine.h"
#include "unit/suite.h"

enum { HW = KERNEL_TYPE_HARDWARE, CACHE = KERNEL_TYPE_HW_CACHE, CORE = 4, ATOM = 10 };

static const char *machines;

/* A file of the recorded machine, under the name it has there. */
static void recorded_file(const char *machine, const char *path)
{
    static char texts[8][64];
    static unsigned next;
    char from[512], *text = texts[next++ % 8];
    snprintf(from, sizeof from, "%s/%s%s", machines, machine, path);
    FILE *f = fopen(from, "re");
    ck_assert_msg(f != NULL, "no file %s", from);
    size_t n = fread(text, 1, sizeof texts[0] - 1, f);
    fclose(f);
    text[n] = '\0';
    scripted_file(path, text);
}

static void hybrid(const char *machine)
{
    static const char *const files[] = {"/cpu_core/type", "/cpu_core/cpus", "/cpu_atom/type", "/cpu_atom/cpus"};
    machine_recorded(machines, machine);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", TEST_DEVICES, files[i]);
        recorded_file(machine, path);
    }
    machine_forget();
}

static void families_are(const char *core, const char *atom)
{
    ck_assert_uint_eq(machine_get()->n_core_types, 2);
    ck_assert_str_eq(machine_core_type(0)->core_pmu, "cpu_core");
    ck_assert_str_eq(machine_core_type(0)->family->name, core);
    ck_assert_str_eq(machine_core_type(1)->core_pmu, "cpu_atom");
    ck_assert_str_eq(machine_core_type(1)->family->name, atom);
}

/* The vendors' lists and the kernel's tables, copied by hand. */
static const struct expected {
    const char *machine, *name;
    unsigned kind;
    uint32_t type;
    uint64_t config, config1;
} expected[] = {
    {"intel_alderlake", "cycles", 0, CORE, 0x003c, 0},
    {"intel_alderlake", "cycles", 1, ATOM, 0x003c, 0},
    {"intel_alderlake", "instructions", 0, CORE, 0x00c0, 0},
    {"intel_alderlake", "instructions", 1, ATOM, 0x00c0, 0},
    {"intel_alderlake", "ref-cycles", 1, ATOM, 0x0300, 0},
    {"intel_alderlake", "branches-conditional", 0, CORE, 0x11c4, 0},
    {"intel_alderlake", "branches-conditional", 1, ATOM, 0x7ec4, 0},
    {"intel_alderlake", "branches-return", 1, ATOM, 0xf7c4, 0},
    {"intel_alderlake", "l1d-load-miss", 0, CORE, 0x08d1, 0},
    {"intel_alderlake", "l1d-load-miss", 1, ATOM, 0x08d1, 0},
    {"intel_alderlake", "l2-load-miss", 1, ATOM, 0x10d1, 0},
    {"intel_alderlake", "l2-access", 1, ATOM, 0x0024, 0},
    {"intel_alderlake", "l1i-access", 1, ATOM, 0x0380, 0},
    {"intel_alderlake", "dtlb-load-miss", 0, CORE, 0x0e12, 0},
    {"intel_alderlake", "dtlb-load-miss", 1, ATOM, 0x0e08, 0},
    {"intel_alderlake", "itlb-miss", 0, CORE, 0x0e11, 0},
    {"intel_alderlake", "itlb-miss", 1, ATOM, 0x0481, 0},
    {"intel_alderlake", "llc-miss", 0, CORE, 0x412e, 0},
    {"intel_alderlake", "llc-load-miss", 0, CACHE, UINT64_C(0x400010002), 0},
    {"intel_alderlake", "llc-load-miss", 1, ATOM, 0x01b7, UINT64_C(0x3f84400001)},
    {"intel_alderlake", "llc-loads", 1, CACHE, UINT64_C(0xa00000002), 0},
    {"intel_alderlake", "stall-frontend", 0, CORE, 0x600019c, 0},
    {"intel_alderlake", "stall-frontend", 1, ATOM, 0x0071, 0},
    {"intel_alderlake", "stall-backend", 0, CORE, 0x02a4, 0},
    {"intel_alderlake", "stall-backend", 1, ATOM, 0x0074, 0},
    {"intel_alderlake", "mem-read", 0, CORE, 0x012a, UINT64_C(0x184000001)},
    {"intel_alderlake", "mem-read", 1, ATOM, 0x01b7, UINT64_C(0x784000001)},
    {"intel_alderlake", "uops-retired", 1, ATOM, 0x00c2, 0},
    {"intel_meteorlake", "l1d-load-miss", 0, CORE, 0x08d1, 0},
    {"intel_meteorlake", "l1d-load-miss", 1, ATOM, 0x40d1, 0},
    {"intel_meteorlake", "l2-load-miss", 1, ATOM, 0x80d1, 0},
    {"intel_meteorlake", "fp-ops", 1, ATOM, 0x03c8, 0},
    {"intel_meteorlake", "llc-load-miss", 1, ATOM, 0x01b7, UINT64_C(0x3fbfc00001)},
    {"intel_lunarlake", "branches-conditional", 0, CORE, UINT64_C(0x100000011c4), 0},
    {"intel_lunarlake", "l1d-miss", 0, CORE, 0x0451, 0},
    {"intel_lunarlake", "llc-load-miss", 0, CORE, 0x012a, UINT64_C(0x9e7fa000001)},
    {"intel_lunarlake", "llc-load-misses", 0, CACHE, UINT64_C(0x400010002), 0},
    {"intel_lunarlake", "mem-read", 0, CORE, 0x012a, UINT64_C(0x1e780000001)},
    {"intel_lunarlake", "mem-read", 1, ATOM, 0x01b7, UINT64_C(0x1fbc000001)},
    {"intel_lunarlake", "stall-frontend", 0, CORE, 0x800019c, 0},
    {"intel_lunarlake", "stall-frontend", 1, ATOM, 0x019c, 0},
    {"intel_lunarlake", "exceptions", 1, ATOM, 0x00e1, 0},
    {"intel_lunarlake", "fp-instructions", 1, ATOM, 0x3fc7, 0},
    {"intel_lunarlake", "llc-load-miss", 1, ATOM, 0x01b7, UINT64_C(0x13fbfc00001)},
};

START_TEST(an_event_has_the_code_of_its_core_type)
{
    const struct expected *x = &expected[_i];
    struct event e;
    hybrid(x->machine);
    int rc = event_resolve_on(machine_core_type(x->kind), x->name, &e);
    ck_assert_msg(rc == 0, "%s on %s: %s", x->name, x->machine, upmu_error());
    ck_assert_uint_eq(e.type, x->type);
    ck_assert_msg(e.config == x->config, "%s on %s, core type %u: 0x%" PRIx64 " instead of 0x%" PRIx64, x->name,
                  x->machine, x->kind, e.config, x->config);
    ck_assert_uint_eq(e.config1, x->config1);
}
END_TEST

/* A formula has no code; its terms are events of this kind themselves. */
static void is_of_pmu(const struct machine *m, const char *name, const struct event *e)
{
    bool generic = e->type == HW || e->type == CACHE;
    uint32_t pmu = generic ? (uint32_t)(e->config >> 32) : e->type;
    ck_assert_msg(pmu == m->pmu_type, "%s is of PMU %u on %s", name, pmu, m->core_pmu);
}

START_TEST(every_event_names_the_pmu_of_its_core_type)
{
    static const char *const all[] = {"intel_alderlake", "intel_meteorlake", "intel_lunarlake"};
    size_t n, counted = 0;
    const struct registry_event *events = registry_events(&n);
    hybrid(all[_i]);
    for (unsigned kind = 0; kind < 2; kind++) {
        const struct machine *m = machine_core_type(kind);
        for (size_t i = 0; i < n; i++) {
            const struct arch_event *row = arch_family_event(m->family, events[i].name);
            struct event e;
            if (events[i].software >= 0 || (row && row->kind == ARCH_CODE_FORMULA))
                continue;
            int rc = event_resolve_on(m, events[i].name, &e);
            ck_assert_msg(row != NULL, "%s has no row for %s", m->family->name, events[i].name);
            ck_assert_int_eq(rc, row->kind == ARCH_CODE_NONE ? UPMU_E_UNSUPPORTED : 0);
            if (rc < 0)
                ck_assert_str_ne(e.note, "");
            else
                is_of_pmu(m, events[i].name, &e);
            counted += rc == 0;
        }
    }
    ck_assert_uint_gt(counted, 90);
}
END_TEST

START_TEST(each_core_type_has_its_family)
{
    hybrid("intel_alderlake");
    families_are("intel-goldencove", "intel-gracemont");
    hybrid("intel_meteorlake");
    families_are("intel-redwoodcove", "intel-crestmont");
    hybrid("intel_lunarlake");
    families_are("intel-lioncove", "intel-skymont");
}
END_TEST

/* One PMU for all cores: an older kernel, or a guest. Which core a count is of is not known, so no code of a core is used. */
START_TEST(a_hybrid_with_one_pmu_has_the_architectural_events_only)
{
    struct event e;
    machine_recorded(machines, "intel_alderlake");
    machine_forget();
    ck_assert_str_eq(machine_get()->family->name, "intel-core");
    ck_assert_int_eq(event_resolve("cycles", &e), 0);
    ck_assert_uint_eq(e.type, HW);
    ck_assert_int_eq(event_resolve("l1d-load-miss", &e), UPMU_E_UNSUPPORTED);
}
END_TEST

/* With its efficient cores switched off a hybrid has cpu_core alone. */
START_TEST(a_hybrid_with_one_core_type_left_has_its_family)
{
    machine_recorded(machines, "intel_alderlake");
    scripted_file(TEST_DEVICES "/cpu_core/type", "4\n");
    scripted_file(TEST_DEVICES "/cpu_core/cpus", "0-15\n");
    machine_forget();
    ck_assert_uint_eq(machine_get()->n_core_types, 1);
    ck_assert_str_eq(machine_get()->family->name, "intel-goldencove");
}
END_TEST

static void text_machine(const char *cpuinfo)
{
    machine_bare();
    scripted_file("/proc/cpuinfo", cpuinfo);
    scripted_file(TEST_DEVICES "/cpu_core/type", "4\n");
    scripted_file(TEST_DEVICES "/cpu_core/cpus", "0-3\n");
    scripted_file(TEST_DEVICES "/cpu_atom/type", "10\n");
    scripted_file(TEST_DEVICES "/cpu_atom/cpus", "4-7\n");
    scripted_file(TEST_DEVICES "/software/type", "1\n");
    machine_forget();
}

START_TEST(an_intel_newer_than_the_tables_has_the_architectural_events_and_a_note)
{
    struct event e;
    text_machine(
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 204\nmodel name\t: Panther Lake\n"
        "cpuid level\t: 35\nflags\t\t: fpu arch_perfmon\n");
    families_are("intel-core", "intel-core");
    ck_assert_ptr_nonnull(strstr(machine_get()->family->title, "not known"));
    ck_assert_ptr_nonnull(strstr(machine_get()->family->remark, "architectural events"));
    ck_assert_int_eq(event_resolve_on(machine_core_type(1), "llc-miss", &e), 0);
    ck_assert_uint_eq(e.type, ATOM);
    ck_assert_uint_eq(e.config, 0x412e);
    ck_assert_int_eq(event_resolve_on(machine_core_type(1), "dtlb-load-misses", &e), 0);
    ck_assert_uint_eq(e.config, UINT64_C(0xa00010003));
    ck_assert_int_eq(event_resolve("l1d-load-miss", &e), UPMU_E_UNSUPPORTED);
}
END_TEST

START_TEST(an_amd_newer_than_the_tables_has_what_all_since_zen_share_and_a_note)
{
    struct event e;
    machine_bare();
    scripted_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 28\nmodel\t\t: 1\n"
                                   "model name\t: AMD of the future\ncpuid level\t: 16\nflags\t\t: fpu perfctr_core\n");
    scripted_file(TEST_DEVICES "/cpu/type", "4\n");
    machine_forget();
    ck_assert_str_eq(machine_get()->family->name, "amd-core");
    ck_assert_ptr_nonnull(strstr(machine_get()->family->title, "not known"));
    ck_assert_ptr_nonnull(strstr(machine_get()->family->remark, "no table of its own"));
    ck_assert_int_eq(event_resolve("branches", &e), 0);
    ck_assert_uint_eq(e.type, HW);
    ck_assert_int_eq(event_resolve("l1d-load-miss", &e), UPMU_E_UNSUPPORTED);
    ck_assert_str_ne(e.note, "");
}
END_TEST

int main(int argc, char **argv)
{
    machines = argc > 1 ? argv[1] : "tests/machines";
    TCase *cases = tcase_create("hybrid");
    tcase_add_loop_test(cases, an_event_has_the_code_of_its_core_type, 0, sizeof expected / sizeof *expected);
    tcase_add_loop_test(cases, every_event_names_the_pmu_of_its_core_type, 0, 3);
    tcase_add_test(cases, each_core_type_has_its_family);
    tcase_add_test(cases, a_hybrid_with_one_pmu_has_the_architectural_events_only);
    tcase_add_test(cases, a_hybrid_with_one_core_type_left_has_its_family);
    tcase_add_test(cases, an_intel_newer_than_the_tables_has_the_architectural_events_and_a_note);
    tcase_add_test(cases, an_amd_newer_than_the_tables_has_what_all_since_zen_share_and_a_note);
    return run_suite("hybrid", cases);
}
