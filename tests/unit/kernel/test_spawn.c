/* SPDX-License-Identifier: MIT */
/* Commands held at their gate: released, refused by exec, abandoned, killed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel_ops.h"
#include "kernel/parts.h"
#include "unit/suite.h"

static const struct kernel_ops *const k = &upmu_kernel_perf;

static pid_t spawn(char *const argv[], int *gate)
{
    pid_t pid = k->spawn(argv, gate);
    ck_assert_int_gt(pid, 0);
    return pid;
}

START_TEST(command_runs_after_release_only)
{
    char marker[] = "/tmp/upmu-spawn-XXXXXX";
    int fd = mkstemp(marker);
    ck_assert_int_ge(fd, 0);
    close(fd);
    char *const argv[] = {"rm", marker, NULL};
    int gate, status = -1;
    pid_t pid = spawn(argv, &gate);
    usleep(50000);
    ck_assert_int_eq(access(marker, F_OK), 0);
    ck_assert_int_eq(k->release(gate, NULL), 0);
    ck_assert_int_eq(k->wait(pid, &status, NULL), 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_ne(access(marker, F_OK), 0);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}
END_TEST

/* The process waits at the gate, which is a switch of its own, and not the command's. */
START_TEST(use_before_exec_is_distinguished)
{
    char *const argv[] = {"true", NULL};
    struct kernel_usage before, used;
    int gate;
    pid_t pid = spawn(argv, &gate);
    usleep(50000);
    ck_assert_int_eq(k->release(gate, &before), 0);
    ck_assert_int_eq(k->wait(pid, NULL, &used), 0);
    ck_assert_uint_ge(before.switches, 1);
    ck_assert_uint_ge(before.minor_faults, 1);
    ck_assert_uint_ge(used.switches, before.switches);
    ck_assert_uint_gt(used.minor_faults, before.minor_faults);
}
END_TEST

START_TEST(exec_error_comes_back)
{
    char *const missing[] = {"/no/such/program", NULL};
    char *const not_executable[] = {"/proc/self/status", NULL};
    int gate;
    pid_t pid = spawn(missing, &gate);
    ck_assert_int_eq(k->release(gate, NULL), -ENOENT);
    ck_assert_int_eq(k->wait(pid, NULL, NULL), 0);
    pid = spawn(not_executable, &gate);
    ck_assert_int_eq(k->release(gate, NULL), -EACCES);
    ck_assert_int_eq(k->wait(pid, NULL, NULL), 0);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}
END_TEST

START_TEST(abandoned_command_leaves_quietly)
{
    char *const argv[] = {"sh", "-c", "exit 9", NULL};
    int gate, status = -1;
    pid_t pid = spawn(argv, &gate);
    k->close(gate);
    ck_assert_int_eq(k->wait(pid, &status, NULL), 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}
END_TEST

/* The second child holds a copy of the first one's gate: the end of file alone would not come while it waits. */
START_TEST(command_is_abandoned_while_another_waits)
{
    char *const argv[] = {"true", NULL};
    int gate, later, status = 0;
    pid_t pid = spawn(argv, &gate), second = spawn(argv, &later);
    k->abandon(gate, pid);
    ck_assert_int_eq(k->wait(pid, &status, NULL), 0);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ck_assert_int_eq(k->release(later, NULL), 0);
    ck_assert_int_eq(k->wait(second, &status, NULL), 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}
END_TEST

START_TEST(what_is_not_our_child_is_not_killed)
{
    char *const argv[] = {"true", NULL};
    int gate;
    pid_t pid = spawn(argv, &gate), grandchild = -1;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t between = fork();
    if (between == 0) {
        grandchild = fork();
        if (grandchild == 0) {
            pause();
            _exit(0);
        }
        _exit(write(ends[1], &grandchild, sizeof grandchild) == (ssize_t)sizeof grandchild ? 0 : 1);
    }
    ck_assert_int_eq(k->wait(between, NULL, NULL), 0);
    ck_assert_int_eq(read(ends[0], &grandchild, sizeof grandchild), (ssize_t)sizeof grandchild);
    k->abandon(gate, grandchild);
    usleep(20000);
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)grandchild);
    FILE *f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%*d %*s %c", &state), 1);
    fclose(f);
    ck_assert(state == 'S' || state == 'R'); /* it may not have come to its pause() yet */
    ck_assert_int_eq(kill(grandchild, SIGKILL), 0);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(k->wait(pid, NULL, NULL), 0);
}
END_TEST

START_TEST(programs_that_change_rights_detach_events)
{
    char file[] = "/tmp/upmu-program-XXXXXX";
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fchmod(fd, 04755), 0);
    ck_assert(!k->exec_detaches(file)); /* one's own */
    ck_assert(!k->exec_detaches("sh"));
    ck_assert(!k->exec_detaches("/no/such/program"));
    if (geteuid() == 0) {
        ck_assert_int_eq(fchown(fd, 65534, 65534), 0);
        ck_assert_int_eq(fchmod(fd, 0755), 0);
        ck_assert(!k->exec_detaches(file));
        ck_assert_int_eq(fchmod(fd, 04755), 0);
        ck_assert(k->exec_detaches(file));
        ck_assert_int_eq(fchmod(fd, 02755), 0);
        ck_assert(k->exec_detaches(file));
        ck_assert_int_eq(setenv("PATH", "/no/such/folder:/tmp", 1), 0);
        ck_assert(k->exec_detaches(file + sizeof "/tmp/" - 1));
    }
    close(fd);
    unlink(file);
}
END_TEST

START_TEST(command_killed_at_the_gate_does_no_harm)
{
    char *const argv[] = {"true", NULL};
    int gate, status = 0;
    ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    pid_t pid = spawn(argv, &gate);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(k->wait(pid, &status, NULL), 0);
    ck_assert_int_eq(k->release(gate, NULL), -EPIPE);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

/* Beyond 2, the command may have descriptors of its own or of the test runner, but no event and no gate. */
static char look_for_ours[] = "for f in /proc/$$/fd/*; do [ ${f##*/} -le 2 ] || case $(readlink $f) in "
                              "*perf_event*|socket:*) exit 1; esac; done";

START_TEST(command_inherits_no_descriptor_of_ours)
{
    char *const argv[] = {"sh", "-c", look_for_ours, NULL};
    struct kernel_open req = {.type = KERNEL_TYPE_SOFTWARE, .exclude = UPMU_EXCLUDE_KERNEL, .config = 1, .cpu = -1};
    req.group_fd = -1;
    int event = k->open(&req);
    ck_assert_int_ge(event, 0);
    int gate, other, status = -1;
    char *const waiting[] = {"true", NULL};
    pid_t first = spawn(waiting, &other);
    pid_t pid = spawn(argv, &gate);
    ck_assert_int_eq(k->release(gate, NULL), 0);
    ck_assert_int_eq(k->wait(pid, &status, NULL), 0);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    k->close(other);
    ck_assert_int_eq(k->wait(first, NULL, NULL), 0);
    k->close(event);
}
END_TEST

START_TEST(signals_of_the_command_are_those_of_the_caller)
{
    char *const argv[] = {"sh", "-c", "grep -q '^SigIgn:.*1000$' /proc/self/status", NULL};
    int gate, status = -1;
    ck_assert(signal(SIGPIPE, SIG_IGN) != SIG_ERR); /* signal 13 is bit 12: 0x1000 */
    pid_t pid = spawn(argv, &gate);
    ck_assert_int_eq(k->release(gate, NULL), 0);
    ck_assert_int_eq(k->wait(pid, &status, NULL), 0);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(waiting_without_a_child_is_echild)
{
    ck_assert_int_eq(k->wait(1, NULL, NULL), -ECHILD);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("spawn");
    tcase_set_timeout(cases, 30);
    tcase_add_test(cases, command_runs_after_release_only);
    tcase_add_test(cases, use_before_exec_is_distinguished);
    tcase_add_test(cases, exec_error_comes_back);
    tcase_add_test(cases, abandoned_command_leaves_quietly);
    tcase_add_test(cases, command_is_abandoned_while_another_waits);
    tcase_add_test(cases, what_is_not_our_child_is_not_killed);
    tcase_add_test(cases, programs_that_change_rights_detach_events);
    tcase_add_test(cases, command_killed_at_the_gate_does_no_harm);
    tcase_add_test(cases, command_inherits_no_descriptor_of_ours);
    tcase_add_test(cases, signals_of_the_command_are_those_of_the_caller);
    tcase_add_test(cases, waiting_without_a_child_is_echild);
    return run_suite("kernel spawn", cases);
}
