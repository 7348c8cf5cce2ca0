/* SPDX-License-Identifier: MIT */
/*
 * Remedies that change a setting of the whole machine, each applied as it is written: 'sysctl KEY=VALUE' becomes a write to
 * /proc/sys. tests/cli/remedies.sh tries the others.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/check/refusal.h"
#include "guest.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define MLOCK_KB "/proc/sys/kernel/perf_event_mlock_kb"
#define USER_ACCESS "/proc/sys/kernel/perf_user_access"

enum { NOBODY = 65534, TEXT_MAX = 1024, TYPE_TRACEPOINT = 2, PINNED_MAX = 32 };

/* What an attempt came to: an empty text, or the reason why it failed with its remedy. */
typedef void (*attempt_fn)(char *reason);

/* The same as a user without rights. */
static void as_nobody(attempt_fn attempt, char *reason)
{
    int ends[2], status;
    reason[0] = '\0';
    if (pipe(ends) != 0)
        guest_skip("no pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        char mine[TEXT_MAX] = "the user could not be changed";
        if (setgid(NOBODY) == 0 && setuid(NOBODY) == 0)
            attempt(mine);
        _exit(write(ends[1], mine, sizeof mine) == sizeof mine ? 0 : 1);
    }
    close(ends[1]);
    EXPECT(read(ends[0], reason, TEXT_MAX) == TEXT_MAX, "the child sent nothing");
    close(ends[0]);
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0, "the child failed");
}

/* Follow "Run 'sysctl KEY=VALUE' as root". @return whether there was one. */
static bool follow(const char *reason)
{
    char key[128], path[200];
    int value;
    const char *at = strstr(reason, "'sysctl ");
    if (!at || sscanf(at, "'sysctl %127[a-z0-9_.]=%d'", key, &value) != 2)
        return false;
    for (char *dot = key; (dot = strchr(dot, '.'));)
        *dot = '/';
    snprintf(path, sizeof path, "/proc/sys/%s", key);
    return guest_sysctl(path, value);
}

/* The attempt fails, its remedy is applied, and it succeeds. */
static void try_remedy(void (*run)(attempt_fn, char *), attempt_fn attempt)
{
    char reason[TEXT_MAX] = "";
    run(attempt, reason);
    EXPECT(reason[0] != '\0', "it works without a remedy");
    guest_note("%s", reason);
    EXPECT(follow(reason), "no remedy in: %s", reason);
    run(attempt, reason);
    EXPECT(reason[0] == '\0', "still: %s", reason);
}

static void as_root(attempt_fn attempt, char *reason)
{
    attempt(reason);
}

/* ------------------------------------------------------------------------------------------- perf_event_paranoid */

static void open_set(const char *event, const struct upmu_set_opts *opts, char *reason)
{
    struct upmu_set *set;
    int rc = upmu_set_open(&set, event, opts);
    snprintf(reason, TEXT_MAX, "%s", rc < 0 ? upmu_error() : upmu_set_reason(set, 0));
    upmu_set_close(set);
}

static void count_user_mode(char *reason)
{
    open_set("page-faults:u", NULL, reason);
}

static void count_kernel_mode(char *reason)
{
    open_set("cpu-migrations", NULL, reason);
}

static void count_cpu(char *reason)
{
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_CPU};
    open_set("page-faults", &opts, reason);
}

static void paranoid_for_user_mode(void)
{
    char reason[TEXT_MAX];
    EXPECT(guest_sysctl(PARANOID, 3), "paranoid 3");
    as_nobody(count_user_mode, reason);
    if (reason[0] == '\0')
        guest_skip("this kernel refuses user mode to no user");
    try_remedy(as_nobody, count_user_mode);
}

static void paranoid_for_kernel_mode(void)
{
    EXPECT(guest_sysctl(PARANOID, 2), "paranoid 2");
    try_remedy(as_nobody, count_kernel_mode);
}

static void paranoid_for_a_cpu(void)
{
    EXPECT(guest_sysctl(PARANOID, 1), "paranoid 1");
    try_remedy(as_nobody, count_cpu);
}

static uint64_t function_tracepoint;

static void count_tracepoint(char *reason)
{
    const struct kernel_ops *k = &upmu_kernel_perf;
    const struct kernel_open req = {.type = TYPE_TRACEPOINT,
                                    .config = function_tracepoint,
                                    .cpu = -1,
                                    .group_fd = -1,
                                    .exclude = UPMU_EXCLUDE_KERNEL};
    const struct explain_context context = {.event = "ftrace:function", .type = TYPE_TRACEPOINT, .cpu = -1};
    int fd = k->open(&req);
    reason[0] = '\0';
    if (fd >= 0)
        k->close(fd);
    else if (explain_open_failure(k, fd, &context) < 0)
        snprintf(reason, TEXT_MAX, "%s", upmu_error());
}

static void paranoid_for_tracepoints(void)
{
    FILE *file = fopen("/sys/kernel/tracing/events/ftrace/function/id", "re");
    if (!file || fscanf(file, "%" SCNu64, &function_tracepoint) != 1)
        guest_skip("this kernel has no tracepoint that is refused");
    fclose(file);
    EXPECT(guest_sysctl(PARANOID, 2), "paranoid 2");
    try_remedy(as_nobody, count_tracepoint);
}

/* --------------------------------------------------------------------------------------------------- the doctor */

struct wanted {
    const char *topic;
    char *reason;
};

static int note_finding(const struct upmu_diagnosis *f, void *arg)
{
    const struct wanted *w = arg;
    if (strcmp(f->topic, w->topic) == 0 && f->state != UPMU_DIAGNOSIS_OK)
        snprintf(w->reason, TEXT_MAX, "%s. %s", f->text, f->remedy);
    return 0;
}

static void diagnose(const char *topic, char *reason)
{
    struct wanted w = {.topic = topic, .reason = reason};
    reason[0] = '\0';
    EXPECT(upmu_diagnose(note_finding, &w) == 0, "%s", upmu_error());
}

static void read_in_user_space(char *reason)
{
    diagnose("user-read", reason);
}

static void user_access(void)
{
    if (access(USER_ACCESS, F_OK) != 0)
        guest_skip("this kernel has no perf_user_access");
    EXPECT(guest_sysctl(USER_ACCESS, 0), "perf_user_access 0");
    try_remedy(as_root, read_in_user_space);
}

static void locked_memory(void)
{
    const struct rlimit none = {0, 0};
    EXPECT(guest_sysctl(MLOCK_KB, 0) && setrlimit(RLIMIT_MEMLOCK, &none) == 0, "no memory may be locked");
    EXPECT(guest_sysctl(PARANOID, 1), "paranoid 1");
    if (access(USER_ACCESS, F_OK) == 0)
        EXPECT(guest_sysctl(USER_ACCESS, 1), "perf_user_access 1");
    try_remedy(as_nobody, read_in_user_space);
}

/* A counter that is taken for good. */
static int pinned_counter(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .size = sizeof attr, .pinned = 1};
    attr.config = PERF_COUNT_HW_CPU_CYCLES;
    return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

static void other_users_of_the_pmu(void)
{
    int fds[PINNED_MAX];
    char reason[TEXT_MAX];
    for (size_t i = 0; i < PINNED_MAX; i++)
        fds[i] = pinned_counter();
    diagnose("hardware-counters", reason);
    guest_note("%s", reason);
    EXPECT(strstr(reason, "Stop the other users of the PMU") != NULL, "no remedy in: %s", reason);
    for (size_t i = 0; i < PINNED_MAX; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    diagnose("hardware-counters", reason);
    EXPECT(reason[0] == '\0', "still: %s", reason);
}

int main(void)
{
    static const struct guest_test tests[] = {
        {"sysctl_that_grants_user_mode", paranoid_for_user_mode},
        {"sysctl_that_grants_kernel_mode", paranoid_for_kernel_mode},
        {"sysctl_that_grants_a_cpu", paranoid_for_a_cpu},
        {"sysctl_that_grants_tracepoints", paranoid_for_tracepoints},
        {"sysctl_that_grants_reads_in_user_space", user_access},
        {"sysctl_that_grants_locked_memory", locked_memory},
        {"stopping_the_other_users_of_the_pmu", other_users_of_the_pmu},
    };
    return guest_run(tests, sizeof tests / sizeof *tests);
}
