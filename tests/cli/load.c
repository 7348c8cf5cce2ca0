/* SPDX-License-Identifier: MIT */
/*
 * A program with a known load.
 *
 *   load touch PAGES            touch PAGES new pages, one fault each
 *   load spin THREADS SECONDS   keep THREADS threads busy
 *   load faults THREADS PAGES   start the threads, print "ready", wait for a line, then touch PAGES in each thread
 *   load ignore SECONDS         ignore SIGINT, print "ready", sleep, exit 7
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

struct job {
    pthread_barrier_t start;
    size_t pages;
    double seconds;
};

static void die(const char *what)
{
    perror(what);
    exit(99);
}

/* One fault per page: no huge pages, no read-ahead around a fault of anonymous memory. */
static void touch(size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *area = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        die("mmap");
    (void)madvise(area, pages * page, MADV_NOHUGEPAGE); /* an error on kernels without huge pages */
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)area)[i * page] = 1;
    if (munmap(area, pages * page) != 0)
        die("munmap");
}

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void *worker(void *arg)
{
    struct job *job = arg;
    pthread_barrier_wait(&job->start);
    double end = now() + job->seconds;
    while (now() < end)
        ;
    if (job->pages > 0)
        touch(job->pages);
    return NULL;
}

static void run(struct job *job, unsigned threads, int wait_for_line)
{
    pthread_t ids[THREADS_MAX];

    if (threads == 0 || threads > THREADS_MAX || pthread_barrier_init(&job->start, NULL, threads + 1) != 0)
        die("threads");
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, worker, job) != 0)
            die("pthread_create");
    puts("ready");
    fflush(stdout);
    if (wait_for_line && getchar() == EOF)
        die("no line");
    pthread_barrier_wait(&job->start);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

static int ignore_interrupt(double seconds)
{
    struct timespec ts = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    signal(SIGINT, SIG_IGN);
    puts("ready");
    fflush(stdout);
    nanosleep(&ts, NULL);
    return 7;
}

int main(int argc, char **argv)
{
    struct job job = {.pages = 0};
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "touch") == 0 && argc == 3) {
        touch(strtoul(argv[2], NULL, 10));
    } else if (strcmp(what, "spin") == 0 && argc == 4) {
        job.seconds = strtod(argv[3], NULL);
        run(&job, (unsigned)strtoul(argv[2], NULL, 10), 0);
    } else if (strcmp(what, "faults") == 0 && argc == 4) {
        job.pages = strtoul(argv[3], NULL, 10);
        run(&job, (unsigned)strtoul(argv[2], NULL, 10), 1);
    } else if (strcmp(what, "ignore") == 0 && argc == 3) {
        return ignore_interrupt(strtod(argv[2], NULL));
    } else {
        fputs("usage: load touch PAGES | spin THREADS SECONDS | faults THREADS PAGES | ignore SECONDS\n", stderr);
        return 99;
    }
    return 0;
}
