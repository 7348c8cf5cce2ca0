/* SPDX-License-Identifier: MIT */
/* Prints which descriptors a program gets: the lowest free ones, before and after its first lock and thread. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void print_number(const char *when)
{
    int pair[2];
    int fd = open("/dev/null", O_RDONLY);
    if (fd < 0 || pipe2(pair, O_CLOEXEC) != 0)
        abort();
    printf("%s: %d, %d, %d\n", when, fd, pair[0], pair[1]);
    close(fd);
    close(pair[0]);
    close(pair[1]);
}

static void *lock_once(void *arg)
{
    if (pthread_mutex_lock(&mutex) != 0 || pthread_mutex_unlock(&mutex) != 0)
        abort();
    return arg;
}

int main(void)
{
    pthread_t t;
    print_number("at the start");
    (void)lock_once(NULL);
    print_number("after a lock");
    if (pthread_create(&t, NULL, lock_once, NULL) != 0 || pthread_join(t, NULL) != 0)
        return 1;
    print_number("after a thread");
    return 0;
}
