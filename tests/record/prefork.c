/* SPDX-License-Identifier: MIT */
/* Forked children: four that only read and sleep, one with a thread, and one that executes this program again. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READERS = 4 };

static int requests[2];

static void *work(void *arg)
{
    return arg;
}

static int with_thread(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0;
}

static int reader(void)
{
    char byte;
    close(requests[1]);
    usleep(1000);
    return read(requests[0], &byte, 1) != 0;
}

static int child(int i, char *program)
{
    if (i < READERS)
        return reader();
    if (i == READERS)
        return with_thread();
    execl(program, program, "leaf", (char *)NULL);
    return 1;
}

int main(int argc, char **argv)
{
    int failed = 0, status;
    if (argc > 1)
        return with_thread();
    if (pipe(requests) != 0)
        return 1;
    for (int i = 0; i < READERS + 2; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(child(i, argv[0]));
        failed |= pid < 0;
    }
    close(requests[1]);
    while (wait(&status) > 0)
        failed |= status;
    printf("%ld\n", (long)getpid());
    return failed != 0;
}
