/* SPDX-License-Identifier: MIT */
/*
 * A deadlock after a long recording.
 *
 *     long PAIRS NAMES PIDFILE     lock and unlock pairs; locks with long names
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "corpus/cases.h"
#include "upmu/sync.h"

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER, first, second;
static pthread_rwlock_t side = PTHREAD_RWLOCK_INITIALIZER;
static unsigned come;

void dl_must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(rc));
    exit(1);
}

static void work(long pairs)
{
    for (long i = 0; i < pairs; i++) {
        MUST(pthread_mutex_lock(&busy));
        MUST(pthread_mutex_unlock(&busy));
    }
}

static void name_locks(long n)
{
    static pthread_mutex_t some[1024];
    char name[240];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (long i = 0; i < n; i++)
        upmu_lock_name(&some[i % 1024], name);
}

static void write_pid(const char *path)
{
    FILE *f = fopen(path, "w");
    MUST(!f || fprintf(f, "%ld\n", (long)getpid()) < 0 || fclose(f) != 0);
}

static bool main_is_asleep(void)
{
    char line[256] = "";
    snprintf(line, sizeof line, "/proc/self/task/%ld/stat", (long)getpid());
    FILE *f = fopen(line, "r");
    const char *end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (f)
        fclose(f);
    return end && strncmp(end, ") S", 3) == 0;
}

/* The main thread waits for the end of this one before the deadlock, so a report of the deadlock names it: it may take two
 * seconds to begin its wait if it is the last thread to wait, and there is another one that is not recorded, as that of
 * ThreadSanitizer. */
static void await_main(void)
{
    enum { SURE = 5 }; /* it sleeps for nothing else as long as this */
    for (int seen = 0; seen < SURE; usleep(1000))
        seen = main_is_asleep() ? seen + 1 : 0;
}

static void *cross(void *arg)
{
    pthread_mutex_t *mine = arg, *other = mine == &first ? &second : &first;
    MUST(pthread_rwlock_rdlock(&side));
    MUST(pthread_mutex_lock(mine));
    __atomic_add_fetch(&come, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&come, __ATOMIC_SEQ_CST) < 2)
        usleep(1000);
    await_main();
    MUST(pthread_mutex_lock(other));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t x, y;
    MUST(argc != 4);
    /* A lock's name ends with it: a new lock at its address has none. */
    MUST(pthread_mutex_init(&first, NULL));
    upmu_lock_name(&first, "gone");
    MUST(pthread_mutex_destroy(&first));
    MUST(pthread_mutex_init(&first, NULL));
    MUST(pthread_mutex_init(&second, NULL));
    name_locks(strtol(argv[2], NULL, 10));
    upmu_lock_name(&second, "ledger");
    work(strtol(argv[1], NULL, 10));
    write_pid(argv[3]);
    MUST(pthread_create(&x, NULL, cross, &first));
    MUST(pthread_create(&y, NULL, cross, &second));
    MUST(pthread_join(x, NULL));
    MUST(pthread_join(y, NULL));
    return 0;
}
