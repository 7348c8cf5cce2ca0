/* SPDX-License-Identifier: MIT */
/* Machine snapshots: which are accepted, and that no fact comes from the live machine. */
#include <errno.h>
#include <string.h>

#include "core/names/event.h"
#include "core/machine/machine_snapshot.h"
#include "support/machine.h"
#include "unit/suite.h"

#define CPUINFO "processor\t: 0\nvendor_id\t: GenuineIntel\ncpuid level\t: 22\n"

/* A recording by hand: a CPU, a PMU and no manifest. */
static void set_up(void)
{
    machine_bare();
    scripted_recording(true);
    scripted_file("/proc/cpuinfo", CPUINFO);
    scripted_file(TEST_DEVICES "/cpu/type", "4\n");
    scripted_file(TEST_DEVICES "/software/type", "1\n");
    scripted_counter(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, (struct scripted_sample[]){{9, 5, 5}}, 1);
}

static void refused(const char *words)
{
    struct event e;
    machine_forget();
    ck_assert_int_eq(event_resolve("page-faults", &e), UPMU_E_FORMAT);
    ck_assert_msg(strstr(upmu_error(), words) != NULL, "'%s' is missing in: %s", words, upmu_error());
    ck_assert_int_eq(machine_usable(), UPMU_E_FORMAT);
}

static void accepted(void)
{
    struct event e;
    machine_forget();
    ck_assert_msg(event_resolve("page-faults", &e) == 0, "%s", upmu_error());
}

START_TEST(recording_without_a_cpu_is_refused)
{
    accepted();
    scripted_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: Genu");
    refused("middle of a line");
    scripted_file("/proc/cpuinfo", "no such thing\n");
    refused("describes no CPU");
    scripted_file("/proc/cpuinfo", "");
    refused("describes no CPU");
    scripted_file_error("/proc/cpuinfo", EACCES);
    refused("EACCES");
    scripted_file_error("/proc/cpuinfo", ENOENT);
    refused("no proc/cpuinfo");
    scripted_recording(false); /* a running machine has the kernel's own events all the same */
    accepted();
}
END_TEST

START_TEST(recording_that_contradicts_itself_is_refused)
{
    scripted_file("/sys/devices/system/cpu/online", "0-3,6\n");
    accepted();
    scripted_file("/sys/devices/system/cpu/online", "0\n");
    accepted();
    scripted_file("/proc/cpuinfo", CPUINFO "processor\t: 1\n");
    refused("2 processors, but online are 0");
    scripted_file("/proc/cpuinfo", CPUINFO);
    scripted_file(TEST_DEVICES "/msr/type", "9\n");
    accepted();
    scripted_file(TEST_DEVICES "/msr/type", "4\n");
    refused("the same type 4");
    scripted_file(TEST_DEVICES "/msr/type", "\n");
    refused("msr/type");
    scripted_file(TEST_DEVICES "/msr/type", "9\n");
    scripted_file(TEST_DEVICES "/armv8_pmuv3_0/type", "10\n");
    refused("has no PMU 'armv8_pmuv3_0'");
}
END_TEST

/* FNV-1a of "0\n", as any other implementation gives it. */
#define LINE_ONLINE "07fc1e07b4bd2c5f 2 sys/devices/system/cpu/online\n"

START_TEST(manifest_is_held_against_the_files)
{
    scripted_file("/sys/devices/system/cpu/online", "0\n");
    scripted_file("/upmu/manifest", LINE_ONLINE);
    accepted();
    scripted_file("/sys/devices/system/cpu/online", "1\n");
    refused("cpu/online differs from what was recorded");
    scripted_file_error("/sys/devices/system/cpu/online", ENOENT);
    refused("cpu/online of its manifest cannot be read (ENOENT)");
    scripted_file("/sys/devices/system/cpu/online", "0\n");
    scripted_file("/upmu/manifest", "07fc1e07b4bd2c5f 2");
    refused("manifest is truncated");
    scripted_file("/upmu/manifest", "");
    refused("manifest is truncated");
    scripted_file("/upmu/manifest", "this is no manifest\n");
    refused("malformed");
    scripted_file_error("/upmu/manifest", EACCES);
    refused("manifest is truncated or cannot be read");
}
END_TEST

START_TEST(trials_are_answered_by_the_recording_alone)
{
    uint64_t seen = 99;
    ck_assert_int_eq(upmu_event_probe("page-faults", &seen), UPMU_E_STATE);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "has no trial"));
    scripted_file("/upmu/trials", "-6\t0\tcycles\tcycles: not allowed there\n"
                                  "0\t123\tpage-faults\t\n"
                                  "0\t0\tcpu-migrations\t\n"
                                  "7\t0\tminor-faults\t\n"
                                  "0\t5\tmajor-faults\n");
    ck_assert_int_eq(upmu_event_probe("page-faults", &seen), 0);
    ck_assert_uint_eq(seen, 123);
    ck_assert_int_eq(upmu_event_probe("page-faults", NULL), 0);
    ck_assert_int_eq(upmu_event_probe("cpu-migrations", &seen), 0);
    ck_assert_uint_eq(seen, 0);
    ck_assert_int_eq(upmu_event_probe("cycles", &seen), UPMU_E_PERM);
    ck_assert_str_eq(upmu_error(), "cycles: not allowed there");
    ck_assert_int_eq(upmu_event_probe("minor-faults", &seen), UPMU_E_FORMAT);
    ck_assert_int_eq(upmu_event_probe("major-faults", &seen), UPMU_E_STATE); /* a torn row has no value */
    ck_assert_uint_eq(seen, 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_OPEN), 0);
}
END_TEST

struct heard {
    size_t n;
    int state;
    char text[64];
};

static int hear(const struct upmu_diagnosis *f, void *arg)
{
    struct heard *h = arg;
    if (strcmp(f->topic, "hardware-counters") != 0)
        return 0;
    h->n++;
    h->state = f->state;
    snprintf(h->text, sizeof h->text, "%s", f->text);
    return 0;
}

START_TEST(doctor_reports_what_was_found_there)
{
    struct heard h = {0};
    ck_assert_int_eq(upmu_diagnose(hear, &h), 0);
    ck_assert_uint_eq(h.n, 1);
    ck_assert_ptr_nonnull(strstr(h.text, "unknown: it needs a trial"));
    scripted_file("/upmu/findings", "2\tpermission\tnone\t\n1\thardware-counters\tsome of them\tbuy more\n");
    h = (struct heard){0};
    ck_assert_int_eq(upmu_diagnose(hear, &h), 0);
    ck_assert_uint_eq(h.n, 1);
    ck_assert_int_eq(h.state, UPMU_DIAGNOSIS_LIMITED);
    ck_assert_str_eq(h.text, "some of them");
    ck_assert_uint_eq(scripted_count(SCRIPTED_OPEN), 0);
    scripted_file("/proc/cpuinfo", "");
    machine_forget();
    ck_assert_int_eq(upmu_diagnose(hear, &h), UPMU_E_FORMAT);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("recording");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, recording_without_a_cpu_is_refused);
    tcase_add_test(cases, recording_that_contradicts_itself_is_refused);
    tcase_add_test(cases, manifest_is_held_against_the_files);
    tcase_add_test(cases, trials_are_answered_by_the_recording_alone);
    tcase_add_test(cases, doctor_reports_what_was_found_there);
    return run_suite("recording", cases);
}
