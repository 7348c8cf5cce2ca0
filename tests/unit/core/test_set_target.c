/* SPDX-License-Identifier: MIT */
/* Targets of a set: every thread counted exactly once while the list changes, and commands that wait to start. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/set/counters.h"
#include "support/machine.h"
#include "unit/suite.h"

enum { PID = 4000 };

static const struct scripted_sample steady[] = {{100, 1000, 1000}};

static void set_up(void)
{
    machine_plain(steady, 1);
}

static void nothing_left(void)
{
    ck_assert_uint_eq(scripted_open_now(), 0);
    ck_assert_uint_eq(scripted_misuse(), 0);
}

static int attach(struct upmu_set **set, uint32_t flags)
{
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_PROCESS, .pid = PID, .flags = flags};
    return upmu_set_open(set, "page-faults", &opts);
}

static uint64_t total(struct upmu_set *set)
{
    struct upmu_value v;
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    ck_assert_int_eq(v.status, UPMU_EXACT);
    return v.value;
}

/* Whether exactly these threads have an open event, by what was opened and not closed again. */
static void expect_attached(const pid_t *tids, size_t n)
{
    ck_assert_uint_eq(scripted_open_now(), n);
    size_t opens = scripted_count(SCRIPTED_OPEN), closes = scripted_count(SCRIPTED_CLOSE);
    for (size_t t = 0; t < n; t++) {
        size_t open = 0;
        for (size_t i = 0; i < opens; i++) {
            const struct scripted_call *call = scripted_nth(SCRIPTED_OPEN, i);
            if (call->fd < 0 || call->req.pid != tids[t])
                continue;
            bool closed = false;
            for (size_t k = 0; k < closes; k++)
                closed = closed || scripted_nth(SCRIPTED_CLOSE, k)->fd == call->fd;
            open += !closed;
        }
        ck_assert_msg(open == 1, "thread %d has %zu open events", (int)tids[t], open);
    }
}

START_TEST(every_thread_is_counted_once_and_later_ones_by_inheritance)
{
    const pid_t tids[] = {PID, PID + 1, PID + 2};
    struct upmu_set *set;
    scripted_threads(PID, tids, 3);
    ck_assert_int_eq(attach(&set, 0), 0);
    ck_assert_uint_eq(upmu_set_instance_count(set), 3);
    expect_attached(tids, 3);
    ck_assert(scripted_nth(SCRIPTED_OPEN, 0)->req.inherit);
    ck_assert_uint_eq(total(set), 300);
    ck_assert_int_eq(upmu_set_pid(set), PID);
    upmu_set_close(set);
    ck_assert_int_eq(attach(&set, UPMU_SET_NO_INHERIT), 0);
    ck_assert(!scripted_nth(SCRIPTED_OPEN, 3)->req.inherit);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(a_thread_that_appears_meanwhile_is_counted_once)
{
    const pid_t first[] = {PID, PID + 1}, later[] = {PID, PID + 1, PID + 2};
    struct upmu_set *set;
    scripted_threads(PID, first, 2); /* attached to two ... */
    scripted_threads(PID, later, 3); /* ... while a third came: inherited, or not? All over again. */
    scripted_threads(PID, later, 3);
    scripted_threads(PID, later, 3);
    ck_assert_int_eq(attach(&set, 0), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_THREADS), 4);
    expect_attached(later, 3);
    ck_assert_uint_eq(total(set), 300);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(a_list_in_another_order_brings_no_newcomer)
{
    const pid_t first[] = {PID, PID + 5, PID + 3}, again[] = {PID + 3, PID, PID + 5};
    struct upmu_set *set;
    scripted_threads(PID, first, 3);
    scripted_threads(PID, again, 3);
    ck_assert_int_eq(attach(&set, 0), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_THREADS), 2);
    expect_attached(first, 3);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

/* Threads whose number is odd have ended. */
static int odd_have_ended(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)group, (void)n, (void)arg;
    return req->pid & 1 ? -ESRCH : 0;
}

START_TEST(threads_that_end_meanwhile_are_left_out)
{
    const pid_t tids[] = {PID, PID + 1, PID + 2, PID + 3}, left[] = {PID, PID + 2};
    struct upmu_set *set;
    scripted_rule(odd_have_ended, NULL);
    scripted_threads(PID, tids, 4);
    ck_assert_int_eq(attach(&set, 0), 0);
    expect_attached(left, 2);
    ck_assert_uint_eq(total(set), 200);
    upmu_set_close(set);
    ck_assert_int_eq(attach(&set, UPMU_SET_STRICT), 0); /* that a thread has ended is no reason to refuse the event */
    upmu_set_close(set);
    nothing_left();
}
END_TEST

/* Threads whose number is odd end before their second event is opened. */
static int odd_end_meanwhile(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)group, (void)n, (void)arg;
    return (req->pid & 1) && req->config == PERF_COUNT_SW_CONTEXT_SWITCHES ? -ESRCH : 0;
}

START_TEST(a_thread_that_ends_between_two_events_is_left_out)
{
    const pid_t tids[] = {PID, PID + 1};
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_PROCESS, .pid = PID};
    struct upmu_value values[2];
    struct upmu_set *set;
    scripted_rule(odd_end_meanwhile, NULL);
    scripted_threads(PID, tids, 2);
    ck_assert_int_eq(upmu_set_open(&set, "page-faults,context-switches", &opts), 0);
    ck_assert_uint_eq(upmu_set_instance_count(set), 1);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, values, 2), 2);
    ck_assert_int_eq(values[0].status, UPMU_EXACT);
    ck_assert_int_eq(values[1].status, UPMU_EXACT);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(a_process_that_ends_meanwhile_is_gone)
{
    const pid_t odd[] = {PID + 1, PID + 3};
    struct upmu_set *set;
    scripted_rule(odd_have_ended, NULL);
    scripted_threads(PID, odd, 2);
    ck_assert_int_eq(attach(&set, 0), UPMU_E_GONE);
    ck_assert_ptr_null(set);
    nothing_left();
}
END_TEST

START_TEST(a_process_that_is_not_there)
{
    struct upmu_set *set;
    ck_assert_int_eq(attach(&set, 0), UPMU_E_GONE);
    ck_assert_msg(strstr(upmu_error(), "4000") != NULL, "%s", upmu_error());
    nothing_left();
}
END_TEST

START_TEST(more_threads_than_the_first_guess)
{
    pid_t tids[300];
    struct upmu_set *set;
    for (int i = 0; i < 300; i++)
        tids[i] = PID + i;
    scripted_threads(PID, tids, 300);
    ck_assert_int_eq(attach(&set, 0), 0);
    expect_attached(tids, 300);
    ck_assert_uint_eq(total(set), 30000);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

/* A process that has another thread each time it is looked at. */
static ssize_t another_thread(pid_t pid, pid_t *tids, size_t cap)
{
    static pid_t newest;
    ck_assert_uint_ge(cap, 2);
    tids[0] = pid;
    tids[1] = pid + ++newest;
    return 2;
}

START_TEST(a_process_that_never_holds_still_is_refused)
{
    static struct kernel_ops restless;
    struct upmu_set *set;
    restless = upmu_kernel_scripted;
    restless.threads = another_thread;
    core_kernel_use(&restless);
    ck_assert_int_eq(attach(&set, 0), UPMU_E_STATE);
    ck_assert_msg(strstr(upmu_error(), "upmu stat -- COMMAND") != NULL, "%s", upmu_error());
    nothing_left();
}
END_TEST

static int only_the_first(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)group, (void)n, (void)arg;
    return req->pid == PID ? 0 : -EMFILE;
}

START_TEST(a_thread_that_cannot_be_counted_spoils_the_sum)
{
    const pid_t tids[] = {PID, PID + 1};
    struct upmu_set *set;
    struct upmu_value v;
    scripted_rule(only_the_first, NULL);
    scripted_threads(PID, tids, 2);
    ck_assert_int_eq(attach(&set, 0), 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    ck_assert_int_eq(v.status, UPMU_REFUSED);
    ck_assert_int_eq(v.cause, UPMU_E_NFILES);
    ck_assert_uint_eq(v.value, UPMU_NO_VALUE);
    ck_assert_uint_eq(v.raw, 100);
    upmu_set_close(set);
    ck_assert_int_eq(attach(&set, UPMU_SET_STRICT), UPMU_E_NFILES);
    nothing_left();
}
END_TEST

static int not_yours(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)req, (void)group, (void)n, (void)arg;
    return -EACCES;
}

START_TEST(a_process_that_is_not_yours)
{
    const pid_t tids[] = {PID};
    struct upmu_set *set;
    scripted_file("/proc/self/status", "Name:\tme\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0\nSeccomp:\t0\n");
    scripted_file("/proc/4000/status", "Name:\tthey\nUid:\t0\t0\t0\t0\n");
    scripted_rule(not_yours, NULL);
    scripted_threads(PID, tids, 1);
    ck_assert_int_eq(attach(&set, 0), UPMU_E_PERM);
    ck_assert_ptr_null(set);
    nothing_left();
}
END_TEST

START_TEST(a_thread_is_no_process)
{
    static const pid_t tids[] = {PID, PID + 1};
    struct upmu_set *set;
    scripted_threads(PID, tids, 2);
    scripted_file("/proc/4000/status", "Name:\tthey\nTgid:\t3999\nUid:\t0\t0\t0\t0\n");
    ck_assert_int_eq(attach(&set, 0), UPMU_E_INVAL);
    ck_assert_msg(strstr(upmu_error(), "thread of process 3999") && strstr(upmu_error(), "stat -t 4000"), "%s",
                  upmu_error());
    scripted_file("/proc/4000/status", "Name:\tthey\nTgid:\t4000\nUid:\t0\t0\t0\t0\n");
    ck_assert_int_eq(attach(&set, 0), 0);
    ck_assert_uint_eq(upmu_set_instance_count(set), 2);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(one_thread_is_counted_by_its_id)
{
    static const pid_t tids[] = {PID - 1, PID};
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_TASK, .pid = PID};
    ck_assert_int_eq(upmu_set_open(&set, "page-faults", &opts), UPMU_E_GONE);
    scripted_threads(PID, tids, 2);
    ck_assert_int_eq(upmu_set_open(&set, "page-faults", &opts), 0);
    ck_assert_uint_eq(upmu_set_instance_count(set), 1);
    ck_assert_int_eq(scripted_nth(SCRIPTED_OPEN, 0)->req.pid, PID);
    ck_assert(scripted_nth(SCRIPTED_OPEN, 0)->req.inherit);
    ck_assert_int_eq(upmu_set_pid(set), PID);
    upmu_set_close(set);
    opts.flags = UPMU_SET_NO_INHERIT;
    ck_assert_int_eq(upmu_set_open(&set, "page-faults", &opts), 0);
    ck_assert(!scripted_nth(SCRIPTED_OPEN, 1)->req.inherit);
    upmu_set_close(set);
    opts.pid = 0;
    ck_assert_int_eq(upmu_set_open(&set, "page-faults", &opts), UPMU_E_INVAL);
    nothing_left();
}
END_TEST

/* -------------------------------------------------------------------------------------------------- commands */

static int command(struct upmu_set **set)
{
    static char program[] = "program";
    static char *const argv[] = {program, NULL};
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_COMMAND, .argv = argv};
    return upmu_set_open(set, "page-faults,task-clock", &opts);
}

START_TEST(a_command_is_counted_from_its_exec_with_its_children)
{
    struct upmu_set *set;
    int status;
    scripted_command(PID, 0, 256);
    ck_assert_int_eq(command(&set), 0);
    const struct scripted_call *leader = scripted_nth(SCRIPTED_OPEN, 0);
    ck_assert_int_eq(leader->req.pid, PID);
    ck_assert(leader->req.inherit && leader->req.enable_on_exec && leader->req.disabled);
    ck_assert_int_eq(upmu_set_pid(set), 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_pid(set), PID);
    ck_assert_uint_eq(scripted_count(SCRIPTED_ENABLE), 0); /* exec does it */
    ck_assert_int_eq(upmu_set_wait(set, &status), 0);
    ck_assert_int_eq(status, 256);
    ck_assert_int_eq(upmu_set_wait(set, NULL), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_WAIT), 1);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(what_a_command_used_is_without_what_the_waiting_process_did)
{
    const struct kernel_usage before = {1000, 2000, 30, 1, 2}, after = {51000, 2000, 130, 3, 12};
    struct upmu_usage u = {.size = sizeof u};
    struct upmu_set *set;
    scripted_command(PID, 0, 0);
    scripted_command_usage(&before, &after);
    ck_assert_int_eq(command(&set), 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_usage_read(set, &u), UPMU_E_STATE);
    ck_assert_int_eq(upmu_set_wait(set, NULL), 0);
    ck_assert_int_eq(upmu_set_usage_read(set, &u), 0);
    ck_assert(u.user_ns == 50000 && u.system_ns == 0 && u.minor_faults == 100 && u.major_faults == 2 &&
              u.switches == 10);
    u.size = 8;
    ck_assert_int_eq(upmu_set_usage_read(set, &u), UPMU_E_INVAL);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(a_command_that_cannot_be_executed_reports_that_and_is_waited_for)
{
    struct upmu_set *set;
    scripted_command(PID, -ENOENT, 0);
    ck_assert_int_eq(command(&set), 0);
    ck_assert_int_eq(upmu_set_start(set), UPMU_E_IO);
    ck_assert_msg(strstr(upmu_error(), "cannot execute 'program'") && strstr(upmu_error(), "ENOENT"), "%s",
                  upmu_error());
    ck_assert_uint_eq(scripted_count(SCRIPTED_WAIT), 1);
    ck_assert_int_eq(upmu_set_start(set), UPMU_E_STATE);
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_count(SCRIPTED_WAIT), 1);
    nothing_left();
}
END_TEST

START_TEST(a_command_never_started_is_ended_and_waited_for)
{
    struct upmu_set *set;
    scripted_command(PID, 0, 0);
    ck_assert_int_eq(command(&set), 0);
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_count(SCRIPTED_RELEASE), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_ABANDON), 1);
    ck_assert_uint_eq(scripted_count(SCRIPTED_WAIT), 1);
    nothing_left();
}
END_TEST

START_TEST(a_command_never_started_is_not_a_forked_childs_to_end)
{
    struct upmu_set *set;
    int status;
    scripted_command(PID, 0, 0);
    ck_assert_int_eq(command(&set), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool refused = upmu_set_start(set) == UPMU_E_STATE;
        upmu_set_close(set);
        bool left_alone = scripted_count(SCRIPTED_ABANDON) + scripted_count(SCRIPTED_WAIT) == 0;
        _exit(refused && left_alone && scripted_open_now() == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(the_callers_argv_is_not_used_after_the_open)
{
    struct upmu_set *set;
    char name[] = "program";
    char *argv[] = {name, NULL};
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_COMMAND, .argv = argv};
    scripted_command(PID, -ENOENT, 0);
    ck_assert_int_eq(upmu_set_open(&set, "page-faults", &opts), 0);
    memset(name, 'x', sizeof name - 1);
    argv[0] = NULL;
    ck_assert_int_eq(upmu_set_start(set), UPMU_E_IO);
    ck_assert_msg(strstr(upmu_error(), "'program'") != NULL, "%s", upmu_error());
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(a_command_that_the_kernel_does_not_let_count_is_refused_and_runs)
{
    static char program[] = "program";
    static char *const argv[] = {program, NULL};
    struct upmu_set_opts opts = {
        .size = sizeof opts, .target = UPMU_TARGET_COMMAND, .argv = argv, .flags = UPMU_SET_STRICT};
    struct upmu_set *set;
    struct upmu_value v[2];
    scripted_command(PID, 0, 256);
    scripted_exec_detaches(true);
    ck_assert_int_eq(upmu_set_open(&set, "page-faults", &opts), UPMU_E_PERM);
    ck_assert_uint_eq(scripted_count(SCRIPTED_SPAWN), 0);
    ck_assert_int_eq(command(&set), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_OPEN), 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_wait(set, NULL), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(v[i].status, UPMU_REFUSED);
        ck_assert_int_eq(v[i].cause, UPMU_E_PERM);
        ck_assert_uint_eq(v[i].value, UPMU_NO_VALUE);
        ck_assert_msg(strstr(upmu_set_reason(set, i), "set-user-ID") != NULL, "%s", upmu_set_reason(set, i));
    }
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(no_process_for_a_command)
{
    struct upmu_set *set;
    scripted_command(-EAGAIN, 0, 0);
    ck_assert_int_eq(command(&set), UPMU_E_IO);
    ck_assert_msg(strstr(upmu_error(), "EAGAIN") != NULL, "%s", upmu_error());
    nothing_left();
}
END_TEST

START_TEST(a_cpu_is_counted_whole)
{
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_CPU, .cpu = 1};
    ck_assert_int_eq(upmu_set_open(&set, "page-faults", &opts), 0);
    ck_assert_int_eq(scripted_nth(SCRIPTED_OPEN, 0)->req.pid, -1);
    ck_assert_int_eq(scripted_nth(SCRIPTED_OPEN, 0)->req.cpu, 1);
    ck_assert(!scripted_nth(SCRIPTED_OPEN, 0)->req.inherit);
    upmu_set_close(set);
    scripted_file("/sys/devices/system/cpu/online", "0\n");
    scripted_open_error(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, ENODEV);
    int rc = upmu_set_open(&set, "page-faults", &opts);
    ck_assert_msg(rc == UPMU_E_GONE, "%s: %s", upmu_strerror(rc), upmu_error());
    nothing_left();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("set target");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, every_thread_is_counted_once_and_later_ones_by_inheritance);
    tcase_add_test(cases, a_thread_that_appears_meanwhile_is_counted_once);
    tcase_add_test(cases, a_list_in_another_order_brings_no_newcomer);
    tcase_add_test(cases, threads_that_end_meanwhile_are_left_out);
    tcase_add_test(cases, a_thread_that_ends_between_two_events_is_left_out);
    tcase_add_test(cases, a_process_that_ends_meanwhile_is_gone);
    tcase_add_test(cases, a_process_that_is_not_there);
    tcase_add_test(cases, more_threads_than_the_first_guess);
    tcase_add_test(cases, a_process_that_never_holds_still_is_refused);
    tcase_add_test(cases, a_thread_that_cannot_be_counted_spoils_the_sum);
    tcase_add_test(cases, a_process_that_is_not_yours);
    tcase_add_test(cases, a_thread_is_no_process);
    tcase_add_test(cases, one_thread_is_counted_by_its_id);
    tcase_add_test(cases, what_a_command_used_is_without_what_the_waiting_process_did);
    tcase_add_test(cases, a_command_is_counted_from_its_exec_with_its_children);
    tcase_add_test(cases, a_command_that_cannot_be_executed_reports_that_and_is_waited_for);
    tcase_add_test(cases, a_command_never_started_is_ended_and_waited_for);
    tcase_add_test(cases, a_command_never_started_is_not_a_forked_childs_to_end);
    tcase_add_test(cases, the_callers_argv_is_not_used_after_the_open);
    tcase_add_test(cases, a_command_that_the_kernel_does_not_let_count_is_refused_and_runs);
    tcase_add_test(cases, no_process_for_a_command);
    tcase_add_test(cases, a_cpu_is_counted_whole);
    tcase_set_timeout(cases, 60);
    return run_suite("set target", cases);
}
