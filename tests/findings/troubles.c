/* SPDX-License-Identifier: MIT */
/* Programs with one built-in trouble each, and healthy ones. Work is mostly sleep, so that a loaded machine changes little. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, HERD = 8 };

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER, drawer = PTHREAD_MUTEX_INITIALIZER;
static sem_t baton[THREADS];
static pthread_barrier_t gate;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int items;
static atomic_uint sink;

static void nap(long ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void spin(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        atomic_fetch_add_explicit(&sink, 1, memory_order_relaxed);
}

__attribute__((noinline)) static void write_ledger(void)
{
    pthread_mutex_lock(&ledger);
    nap(8);
    pthread_mutex_unlock(&ledger);
}

static void *clerk(void *arg)
{
    for (int i = 0; i < 10; i++)
        write_ledger();
    return arg;
}

/* One lock for two tables that have nothing to do with each other. */
__attribute__((noinline)) static void update_prices(void)
{
    pthread_mutex_lock(&ledger);
    nap(8);
    pthread_mutex_unlock(&ledger);
}

__attribute__((noinline)) static void update_stock(void)
{
    pthread_mutex_lock(&ledger);
    nap(6);
    pthread_mutex_unlock(&ledger);
}

static void *updater(void *arg)
{
    for (int i = 0; i < 40; i++)
        if (arg)
            update_stock();
        else
            update_prices();
    return NULL;
}

/* Each wakes the next one after next to no work. */
static void *runner(void *arg)
{
    size_t mine = (size_t)arg;
    for (int i = 0; i < 2000; i++) {
        sem_wait(&baton[mine]);
        spin(20);
        sem_post(&baton[(mine + 1) % THREADS]);
    }
    return NULL;
}

static void *stage(void *arg)
{
    long mine = (long)arg;
    for (int i = 0; i < 5; i++) {
        nap(mine == 0 ? 60 : 10);
        pthread_barrier_wait(&gate);
    }
    return NULL;
}

/* The others wait before recording begins. */
static void *late_stage(void *arg)
{
    if (arg == NULL) {
        nap(100);
        if (system("\"$UPMU\" ctl \"$PPID\" start >&2") != 0)
            abort();
        nap(200);
    }
    pthread_barrier_wait(&gate);
    return NULL;
}

static void *even_stage(void *arg)
{
    for (int i = 0; i < 4; i++) {
        nap(150);
        pthread_barrier_wait(&gate);
    }
    return arg;
}

static void *part(void *arg)
{
    nap((long)arg == 2 ? 400 : 50);
    return NULL;
}

static void *even_part(void *arg)
{
    nap(200);
    return arg;
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Uses the CPU, however long that takes. */
static void work(long ms)
{
    for (int64_t end = cpu_ns() + (int64_t)ms * 1000000; cpu_ns() < end;)
        spin(1000);
}

static void *cruncher(void *arg)
{
    work(100);
    return arg;
}

static void *fair_part(void *arg)
{
    work(200);
    return arg;
}

static void *unfair_part(void *arg)
{
    work(arg ? 100 : 400);
    return arg;
}

static void *fair_stage(void *arg)
{
    for (int i = 0; i < 6; i++) {
        work(30);
        pthread_barrier_wait(&gate);
    }
    return arg;
}

static void *unfair_stage(void *arg)
{
    for (int i = 0; i < 6; i++) {
        work(arg ? 10 : 70);
        pthread_barrier_wait(&gate);
    }
    return arg;
}

static void *rare_clerk(void *arg)
{
    for (int i = 0; i < 20; i++) {
        nap(10);
        pthread_mutex_lock(&ledger);
        spin(10);
        pthread_mutex_unlock(&ledger);
    }
    return arg;
}

/* It holds the lock all the time, and the others need it only once it has ended: they wait for a moment, if at all. */
static void *owner(void *arg)
{
    static atomic_int ended;
    for (int i = 0; !arg && i < 8; i++) {
        pthread_mutex_lock(&ledger);
        nap(4);
        pthread_mutex_unlock(&ledger);
    }
    if (!arg)
        atomic_store(&ended, 1);
    while (!atomic_load(&ended))
        nap(1);
    pthread_mutex_lock(&ledger);
    pthread_mutex_unlock(&ledger);
    nap(arg ? 6 : 8); /* the critical path is that of the owner */
    return NULL;
}

static void *consumer(void *arg)
{
    for (int i = 0; i < 40; i++) {
        pthread_mutex_lock(&ledger);
        while (items == 0)
            pthread_cond_wait(&ready, &ledger);
        items--;
        pthread_mutex_unlock(&ledger);
    }
    return arg;
}

static void *producer(void *arg)
{
    for (int i = 0; i < 40; i++) {
        nap(5);
        pthread_mutex_lock(&ledger);
        items++;
        pthread_mutex_unlock(&ledger);
        pthread_cond_signal(&ready);
    }
    return arg;
}

static void *crossed(void *arg)
{
    pthread_mutex_t *first = arg ? &ledger : &drawer, *second = arg ? &drawer : &ledger;
    pthread_mutex_lock(first);
    nap(100);
    pthread_mutex_lock(second);
    return NULL;
}

/* Reads from a timer, as from a slow disk, while it holds the lock. */
__attribute__((noinline)) static void read_ledger(void)
{
    uint64_t times;
    const struct itimerspec in = {.it_value = {.tv_nsec = 8000000}};
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_mutex_lock(&ledger);
    if (timerfd_settime(timer, 0, &in, NULL) != 0 || read(timer, &times, sizeof times) != sizeof times)
        abort();
    pthread_mutex_unlock(&ledger);
    close(timer);
}

static void *reader(void *arg)
{
    for (int i = 0; i < 10; i++)
        read_ledger();
    return arg;
}

/* Makes a file safe on its disk while it holds the lock. */
__attribute__((noinline)) static void save_ledger(int fd)
{
    static const char page[65536] = "x";
    pthread_mutex_lock(&ledger);
    if (write(fd, page, sizeof page) != sizeof page || fsync(fd) != 0)
        abort();
    pthread_mutex_unlock(&ledger);
}

static void *saver(void *arg)
{
    char path[] = "ledger-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || unlink(path) != 0)
        abort();
    for (int i = 0; i < 20; i++)
        save_ledger(fd);
    close(fd);
    return arg;
}

/* Each waits for its turn; a broadcast wakes all. */
static void *turner(void *arg)
{
    for (int i = 0; i < 12; i++) {
        pthread_mutex_lock(&ledger);
        while (items % HERD != (long)arg)
            pthread_cond_wait(&ready, &ledger);
        pthread_mutex_unlock(&ledger);
        nap(2);
        pthread_mutex_lock(&ledger);
        items++;
        pthread_cond_broadcast(&ready);
        pthread_mutex_unlock(&ledger);
    }
    return NULL;
}

/* As turner(), where a look at whose turn it is takes a while, which no other thread can use. */
static bool is_turn(long mine)
{
    nap(2);
    return items % HERD == mine;
}

static void *slow_turner(void *arg)
{
    for (int i = 0; i < 12; i++) {
        pthread_mutex_lock(&ledger);
        while (!is_turn((long)arg))
            pthread_cond_wait(&ready, &ledger);
        items++;
        pthread_cond_broadcast(&ready);
        pthread_mutex_unlock(&ledger);
    }
    return NULL;
}

/* A broadcast after which each has work. */
static void *gatherer(void *arg)
{
    for (int i = 1; i <= 15; i++) {
        pthread_mutex_lock(&ledger);
        if (++items == HERD * i)
            pthread_cond_broadcast(&ready);
        while (items < HERD * i)
            pthread_cond_wait(&ready, &ledger);
        pthread_mutex_unlock(&ledger);
        nap(10);
    }
    return arg;
}

static void run(void *(*of)(void *), long n)
{
    pthread_t all[16];
    for (long i = 0; i < n; i++)
        if (pthread_create(&all[i], NULL, of, (void *)i) != 0)
            abort();
    for (long i = 0; i < n; i++)
        pthread_join(all[i], NULL);
}

static void *producer_or_consumer(void *arg)
{
    return arg ? producer(arg) : consumer(arg);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void *(*of)(void *);
        long n;
    } programs[] = {
        {"long", clerk, THREADS},
        {"relay", runner, THREADS},
        {"barrier", stage, THREADS},
        {"late_barrier", late_stage, THREADS},
        {"join", part, THREADS},
        {"crowd", cruncher, 12},
        {"deadlock", crossed, 2},
        {"rare", rare_clerk, THREADS},
        {"owned", owner, THREADS},
        {"queue", producer_or_consumer, 2},
        {"even", even_part, THREADS},
        {"rounds", even_stage, THREADS},
        {"io", reader, THREADS},
        {"herd", turner, HERD},
        {"gather", gatherer, HERD},
        {"slow_herd", slow_turner, HERD},
        {"shared", updater, 2},
        {"fair", fair_part, THREADS},
        {"unfair", unfair_part, THREADS},
        {"fair_rounds", fair_stage, THREADS},
        {"unfair_rounds", unfair_stage, THREADS},
        {"saved", saver, THREADS},
    };
    for (unsigned i = 0; i < THREADS; i++)
        sem_init(&baton[i], 0, i == 0);
    pthread_barrier_init(&gate, NULL, THREADS);
    for (size_t i = 0; argc == 2 && i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(programs[i].name, argv[1]) != 0)
            continue;
        run(programs[i].of, programs[i].n);
        return 0;
    }
    return 2;
}
