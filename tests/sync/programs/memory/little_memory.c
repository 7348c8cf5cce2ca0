/* SPDX-License-Identifier: MIT */
/* A program that makes threads until its address space is nearly used up, and locks in all of them: "fine" if they all did
 * what they would without a recorder. The argument is what it leaves itself, in MiB. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS = 20, ROUNDS = 50, STACK = 64 << 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *work(void *arg)
{
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        usleep(10);
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static int limit_memory(long mib)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1 || fclose(f) != 0)
        return -1;
    rlim_t bytes = (rlim_t)(pages * sysconf(_SC_PAGESIZE)) + ((rlim_t)mib << 20);
    const struct rlimit limit = {bytes, bytes};
    return setrlimit(RLIMIT_AS, &limit);
}

int main(int argc, char **argv)
{
    pthread_t t[THREADS];
    pthread_attr_t attr;
    int made = 0;
    if (argc != 2 || pthread_attr_init(&attr) != 0 || pthread_attr_setstacksize(&attr, STACK) != 0)
        return 1;
    pthread_barrier_init(&barrier, NULL, THREADS);
    if (limit_memory(atol(argv[1])) != 0)
        return 1;
    while (made < THREADS && pthread_create(&t[made], &attr, work, NULL) == 0)
        made++;
    if (made < THREADS) {
        (void)fprintf(stderr, "only %d threads could be made\n", made);
        _exit(1);
    }
    for (int i = 0; i < made; i++)
        pthread_join(t[i], NULL);
    puts("fine");
    return 0;
}
