/* SPDX-License-Identifier: MIT */
/* upmu_set_alive() for living and ended targets, zombies, and a first thread that ended alone. */
#include "support/behavior.h"

#include <signal.h>
#include <sys/wait.h>

static struct upmu_set *opened(struct upmu_set_opts opts)
{
    struct upmu_set *set;
    opts.size = sizeof opts;
    CHECK(upmu_set_open(&set, "page-faults", &opts) == 0, "open");
    return set;
}

static void command_lives_until_it_ends(void)
{
    char *argv[] = {(char *)"sleep", (char *)"1000", NULL};
    struct upmu_set *set = opened((struct upmu_set_opts){.target = UPMU_TARGET_COMMAND, .argv = argv});
    CHECK(upmu_set_alive(set) == 1, "before its start");
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(upmu_set_alive(set) == 1, "running");
    pid_t pid = upmu_set_pid(set);
    CHECK(kill(pid, SIGKILL) == 0, "kill");
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0, "waitid");
    CHECK(upmu_set_alive(set) == 0, "a zombie has ended");
    CHECK(upmu_set_wait(set, NULL) == 0, "wait");
    CHECK(upmu_set_alive(set) == 0, "waited for");
    upmu_set_close(set);
}

static void *sleep_until_cancelled(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

/* The child's first thread ends, its other one continues. */
static void child_without_first_thread(int out)
{
    start_thread(sleep_until_cancelled, NULL);
    CHECK(write(out, "", 1) == 1, "write");
    pthread_exit(NULL);
}

static char state_of(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    CHECK(f != NULL && fgets(text, sizeof text, f), "%s", path);
    fclose(f);
    return strrchr(text, ')')[2];
}

static void process_lives_as_long_as_one_thread_does(void)
{
    int out[2];
    char byte;
    CHECK(pipe(out) == 0, "pipe");
    pid_t pid = fork();
    CHECK(pid >= 0, "fork");
    if (pid == 0)
        child_without_first_thread(out[1]);
    CHECK(read(out[0], &byte, 1) == 1, "read");
    struct upmu_set *set = opened((struct upmu_set_opts){.target = UPMU_TARGET_PROCESS, .pid = pid});
    CHECK(upmu_set_alive(set) == 1, "both threads");
    for (int i = 0; i < 1000 && state_of(pid) != 'Z'; i++)
        usleep(10000);
    CHECK(state_of(pid) == 'Z', "%c", state_of(pid));
    CHECK(upmu_set_alive(set) == 1, "the first thread alone has ended");
    CHECK(kill(pid, SIGKILL) == 0, "kill");
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0, "waitid");
    CHECK(upmu_set_alive(set) == 0, "a zombie");
    CHECK(waitpid(pid, NULL, 0) == pid, "waitpid");
    CHECK(upmu_set_alive(set) == 0, "gone");
    upmu_set_close(set);
}

static void *open_own(void *arg)
{
    struct upmu_set **set = arg;
    *set = opened((struct upmu_set_opts){.target = UPMU_TARGET_THREAD});
    CHECK(upmu_set_alive(*set) == 1, "asked by itself");
    return NULL;
}

static void thread_ends(void)
{
    struct upmu_set *set;
    join_thread(start_thread(open_own, &set));
    for (int i = 0; i < 1000 && upmu_set_alive(set) == 1; i++)
        usleep(1000); /* joined a moment before the kernel has taken it apart */
    CHECK(upmu_set_alive(set) == 0, "%d", upmu_set_alive(set));
    upmu_set_close(set);
}

static void forked_child_is_refused(void)
{
    int status;
    struct upmu_set *set = opened((struct upmu_set_opts){.target = UPMU_TARGET_THREAD});
    pid_t pid = fork();
    if (pid == 0)
        _exit(upmu_set_alive(set) == UPMU_E_STATE ? 0 : 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "%#x", (unsigned)status);
    upmu_set_close(set);
}

int main(void)
{
    CHECK(upmu_set_alive(NULL) == UPMU_E_INVAL, "no set");
    command_lives_until_it_ends();
    process_lives_as_long_as_one_thread_does();
    thread_ends();
    forked_child_is_refused();
    return 0;
}
