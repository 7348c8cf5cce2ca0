/* SPDX-License-Identifier: MIT */
/*
 * Exact counts of locks that reuse an address one after the other.
 *
 * One thread ends a lock that another used, by destroying it or, with the argument `freed` or `unmapped`, by freeing its
 * memory, while threads keep counting at that address.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "../read_object.h"

#include "upmu/analysis.h"

enum { LIVES = 4, WORKERS = 2 };

enum how { DESTROYED, FREED, UNMAPPED };
static const char *const how_names[] = {[DESTROYED] = "destroyed", [FREED] = "freed", [UNMAPPED] = "unmapped"};

static pthread_mutex_t *mutex;
static uintptr_t place; /* of all of them */
static pthread_barrier_t turn;

/* In life n worker i takes the mutex so often. */
static uint64_t share(int life, int worker)
{
    return (uint64_t)(1 + 10 * life + 3 * worker);
}

static void *work(void *arg)
{
    int worker = (int)(intptr_t)arg;
    for (int life = 0; life < LIVES; life++) {
        pthread_barrier_wait(&turn); /* the mutex lives */
        /* One of them does not use the second lock. */
        for (uint64_t n = life == 1 && worker == 1 ? 0 : share(life, worker); n > 0; n--) {
            CHECK(pthread_mutex_lock(mutex) == 0);
            CHECK(pthread_mutex_unlock(mutex) == 0);
        }
        pthread_barrier_wait(&turn); /* it is done with */
    }
    return NULL;
}

/* At the address of the one before, if there was one. */
static void make(enum how how)
{
    static pthread_mutex_t still;
    if (how == DESTROYED) {
        mutex = &still;
        place = (uintptr_t)mutex;
        CHECK(pthread_mutex_init(mutex, NULL) == 0);
        return;
    }
    mutex = how == FREED ? malloc(sizeof *mutex)
                         : mmap((void *)place, sizeof *mutex, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    CHECK(mutex && mutex != MAP_FAILED && (place == 0 || place == (uintptr_t)mutex));
    place = (uintptr_t)mutex;
    *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void give_back(enum how how)
{
    if (how == DESTROYED)
        CHECK(pthread_mutex_destroy(mutex) == 0);
    if (how == UNMAPPED)
        CHECK(munmap(mutex, sizeof *mutex) == 0);
    if (how == FREED)
        free(mutex);
}

static void live(enum how how)
{
    pthread_t t[WORKERS];
    CHECK(pthread_barrier_init(&turn, NULL, WORKERS + 1) == 0);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&t[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int life = 0; life < LIVES; life++) {
        make(how);
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        give_back(how);
    }
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
}

static void check_lives(uintptr_t address, enum how how)
{
    struct upmu_overview *o;
    struct upmu_overview_object object = {.size = sizeof object};
    unsigned seen = 0;
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (size_t i = 0; upmu_overview_object_at(o, i, &object) == 0; i++) {
        if (object.address != address || object.type != UPMU_OBJECT_MUTEX)
            continue;
        int life = (int)object.generation;
        CHECK(life < LIVES && object.created == (how == DESTROYED) && object.destroyed);
        CHECK(object.acquisitions == share(life, 0) + (life == 1 ? 0 : share(life, 1)));
        CHECK(object.counts_exact);
        seen |= 1u << life;
    }
    CHECK(seen == (1u << LIVES) - 1);
    upmu_overview_close(o);
}

int main(int argc, char **argv)
{
    int status = 1;
    enum how how = DESTROYED;
    while (argc == 2 && how < UNMAPPED && strcmp(argv[1], how_names[how]) != 0)
        how++;
    /* Where it lay is known in the child. */
    uintptr_t *address = mmap(NULL, sizeof *address, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(address != MAP_FAILED && mkdtemp(dir) != NULL);
    pid_t child = fork();
    if (child == 0) { /* counts are exact once the process has ended well */
        begin(UPMU_SYNC_CONTENDED);
        live(how);
        *address = place;
        end();
        exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    check_lives(*address, how);
    char command[sizeof dir + 16];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) != 0;
}
