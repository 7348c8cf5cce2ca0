/* SPDX-License-Identifier: MIT */
/* upmu_diagnose() on scripted machines, and on this one as the caller and as nobody. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "core/kernel_ops.h"
#include "core/machine/machine.h"
#include "kernel/parts.h"
#include "support/scripted.h"
#include "unit/suite.h"
#include "upmu/upmu.h"

#define DEVICES "/sys/bus/event_source/devices"

enum { FINDINGS_MAX = 64 };

struct diagnosis {
    size_t n;
    struct {
        char topic[32];
        int state;
        char text[1024];
        char remedy[512];
    } findings[FINDINGS_MAX];
};

static struct diagnosis seen;

static int note(const struct upmu_diagnosis *finding, void *arg)
{
    struct diagnosis *d = arg;
    ck_assert_uint_lt(d->n, FINDINGS_MAX);
    ck_assert_ptr_nonnull(finding->remedy);
    ck_assert_uint_gt(strlen(finding->text), 0);
    snprintf(d->findings[d->n].topic, sizeof d->findings[0].topic, "%s", finding->topic);
    snprintf(d->findings[d->n].text, sizeof d->findings[0].text, "%s", finding->text);
    snprintf(d->findings[d->n].remedy, sizeof d->findings[0].remedy, "%s", finding->remedy);
    d->findings[d->n++].state = finding->state;
    return 0;
}

static void diagnose(const struct kernel_ops *k)
{
    core_kernel_use(k);
    machine_forget();
    seen.n = 0;
    ck_assert_int_eq(upmu_diagnose(note, &seen), 0);
}

/* The finding of a topic must have this state and these words in its text and remedy ("": none). */
static void expect(const char *topic, int state, const char *text, const char *remedy)
{
    size_t i = 0;
    while (i < seen.n && (strcmp(seen.findings[i].topic, topic) != 0 || !strstr(seen.findings[i].text, text)))
        i++;
    ck_assert_msg(i < seen.n, "no finding of '%s' has '%s'", topic, text);
    ck_assert_msg(seen.findings[i].state == state, "%s is %d, not %d: %s", topic, seen.findings[i].state, state,
                  seen.findings[i].text);
    if (remedy[0])
        ck_assert_msg(strstr(seen.findings[i].remedy, remedy) != NULL, "'%s' is missing in: %s", remedy,
                      seen.findings[i].remedy);
    else
        ck_assert_str_eq(seen.findings[i].remedy, "");
}

static void counts(uint32_t type, uint64_t value, uint64_t running)
{
    scripted_counter(type, SCRIPTED_ANY, &(struct scripted_sample){value, 100, running}, 1);
}

static void whole_machine(void)
{
    scripted_file(DEVICES "/cpu/type", "4\n");
    scripted_file(DEVICES "/cpu/events/cpu-cycles", "event=0x3c\n");
    scripted_file(DEVICES "/cpu/events/slots", "event=0x00\n");
    scripted_file(DEVICES "/cpu/events/slots.scale", "1\n");
    scripted_file(DEVICES "/cpu/rdpmc", "0\n");
    scripted_file(DEVICES "/software/type", "1\n");
    scripted_descriptors_are(&(struct kernel_descriptors){.soft = 2000, .hard = 2000, .open = 3});
    scripted_file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
    scripted_file("/sys/kernel/tracing/events/sched/sched_switch/id", "314\n");
    counts(KERNEL_TYPE_SOFTWARE, 7, 100);
    counts(KERNEL_TYPE_HARDWARE, 7, 100);
}

static void nothing_left_open(void)
{
    ck_assert_uint_eq(scripted_open_now(), 0);
    ck_assert_uint_eq(scripted_mapped_now(), 0);
    ck_assert_uint_eq(scripted_misuse(), 0);
}

START_TEST(machine_with_everything)
{
    whole_machine();
    diagnose(&upmu_kernel_scripted);
    expect("pmu", UPMU_DIAGNOSIS_INFO, "cpu: type 4, 2 named events", "");
    expect("pmu", UPMU_DIAGNOSIS_INFO, "software: type 1, 0 named events", "");
    expect("hardware-counters", UPMU_DIAGNOSIS_OK, "cycles", "");
    expect("permission", UPMU_DIAGNOSIS_OK, "user and kernel mode", "");
    expect("user-read", UPMU_DIAGNOSIS_LIMITED, DEVICES "/cpu/rdpmc is 0", "");
    expect("limits", UPMU_DIAGNOSIS_INFO, "2000", "");
    expect("limits", UPMU_DIAGNOSIS_INFO, "516", "");
    expect("tracepoints", UPMU_DIAGNOSIS_OK, "314", "");
    nothing_left_open();
}
END_TEST

START_TEST(topics_come_in_their_order)
{
    static const char *const order[] = {
        "cpu",      "identity", "pmu",    "hardware-counters", "permission",   "user-read", "software-events",
        "switches", "clock",    "limits", "backend",           "native-names", "unwinder",  "tracepoints"};
    size_t at = 0;
    whole_machine();
    diagnose(&upmu_kernel_scripted);
    for (size_t i = 0; i < seen.n; i++)
        if (at == 0 || strcmp(seen.findings[i].topic, order[at - 1]) != 0)
            ck_assert_str_eq(seen.findings[i].topic, order[at++]);
    ck_assert_uint_eq(at, sizeof order / sizeof *order);
}
END_TEST

START_TEST(counter_that_never_runs_or_never_moves_is_reported)
{
    whole_machine();
    counts(KERNEL_TYPE_HARDWARE, 0, 0);
    diagnose(&upmu_kernel_scripted);
    expect("hardware-counters", UPMU_DIAGNOSIS_LIMITED, "no counter", "Stop the other users");
    counts(KERNEL_TYPE_HARDWARE, 0, 100);
    diagnose(&upmu_kernel_scripted);
    expect("hardware-counters", UPMU_DIAGNOSIS_MISSING, "does not count", "");
    scripted_read_fault(KERNEL_TYPE_HARDWARE, SCRIPTED_ANY, 8, 0);
    diagnose(&upmu_kernel_scripted);
    expect("hardware-counters", UPMU_DIAGNOSIS_MISSING, "EIO", "");
    nothing_left_open();
}
END_TEST

START_TEST(user_at_paranoid_2_counts_user_mode_only)
{
    whole_machine();
    scripted_user(2);
    diagnose(&upmu_kernel_scripted);
    expect("permission", UPMU_DIAGNOSIS_LIMITED, "only user mode", "sysctl kernel.perf_event_paranoid=1");
    expect("permission", UPMU_DIAGNOSIS_LIMITED, "CAP_PERFMON no", "sysctl");
    expect("hardware-counters", UPMU_DIAGNOSIS_OK, "cycles", "");
}
END_TEST

START_TEST(user_at_paranoid_3_counts_nothing)
{
    whole_machine();
    scripted_user(3);
    diagnose(&upmu_kernel_scripted);
    expect("permission", UPMU_DIAGNOSIS_MISSING, "perf_event_paranoid is 3", "sysctl kernel.perf_event_paranoid=2");
    expect("hardware-counters", UPMU_DIAGNOSIS_MISSING, "perf_event_paranoid is 3", "sysctl");
    expect("switches", UPMU_DIAGNOSIS_LIMITED, "getrusage", "");
}
END_TEST

/* Arm's kernel prints numbers, and those of each processor. */
START_TEST(cpu_without_a_name_is_reported_by_its_table_and_each_core_type)
{
    scripted_file("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x70\nCPU architecture: 8\nCPU part\t: 0x303\n\n"
                                   "processor\t: 2\nCPU implementer\t: 0x70\nCPU architecture: 8\nCPU part\t: 0x664\n");
    diagnose(&upmu_kernel_scripted);
    expect("cpu", UPMU_DIAGNOSIS_OK, "Phytium FTC310 (E2000, the small cores), table 'ftc310'", "");
    expect("cpu", UPMU_DIAGNOSIS_OK, "further core type: table 'ftc664'", "");
}
END_TEST

START_TEST(machine_without_the_system_call)
{
    static int err = ENOSYS;
    scripted_rule(scripted_rule_deny, &err);
    diagnose(&upmu_kernel_scripted);
    expect("cpu", UPMU_DIAGNOSIS_LIMITED, "native::", "");
    expect("pmu", UPMU_DIAGNOSIS_MISSING, "ENOENT", "mount -t sysfs");
    expect("hardware-counters", UPMU_DIAGNOSIS_MISSING, "ENOSYS", "");
    expect("permission", UPMU_DIAGNOSIS_MISSING, "ENOSYS", "");
    expect("user-read", UPMU_DIAGNOSIS_MISSING, "ENOSYS", "");
    expect("tracepoints", UPMU_DIAGNOSIS_MISSING, "tracefs", "mount -t tracefs");
}
END_TEST

/* Whatever errno a filter gives: no topic reports something as counted through the call. */
START_TEST(machine_under_a_filter)
{
    static const int errnos[] = {EACCES, EPERM, ENOSYS};
    static int err;
    whole_machine();
    scripted_user(2);
    scripted_file("/proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n");
    err = errnos[_i];
    scripted_filter(err);
    scripted_rule(scripted_rule_deny, &err);
    diagnose(&upmu_kernel_scripted);
    expect("backend", UPMU_DIAGNOSIS_MISSING, upmu_errno_name(err), "seccomp profile");
    expect("backend", UPMU_DIAGNOSIS_MISSING, "getrusage and /proc", "seccomp profile");
    expect("permission", UPMU_DIAGNOSIS_MISSING, "seccomp filter", "seccomp profile");
    expect("hardware-counters", UPMU_DIAGNOSIS_MISSING, "seccomp filter", "seccomp profile");
    for (size_t i = 0; i < seen.n; i++)
        ck_assert_ptr_null(strstr(seen.findings[i].text, "counted through"));
}
END_TEST

START_TEST(pages_that_cannot_be_mapped_are_reported)
{
    whole_machine();
    scripted_map_limit(0, EPERM);
    diagnose(&upmu_kernel_scripted);
    expect("user-read", UPMU_DIAGNOSIS_MISSING, "perf_event_mlock_kb is 516", "perf_event_mlock_kb=2064");
    nothing_left_open();
}
END_TEST

START_TEST(switches_that_cannot_be_had_are_reported)
{
    whole_machine();
    scripted_switches_error(EINVAL);
    diagnose(&upmu_kernel_scripted);
    expect("switches", UPMU_DIAGNOSIS_MISSING, "EINVAL", "");
}
END_TEST

START_TEST(tracefs_that_may_not_be_read_is_reported)
{
    whole_machine();
    scripted_file_error("/sys/kernel/tracing/events/sched/sched_switch/id", EACCES);
    diagnose(&upmu_kernel_scripted);
    expect("tracepoints", UPMU_DIAGNOSIS_MISSING, "EACCES", "as root");
}
END_TEST

static int stop_at(const struct upmu_diagnosis *finding, void *arg)
{
    return strcmp(finding->topic, arg) == 0 ? -ENOENT : 0;
}

START_TEST(caller_ends_the_examination_with_its_own_value)
{
    char pmu[] = "pmu", permission[] = "permission";
    whole_machine();
    core_kernel_use(&upmu_kernel_scripted);
    machine_forget();
    ck_assert_int_eq(upmu_diagnose(stop_at, permission), -ENOENT);
    ck_assert_int_eq(upmu_diagnose(stop_at, pmu), -ENOENT);
    ck_assert_int_eq(upmu_diagnose(NULL, NULL), UPMU_E_INVAL);
}
END_TEST

/* What holds on any Linux: topics are complete, software and settings agree, nothing stays open. */
static void diagnose_here(void)
{
    diagnose(&upmu_kernel_perf);
    ck_assert_uint_ge(seen.n, 11);
    expect("limits", UPMU_DIAGNOSIS_INFO, " and leaves 16 free", "");
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}

START_TEST(this_machine_as_the_caller)
{
    diagnose_here();
}
END_TEST

START_TEST(this_machine_as_nobody)
{
    ck_assert_int_eq(setgid(65534), 0);
    ck_assert_int_eq(setuid(65534), 0);
    diagnose_here();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("doctor");
    tcase_add_checked_fixture(cases, scripted_reset, scripted_reset);
    tcase_add_test(cases, machine_with_everything);
    tcase_add_test(cases, topics_come_in_their_order);
    tcase_add_test(cases, counter_that_never_runs_or_never_moves_is_reported);
    tcase_add_test(cases, user_at_paranoid_2_counts_user_mode_only);
    tcase_add_test(cases, user_at_paranoid_3_counts_nothing);
    tcase_add_test(cases, cpu_without_a_name_is_reported_by_its_table_and_each_core_type);
    tcase_add_test(cases, machine_without_the_system_call);
    tcase_add_loop_test(cases, machine_under_a_filter, 0, 3);
    tcase_add_test(cases, pages_that_cannot_be_mapped_are_reported);
    tcase_add_test(cases, switches_that_cannot_be_had_are_reported);
    tcase_add_test(cases, tracefs_that_may_not_be_read_is_reported);
    tcase_add_test(cases, caller_ends_the_examination_with_its_own_value);
    tcase_add_test(cases, this_machine_as_the_caller);
    if (geteuid() == 0)
        tcase_add_test(cases, this_machine_as_nobody);
    else
        puts("this_machine_as_nobody is skipped, because only root can change its user");
    return run_suite("kernel doctor", cases);
}
