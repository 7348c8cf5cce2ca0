/* SPDX-License-Identifier: MIT */
/* CPU identity of a machine where sources are missing, short or contradictory. */
#include <errno.h>
#include <string.h>

#include "core/names/event.h"
#include "support/machine.h"
#include "unit/suite.h"
#include "upmu/upmu.h"

#define REGISTER(n) "/sys/devices/system/cpu/cpu" n "/regs/identification/midr_el1"
#define KUNPENG "processor\t: 0\nCPU implementer\t: 0x48\nCPU architecture: 8\nCPU part\t: 0xd01\n"
#define SKYLAKE                                                                                                     \
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\ncpuid level\t: 22\nflags\t\t: fpu " \
    "arch_perfmon\n"

static struct arch_cpu x86(const char *vendor, int family, int model)
{
    struct arch_cpu cpu;
    arch_cpu_clear(&cpu);
    strcpy(cpu.machine, "x86");
    strcpy(cpu.vendor, vendor);
    cpu.family = family;
    cpu.model = model;
    return cpu;
}

static const struct machine *examined(void)
{
    machine_forget();
    return machine_get();
}

static void is(const char *family, bool doubted, const char *words)
{
    const struct machine *m = examined();
    ck_assert_str_eq(m->family->name, family);
    ck_assert(m->identity_doubted == doubted);
    ck_assert_msg(strstr(m->identity, words) != NULL, "'%s' is missing in: %s", words, m->identity);
}

static void refused(const char *words)
{
    examined();
    ck_assert_int_eq(machine_usable(), UPMU_E_FORMAT);
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
}

START_TEST(without_proc_the_cpu_itself_is_asked)
{
    struct arch_cpu own = x86("AuthenticAMD", 25, 1);
    is("generic", false, "ENOENT");
    scripted_cpu(&own, "an instruction");
    is("zen3", false, "cannot be read (ENOENT); an instruction describes it");
    scripted_file("/proc/cpuinfo", "nothing of the kind\n");
    is("zen3", false, "describes no CPU; an instruction describes it");
    scripted_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpuid level\t: 16\n");
    is("zen3", false, "an instruction adds to it");
}
END_TEST

START_TEST(sources_that_contradict_each_other_make_the_cpu_less_known)
{
    struct arch_cpu own = x86("GenuineIntel", 6, 85);
    scripted_file("/proc/cpuinfo", SKYLAKE);
    scripted_cpu(&own, "an instruction");
    is("intel-skylake", false, "an instruction agrees");
    own.model = 0x8f;
    scripted_cpu(&own, "an instruction");
    is("intel-core", true, "an instruction disagrees");
    own = x86("AuthenticAMD", 25, 1);
    scripted_cpu(&own, "an instruction");
    is("generic", true, "an instruction disagrees");
}
END_TEST

START_TEST(registers_of_arm_are_read_for_each_processor)
{
    scripted_file("/proc/cpuinfo", "processor\t: 0\nCPU architecture: 8\n");
    is("armv8", false, "from /proc/cpuinfo");
    scripted_file(REGISTER("0"), "0x00000000700f3034\n");
    scripted_file(REGISTER("2"), "0x00000000701f6643\n");
    scripted_dir("/sys/devices/system/cpu/cpufreq");
    is("ftc310", false, "sysfs adds to it");
    ck_assert_uint_eq(machine_get()->cpu.n_core_ids, 2);
    scripted_file("/proc/cpuinfo", KUNPENG);
    is("armv8", true, "sysfs disagrees");
    scripted_file(REGISTER("0"), "0x00000000481fd010\n");
    scripted_file(REGISTER("2"), "0x00000000481fd010\n");
    is("kunpeng920", false, "sysfs agrees");
    scripted_file(REGISTER("2"), "0x\n");
    is("kunpeng920", true, "is malformed");
}
END_TEST

START_TEST(recording_of_registers_alone_is_enough)
{
    scripted_recording(true);
    scripted_file("/sys/devices/system/cpu/online", "0-1\n");
    refused("no proc/cpuinfo");
    scripted_file(REGISTER("0"), "0x00000000481fd010\n");
    scripted_file(REGISTER("1"), "0x00000000481fd010\n");
    is("kunpeng920", false, "cannot be read (ENOENT); the id register in sysfs describes it");
    ck_assert_int_eq(machine_usable(), 0);
    struct event e;
    ck_assert_int_eq(event_resolve("branches", &e), 0);
    ck_assert_uint_eq(e.config, 0x21);
}
END_TEST

START_TEST(bad_recording_is_refused_and_the_running_cpu_not_asked)
{
    struct arch_cpu own = x86("AuthenticAMD", 25, 1);
    scripted_recording(true);
    scripted_cpu(&own, "an instruction");
    refused("no proc/cpuinfo");
    scripted_file("/proc/cpuinfo", SKYLAKE);
    is("intel-skylake", false, "from /proc/cpuinfo");
    ck_assert_ptr_null(strstr(machine_get()->identity, "instruction"));
    scripted_file("/proc/cpuinfo", KUNPENG);
    scripted_file(REGISTER("0"), "0x00000000700f3034\n");
    refused("another CPU");
    scripted_file(REGISTER("0"), "481fd010 and more\n");
    refused("are malformed");
    scripted_file(REGISTER("0"), "0x00000000481fd010\n");
    is("kunpeng920", false, "agrees");
    ck_assert_int_eq(machine_usable(), 0);
}
END_TEST

static int keep_identity(const struct upmu_diagnosis *found, void *arg)
{
    struct upmu_diagnosis *kept = arg;
    static char text[512];
    if (strcmp(found->topic, "identity") != 0)
        return 0;
    snprintf(text, sizeof text, "%s", found->text);
    *kept = *found;
    kept->text = text;
    kept->remedy = found->remedy[0] ? "some" : "";
    return 0;
}

static struct upmu_diagnosis diagnosed(void)
{
    struct upmu_diagnosis found = {.topic = NULL};
    machine_forget();
    ck_assert_int_eq(upmu_diagnose(keep_identity, &found), 0);
    ck_assert_ptr_nonnull(found.topic);
    return found;
}

START_TEST(doctor_reports_where_the_identity_is_from)
{
    struct arch_cpu own = x86("GenuineIntel", 6, 85);
    scripted_file("/proc/cpuinfo", SKYLAKE);
    scripted_cpu(&own, "an instruction");
    struct upmu_diagnosis found = diagnosed();
    ck_assert_int_eq(found.state, UPMU_DIAGNOSIS_OK);
    ck_assert_str_eq(found.text, "from /proc/cpuinfo; an instruction agrees");
    own.model = 0x8f;
    scripted_cpu(&own, "an instruction");
    found = diagnosed();
    ck_assert_int_eq(found.state, UPMU_DIAGNOSIS_LIMITED);
    ck_assert_str_eq(found.remedy, "");
    /* A machine snapshot has it as it was found, or what its files show. */
    scripted_recording(true);
    ck_assert_str_eq(diagnosed().text, "from /proc/cpuinfo");
    scripted_file("/upmu/findings", "0\tidentity\tas it was found\t\n");
    ck_assert_str_eq(diagnosed().text, "as it was found");
    scripted_file("/upmu/findings", "1\tidentity\tan instruction disagreed\tlook\n");
    refused("sources of the CPU's identity disagree");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("identity");
    tcase_add_checked_fixture(cases, machine_bare, NULL);
    tcase_add_test(cases, without_proc_the_cpu_itself_is_asked);
    tcase_add_test(cases, sources_that_contradict_each_other_make_the_cpu_less_known);
    tcase_add_test(cases, registers_of_arm_are_read_for_each_processor);
    tcase_add_test(cases, recording_of_registers_alone_is_enough);
    tcase_add_test(cases, bad_recording_is_refused_and_the_running_cpu_not_asked);
    tcase_add_test(cases, doctor_reports_where_the_identity_is_from);
    return run_suite("identity", cases);
}
