/* SPDX-License-Identifier: MIT */
/* Mutexes that one function creates: a thread waits for each of them, asleep. With arguments
 * it is one mutex: commands after a third and after two thirds of the waits. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOCKS = 12 };

struct entry {
    pthread_mutex_t *lock;
    pthread_t thread;
    _Atomic long tid;
};

static __attribute__((noinline)) pthread_mutex_t *make_lock(void)
{
    pthread_mutex_t *lock = malloc(sizeof *lock);
    if (!lock || pthread_mutex_init(lock, NULL) != 0)
        exit(1);
    return lock;
}

static void *wait_for_it(void *arg)
{
    struct entry *e = arg;
    e->tid = syscall(SYS_gettid);
    pthread_mutex_lock(e->lock);
    pthread_mutex_unlock(e->lock);
    return NULL;
}

static int is_asleep(long tid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", tid);
    FILE *file = tid ? fopen(path, "re") : NULL;
    if (!file)
        return 0;
    int found = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return found == 1 && state == 'S';
}

int main(int argc, char **argv)
{
    static struct entry entries[LOCKS];
    for (int i = 0; i < LOCKS; i++) {
        struct entry *e = &entries[i];
        int third = i % (LOCKS / 3) == 0 ? i / (LOCKS / 3) : 0;
        if (third > 0 && third < argc && system(argv[third]) != 0)
            return 1;
        e->lock = i > 0 && argc > 1 ? entries[0].lock : make_lock();
        pthread_mutex_lock(e->lock);
        if (pthread_create(&e->thread, NULL, wait_for_it, e) != 0)
            return 1;
        while (!is_asleep(e->tid))
            usleep(1000);
        pthread_mutex_unlock(e->lock);
        pthread_join(e->thread, NULL);
    }
    return 0;
}
