/* SPDX-License-Identifier: MIT */
/* fork(), _Fork(), vfork(), posix_spawn(), daemon() and exec() in a program that uses locks.
 *
 * Each process that uses them prints a line "worker PID".
 *
 *     sync_fork                     all of them
 *     sync_fork away DIRECTORY TO   fork() after a file has taken the place of the directory */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        if (i == 0)
            usleep(1000);
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

/* Two threads, 100 pairs each. */
static void work_in_threads(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, work, NULL) != 0)
            exit(1);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("worker %d\n", (int)getpid());
    fflush(stdout);
}

static void wait_for(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        printf("a child failed\n");
        exit(1);
    }
}

static pid_t plain_fork(void)
{
    return fork();
}

static void fork_with(pid_t (*how)(void), int grandchild)
{
    pthread_mutex_lock(&mutex); /* held over the fork: released on both sides */
    pid_t pid = how();
    if (pid == 0) {
        pthread_mutex_unlock(&mutex);
        work_in_threads();
        if (grandchild)
            fork_with(plain_fork, 0);
        if (grandchild)
            exit(0);
        _exit(0);
    }
    pthread_mutex_unlock(&mutex);
    wait_for(pid);
}

/* These children touch locks, and must write nothing. */
static void quiet_child(pid_t (*how)(void))
{
    pid_t pid = how();
    if (pid == 0) {
        for (int i = 0; i < 1000; i++) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
        _exit(0);
    }
    wait_for(pid);
}

static void vfork_and_exec(const char *self)
{
    pid_t pid = vfork();
    if (pid == 0) {
        execl(self, self, "again", (char *)NULL);
        _exit(1);
    }
    wait_for(pid);
}

static void spawn(char *self)
{
    char again[] = "again", *argv[] = {self, again, NULL};
    pid_t pid;
    if (posix_spawn(&pid, self, NULL, NULL, argv, environ) != 0)
        exit(1);
    wait_for(pid);
}

/* The one in the middle, which daemon() leaves behind, does no work. The end of the pipe is the daemon's. */
static void run_daemon(void)
{
    int ends[2];
    char c;
    if (pipe(ends) != 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        if (daemon(1, 1) != 0)
            _exit(1);
        work_in_threads();
        exit(0);
    }
    close(ends[1]);
    wait_for(pid);
    if (read(ends[0], &c, 1) != 0)
        exit(1);
    close(ends[0]);
}

static int work_without_directory(const char *directory, const char *to)
{
    FILE *file = NULL;
    if (rename(directory, to) != 0 || !(file = fopen(directory, "w")))
        return 1;
    (void)fclose(file);
    fork_with(plain_fork, 0);
    return 0;
}

int main(int argc, char **argv)
{
    work_in_threads();
    if (argc > 3)
        return work_without_directory(argv[2], argv[3]);
    if (argc > 1)
        return 0;
    fork_with(plain_fork, 1);
    quiet_child(plain_fork);
    quiet_child(_Fork);
    vfork_and_exec(argv[0]);
    spawn(argv[0]);
    run_daemon();
    work_in_threads();
    execl(argv[0], argv[0], "again", (char *)NULL);
    return 1;
}
