/* SPDX-License-Identifier: MIT */
/* Main program of the deadlock corpus, and of the hard cases: runs one case. */
#include "cases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned current_turn;

void dl_must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "corpus: %s: %s\n", what, strerror(rc > 0 ? rc : errno));
    _exit(1);
}

pthread_t dl_start(void *(*function)(void *), void *arg)
{
    pthread_t t;
    MUST(pthread_create(&t, NULL, function, arg));
    return t;
}

void dl_rest(unsigned ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

void dl_until_asleep(pid_t tid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    while (state != 'S') {
        dl_rest(1);
        FILE *f = fopen(path, "re");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            dl_must(errno, path);
        (void)fclose(f);
    }
}

void dl_meet(struct dl_meeting *m, unsigned n)
{
    __atomic_fetch_add(&m->come, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&m->come, __ATOMIC_ACQUIRE) < n)
        dl_rest(1);
}

void dl_mutex(pthread_mutex_t *m, int type)
{
    pthread_mutexattr_t attr;
    MUST(pthread_mutexattr_init(&attr));
    MUST(pthread_mutexattr_settype(&attr, type));
    MUST(pthread_mutex_init(m, &attr));
    MUST(pthread_mutexattr_destroy(&attr));
}

struct cross {
    pthread_mutex_t *mine, *other;
    struct dl_meeting *meeting;
};

static void *take_both(void *arg)
{
    const struct cross *c = arg;
    MUST(pthread_mutex_lock(c->mine));
    dl_meet(c->meeting, 2);
    MUST(pthread_mutex_lock(c->other));
    return NULL;
}

void dl_cross(pthread_mutex_t *a, pthread_mutex_t *b)
{
    struct dl_meeting meeting = {0};
    struct cross x = {a, b, &meeting}, y = {b, a, &meeting};
    pthread_t s = dl_start(take_both, &x), t = dl_start(take_both, &y);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

void dl_turn(unsigned mine)
{
    while (__atomic_load_n(&current_turn, __ATOMIC_ACQUIRE) != mine)
        dl_rest(1);
}

void dl_next(void)
{
    __atomic_fetch_add(&current_turn, 1, __ATOMIC_RELEASE);
}

void dl_both(void *(*x)(void *), void *(*y)(void *))
{
    pthread_t s = dl_start(x, NULL), t = dl_start(y, NULL);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static bool run_named(const struct dl_case *cases, const char *name)
{
    for (; cases->name; cases++) {
        if (strcmp(cases->name, name) != 0)
            continue;
        cases->run();
        return true;
    }
    return false;
}

static void write_pid(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%ld\n", (long)getpid()) < 0 || fclose(f) != 0)
        dl_must(errno, path);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s CASE PIDFILE\n", argv[0]);
        return 2;
    }
    write_pid(argv[2]);
    for (size_t i = 0; dl_cases[i]; i++)
        if (run_named(dl_cases[i], argv[1]))
            return 0;
    fprintf(stderr, "%s: no case %s\n", argv[0], argv[1]);
    return 2;
}
