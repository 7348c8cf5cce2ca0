/* SPDX-License-Identifier: MIT */
/* Every cause of a refusal on the scripted kernel: its code, the value found, the remedy. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/check/refusal.h"
#include "core/machine/machine.h"
#include "support/scripted.h"
#include "unit/suite.h"
#include "upmu/upmu.h"

#define DEVICES "/sys/bus/event_source/devices"

static const struct kernel_ops *const k = &upmu_kernel_scripted;
static struct explain_context context;

static void set_up(void)
{
    scripted_reset();
    core_kernel_use(k);
    machine_forget();
    context = (struct explain_context){.event = "cycles", .type = KERNEL_TYPE_HARDWARE, .cpu = -1};
}

static void status(const char *capabilities, const char *seccomp)
{
    char text[256];
    snprintf(text, sizeof text, "Name:\tapp\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t%s\nSeccomp:\t%s\n", capabilities,
             seccomp);
    scripted_file("/proc/self/status", text);
    scripted_file("/proc/self/uid_map", "         0          0 4294967295\n");
}

static void paranoid(const char *value)
{
    scripted_file("/proc/sys/kernel/perf_event_paranoid", value);
}

static void pmu_software(void)
{
    scripted_file(DEVICES "/software/type", "1\n");
}

static void pmu_core(void)
{
    scripted_file(DEVICES "/cpu/type", "4\n");
}

#define NO_CAPABILITY "0000000000000000"
#define CAPABILITY_PERFMON "0000004000000000"
#define CAPABILITY_SYS_ADMIN "0000000000200000"

/* Explain `err` and compare; the further arguments, up to NULL, are words of the message. */
static void expect(int err, int code, ...)
{
    const char *word;
    va_list words;
    int got = explain_open_failure(k, err, &context);
    ck_assert_msg(got == code, "code %d (%s) instead of %d (%s): %s", got, upmu_strerror(got), code,
                  upmu_strerror(code), upmu_error());
    ck_assert_ptr_eq(strstr(upmu_error(), context.event), upmu_error());
    ck_assert_int_eq(upmu_error()[strlen(upmu_error()) - 1], '.');
    va_start(words, code);
    while ((word = va_arg(words, const char *)))
        ck_assert_msg(strstr(upmu_error(), word) != NULL, "'%s' is missing in: %s", word, upmu_error());
    va_end(words);
}

static void expect_absent(const char *word)
{
    ck_assert_msg(strstr(upmu_error(), word) == NULL, "'%s' does not belong in: %s", word, upmu_error());
}

START_TEST(paranoid_2_keeps_kernel_mode_to_itself)
{
    status(NO_CAPABILITY, "0");
    paranoid("2\n");
    context.wants_kernel = true;
    context.user_mode_counts = true;
    expect(EACCES, UPMU_E_PERM, "kernel mode", "perf_event_paranoid is 2", "at most 1",
           "sysctl kernel.perf_event_paranoid=1", "CAP_SYS_ADMIN", ":u", "EACCES", NULL);
    scripted_file("/proc/sys/kernel/cap_last_cap", "40\n");
    expect(EACCES, UPMU_E_PERM, "setcap cap_perfmon+ep", NULL);
    context.user_mode_counts = false; /* as context switches */
    expect(EACCES, UPMU_E_PERM, "setcap cap_perfmon+ep", NULL);
    expect_absent(":u");
}
END_TEST

START_TEST(paranoid_3_of_debian_refuses_user_mode_too)
{
    status(NO_CAPABILITY, "0");
    paranoid("3\n");
    expect(EACCES, UPMU_E_PERM, "user mode", "perf_event_paranoid is 3", "at most 2",
           "sysctl kernel.perf_event_paranoid=2", NULL);
    expect_absent(":u");
    context.wants_kernel = true;
    context.user_mode_counts = true;
    expect(EACCES, UPMU_E_PERM, "perf_event_paranoid is 3", "at most 1", NULL);
    expect_absent(":u");
}
END_TEST

START_TEST(whole_cpu_needs_paranoid_0)
{
    status(NO_CAPABILITY, "0");
    paranoid("1\n");
    context.pid = -1;
    context.cpu = 3;
    context.wants_kernel = true;
    expect(EACCES, UPMU_E_PERM, "whole CPU", "perf_event_paranoid is 1", "at most 0",
           "sysctl kernel.perf_event_paranoid=0", NULL);
}
END_TEST

START_TEST(tracepoints_need_paranoid_minus_1)
{
    status(NO_CAPABILITY, "0");
    paranoid("1\n");
    context.event = "sched:sched_switch";
    context.type = 2;
    expect(EPERM, UPMU_E_PERM, "tracepoints", "perf_event_paranoid is 1", "at most -1",
           "sysctl kernel.perf_event_paranoid=-1", NULL);
}
END_TEST

START_TEST(capability_inside_a_container_does_not_count)
{
    status(CAPABILITY_SYS_ADMIN, "0");
    scripted_file("/proc/self/uid_map", "         0     100000      65536\n");
    paranoid("2\n");
    context.wants_kernel = true;
    expect(EACCES, UPMU_E_PERM, "perf_event_paranoid is 2", "no effect on perf", "root of the host", NULL);
    expect_absent("setcap");
}
END_TEST

START_TEST(refusal_in_spite_of_rights_is_a_security_module)
{
    status(CAPABILITY_PERFMON, "0");
    paranoid("4\n");
    expect(EACCES, UPMU_E_SECCOMP, "security module", "perf_event_paranoid is 4", "CAP_PERFMON", NULL);
    status(CAPABILITY_SYS_ADMIN, "0");
    expect(EACCES, UPMU_E_SECCOMP, "security module", NULL);
    status(NO_CAPABILITY, "0");
    paranoid("2\n");
    expect(EACCES, UPMU_E_SECCOMP, "security module", "perf_event_paranoid is 2", NULL);
}
END_TEST

START_TEST(refusal_without_proc_still_names_the_errno)
{
    expect(EACCES, UPMU_E_SECCOMP, "EACCES", "cannot be read", NULL);
}
END_TEST

/* The trial call decides, not the errno and not a setting: filters return EACCES as well, and kernels EPERM. */
START_TEST(filter_that_denies_the_call_is_seccomp)
{
    static const int errnos[] = {EPERM, EACCES};
    status(NO_CAPABILITY, "2");
    for (size_t i = 0; i < sizeof errnos / sizeof *errnos; i++) {
        scripted_filter(errnos[i]);
        paranoid("3\n");
        context.wants_kernel = true;
        expect(errnos[i], UPMU_E_SECCOMP, "seccomp filter", upmu_errno_name(errnos[i]), "seccomp profile", NULL);
        expect_absent("sysctl");
        context.pid = 77;
        expect(errnos[i], UPMU_E_SECCOMP, "seccomp filter", NULL);
        context.pid = 0;
    }
}
END_TEST

START_TEST(refusal_by_the_kernel_under_a_filter_is_no_seccomp)
{
    status(NO_CAPABILITY, "2");
    paranoid("2\n");
    context.wants_kernel = true;
    expect(EACCES, UPMU_E_PERM, "perf_event_paranoid is 2", NULL);
    paranoid("1\n");
    expect(EACCES, UPMU_E_SECCOMP, "security module", NULL);
}
END_TEST

START_TEST(denial_before_the_kernel_without_a_filter_is_a_sandbox)
{
    status(NO_CAPABILITY, "0");
    scripted_filter(EPERM);
    expect(EPERM, UPMU_E_SECCOMP, "EPERM", "sandbox", NULL);
    expect_absent("seccomp");
}
END_TEST

START_TEST(filter_of_the_calling_thread_is_the_one_that_counts)
{
    status(NO_CAPABILITY, "0");
    scripted_filter(EPERM);
    scripted_file("/proc/thread-self/status", "CapEff:\t0\nSeccomp:\t2\n");
    expect(EPERM, UPMU_E_SECCOMP, "seccomp filter", NULL);
}
END_TEST

START_TEST(enosys_is_distinguished_by_the_filter)
{
    status(NO_CAPABILITY, "2");
    expect(ENOSYS, UPMU_E_NO_SYSCALL, "ENOSYS", "seccomp filter", "seccomp profile", NULL);
    status(NO_CAPABILITY, "0");
    expect(ENOSYS, UPMU_E_NO_SYSCALL, "ENOSYS", "CONFIG_PERF_EVENTS", NULL);
    expect_absent("seccomp");
}
END_TEST

START_TEST(process_of_another_user_is_named_with_its_owner)
{
    status(NO_CAPABILITY, "0");
    paranoid("2\n");
    scripted_file("/proc/77/status", "Name:\tother\nUid:\t0\t0\t0\t0\n");
    context.pid = 77;
    context.wants_kernel = true; /* lowering perf_event_paranoid would not help */
    expect(EACCES, UPMU_E_PERM, "process 77", "user 0", "user 1000", "as root", NULL);
    expect_absent("sysctl");
    expect_absent("setcap");
    scripted_file("/proc/sys/kernel/cap_last_cap", "40\n");
    expect(EACCES, UPMU_E_PERM, "setcap cap_perfmon+ep", NULL);
}
END_TEST

START_TEST(own_process_that_is_protected_is_reported)
{
    status(NO_CAPABILITY, "0");
    paranoid("2\n");
    scripted_file("/proc/77/status", "Name:\tother\nUid:\t1000\t0\t0\t0\n");
    context.pid = 77;
    expect(EACCES, UPMU_E_PERM, "process 77", "PR_SET_DUMPABLE", NULL);
    context.wants_kernel = true;
    expect(EACCES, UPMU_E_PERM, "sysctl kernel.perf_event_paranoid=1", NULL);
}
END_TEST

static const int absent_errnos[] = {ENOENT, EOPNOTSUPP, EINVAL, ENODEV, ENXIO};
enum { ABSENT_ERRNOS = sizeof absent_errnos / sizeof *absent_errnos };

START_TEST(hardware_event_in_a_virtual_machine_without_pmu)
{
    pmu_software();
    scripted_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
                                   "model name\t: Xeon\nstepping\t: 7\nflags\t\t: fpu vme hypervisor sse2\n\n");
    expect(absent_errnos[_i], UPMU_E_NO_PMU, "virtual machine", "no PMU", "software events", NULL);
}
END_TEST

START_TEST(hardware_event_on_bare_metal_without_driver)
{
    pmu_software();
    expect(absent_errnos[_i], UPMU_E_NO_PMU, "no hardware PMU", "software events", NULL);
}
END_TEST

START_TEST(pmu_that_lacks_the_event_is_named)
{
    pmu_software();
    pmu_core();
    expect(absent_errnos[_i], UPMU_E_UNSUPPORTED, "'cpu'", "does not have this event", NULL);
}
END_TEST

START_TEST(pmu_is_not_denied_when_sysfs_cannot_be_read)
{
    expect(ENOENT, UPMU_E_UNSUPPORTED, "does not show whether", "mount -t sysfs", NULL);
    scripted_file_error(DEVICES, EACCES);
    expect(ENOENT, UPMU_E_UNSUPPORTED, "does not show whether", NULL);
}
END_TEST

START_TEST(other_pmu_is_named_by_its_type)
{
    context.event = "msr/tsc/";
    context.type = 11;
    expect(EINVAL, UPMU_E_UNSUPPORTED, "type 11", "EINVAL", NULL);
}
END_TEST

START_TEST(cpu_that_is_not_online_is_gone)
{
    pmu_core();
    scripted_file("/sys/devices/system/cpu/online", "0-3,8\n");
    context.pid = -1;
    context.cpu = 5;
    expect(ENODEV, UPMU_E_GONE, "CPU 5", "0-3,8", NULL);
    expect(EINVAL, UPMU_E_GONE, "CPU 5", NULL);
    context.cpu = 8;
    expect(ENODEV, UPMU_E_UNSUPPORTED, "'cpu'", NULL);
    context.cpu = 2;
    expect(EINVAL, UPMU_E_UNSUPPORTED, "'cpu'", NULL);
}
END_TEST

/* 64 are never the library's, nor is more than half of the limit, nor are the last 16 that are free. */
START_TEST(descriptor_limit_is_reported_with_a_sufficient_one)
{
    context.descriptors = 8;
    scripted_descriptors_are(&(struct kernel_descriptors){.soft = 8, .hard = 128, .open = 3});
    expect(EMFILE, UPMU_E_NFILES, "EMFILE", "limit of 8, 3 are open", "may hold 0", "leaves 16 free", "'ulimit -n 72'.",
           NULL);
    context.descriptors = 400; /* besides the 256 that are held */
    scripted_descriptors_are(&(struct kernel_descriptors){.soft = 512, .hard = 512, .open = 260, .held = 256});
    expect(EMFILE, UPMU_E_NFILES, "'ulimit -n 1312' as root.", NULL);
    context.descriptors = 1;
    scripted_descriptors_are(&(struct kernel_descriptors){.soft = 512, .hard = 512, .open = 500, .held = 0});
    expect(EMFILE, UPMU_E_NFILES, "'ulimit -n 519' as root.", NULL);
}
END_TEST

START_TEST(descriptor_limit_that_is_enough_by_now_has_no_remedy)
{
    context.descriptors = 1;
    expect(EMFILE, UPMU_E_NFILES, "limit of 1024", NULL);
    expect_absent("ulimit");
}
END_TEST

START_TEST(descriptors_of_the_whole_system)
{
    expect(ENFILE, UPMU_E_NFILES, "ENFILE", "whole system", NULL);
}
END_TEST

START_TEST(nmi_watchdog_holds_a_counter)
{
    scripted_file("/proc/sys/kernel/nmi_watchdog", "1\n");
    expect(EBUSY, UPMU_E_BUSY, "EBUSY", "NMI watchdog", "kernel.nmi_watchdog is 1", NULL);
    scripted_file("/proc/sys/kernel/nmi_watchdog", "0\n");
    expect(EBUSY, UPMU_E_BUSY, "another profiler", NULL);
    expect_absent("watchdog");
    expect(ENOSPC, UPMU_E_BUSY, "ENOSPC", NULL);
}
END_TEST

START_TEST(recorded_machine_counts_nothing)
{
    expect(EREMOTE, UPMU_E_STATE, "UPMU_FSROOT", NULL);
}
END_TEST

START_TEST(process_that_ended_is_gone)
{
    context.pid = 4711;
    expect(ESRCH, UPMU_E_GONE, "4711", "ESRCH", NULL);
}
END_TEST

START_TEST(kernel_that_is_too_old_is_reported_with_its_version)
{
    scripted_file("/proc/sys/kernel/osrelease", "2.6.32-loongson\n");
    expect(E2BIG, UPMU_E_UNSUPPORTED, "2.6.32-loongson", "E2BIG", NULL);
}
END_TEST

START_TEST(memory_and_unforeseen_errors_keep_their_errno)
{
    expect(ENOMEM, UPMU_E_NOMEM, "ENOMEM", NULL);
    expect(EIO, UPMU_E_SYSTEM, "EIO", "opening", NULL);
    expect(-EIO, UPMU_E_SYSTEM, "EIO", NULL);
}
END_TEST

START_TEST(page_beyond_the_locked_memory_is_reported_with_its_limits)
{
    context.mapping = true;
    scripted_file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
    scripted_file("/proc/self/limits",
                  "Max locked memory         8388608              8388608              bytes     \n");
    expect(EPERM, UPMU_E_MLOCK, "perf_event_mlock_kb is 516", "8388608", "sysctl kernel.perf_event_mlock_kb=2064",
           NULL);
    scripted_file("/proc/sys/kernel/perf_event_mlock_kb", "0\n");
    expect(EPERM, UPMU_E_MLOCK, "sysctl kernel.perf_event_mlock_kb=516", NULL);
}
END_TEST

START_TEST(page_that_is_not_given_has_its_errno)
{
    context.mapping = true;
    expect(EPERM, UPMU_E_MLOCK, "EPERM", NULL);
    expect(EINVAL, UPMU_E_UNSUPPORTED, "EINVAL", "page", NULL);
    expect(ENOMEM, UPMU_E_NOMEM, NULL);
    expect(EAGAIN, UPMU_E_SYSTEM, "mapping", "EAGAIN", NULL);
}
END_TEST

START_TEST(setting_is_read_anew_each_time)
{
    status(NO_CAPABILITY, "0");
    context.wants_kernel = true;
    paranoid("3\n");
    expect(EACCES, UPMU_E_PERM, "perf_event_paranoid is 3", NULL);
    paranoid("2\n");
    expect(EACCES, UPMU_E_PERM, "perf_event_paranoid is 2", NULL);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("explain");
    tcase_add_checked_fixture(cases, set_up, scripted_reset);
    tcase_add_test(cases, paranoid_2_keeps_kernel_mode_to_itself);
    tcase_add_test(cases, paranoid_3_of_debian_refuses_user_mode_too);
    tcase_add_test(cases, whole_cpu_needs_paranoid_0);
    tcase_add_test(cases, tracepoints_need_paranoid_minus_1);
    tcase_add_test(cases, capability_inside_a_container_does_not_count);
    tcase_add_test(cases, refusal_in_spite_of_rights_is_a_security_module);
    tcase_add_test(cases, refusal_without_proc_still_names_the_errno);
    tcase_add_test(cases, filter_that_denies_the_call_is_seccomp);
    tcase_add_test(cases, refusal_by_the_kernel_under_a_filter_is_no_seccomp);
    tcase_add_test(cases, denial_before_the_kernel_without_a_filter_is_a_sandbox);
    tcase_add_test(cases, filter_of_the_calling_thread_is_the_one_that_counts);
    tcase_add_test(cases, enosys_is_distinguished_by_the_filter);
    tcase_add_test(cases, process_of_another_user_is_named_with_its_owner);
    tcase_add_test(cases, own_process_that_is_protected_is_reported);
    tcase_add_loop_test(cases, hardware_event_in_a_virtual_machine_without_pmu, 0, ABSENT_ERRNOS);
    tcase_add_loop_test(cases, hardware_event_on_bare_metal_without_driver, 0, ABSENT_ERRNOS);
    tcase_add_loop_test(cases, pmu_that_lacks_the_event_is_named, 0, ABSENT_ERRNOS);
    tcase_add_test(cases, pmu_is_not_denied_when_sysfs_cannot_be_read);
    tcase_add_test(cases, other_pmu_is_named_by_its_type);
    tcase_add_test(cases, cpu_that_is_not_online_is_gone);
    tcase_add_test(cases, descriptor_limit_is_reported_with_a_sufficient_one);
    tcase_add_test(cases, descriptor_limit_that_is_enough_by_now_has_no_remedy);
    tcase_add_test(cases, descriptors_of_the_whole_system);
    tcase_add_test(cases, nmi_watchdog_holds_a_counter);
    tcase_add_test(cases, recorded_machine_counts_nothing);
    tcase_add_test(cases, process_that_ended_is_gone);
    tcase_add_test(cases, kernel_that_is_too_old_is_reported_with_its_version);
    tcase_add_test(cases, memory_and_unforeseen_errors_keep_their_errno);
    tcase_add_test(cases, page_beyond_the_locked_memory_is_reported_with_its_limits);
    tcase_add_test(cases, page_that_is_not_given_has_its_errno);
    tcase_add_test(cases, setting_is_read_anew_each_time);
    return run_suite("kernel explain", cases);
}
