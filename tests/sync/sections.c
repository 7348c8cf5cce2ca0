/* SPDX-License-Identifier: MIT */
/* Counters during waits and holds of locks, in a program with known counts. */
#include <sched.h>
#include <sys/mman.h>

#include "read_object.h"
#include "upmu/analysis.h"

enum { PAGES = 100, ROUNDS = 50, WARM = 8 };

/* Their shadows have page faults of their own. */
static const bool shadowed = UNDER_ADDRESS_SANITIZER || UNDER_THREAD_SANITIZER;

static pthread_mutex_t warm = PTHREAD_MUTEX_INITIALIZER;   /* the recorder's own memory is touched by then */
static pthread_mutex_t pages = PTHREAD_MUTEX_INITIALIZER;  /* what it guards has page faults */
static pthread_mutex_t sample = PTHREAD_MUTEX_INITIALIZER; /* no thread waits for it */
static volatile char *memory;
static size_t page_bytes;

static void *fresh_pages(void)
{
    void *p = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    (void)madvise(p, PAGES * page_bytes, MADV_NOHUGEPAGE); /* EINVAL: this kernel has none */
    return p;
}

struct step {
    pthread_mutex_t *lock;
    void (*inside)(void);
};

static void nothing(void)
{
}

static void touch_pages(void)
{
    for (size_t i = 0; i < PAGES; i++)
        memory[i * page_bytes] = 1;
}

static void take_step(const struct step *step)
{
    lock(step->lock);
    step->inside();
    unlock(step->lock);
}

static unsigned blocks_so_far;

/* Each lock call of the worker waits, since the main thread holds the lock until then. */
static pthread_barrier_t ready;
static void *worker(void *arg)
{
    const struct step *steps = arg;
    for (; steps->lock; steps++) {
        (void)pthread_barrier_wait(&ready);
        take_step(steps);
        (void)pthread_barrier_wait(&ready);
    }
    return NULL;
}

static void run_steps(const struct step *steps)
{
    pthread_t t;
    CHECK(pthread_barrier_init(&ready, NULL, 2) == 0);
    CHECK(pthread_create(&t, NULL, worker, (void *)(uintptr_t)steps) == 0);
    for (; steps->lock; steps++) {
        lock(steps->lock);
        (void)pthread_barrier_wait(&ready);
        blocks_so_far = steps->lock == &warm ? blocks_so_far + 1 : 1;
        until_blocked(steps->lock, blocks_so_far);
        usleep(5000); /* after the event of its wait it does wait */
        unlock(steps->lock);
        (void)pthread_barrier_wait(&ready);
    }
    CHECK(pthread_join(t, NULL) == 0);
}

static size_t counter(struct upmu_overview *o, const char *name)
{
    const char *found;
    for (size_t i = 0; (found = upmu_overview_counter_name(o, 0, i)) != NULL; i++)
        if (strncmp(found, name, strlen(name)) == 0 && strchr(":", found[strlen(name)]))
            return i;
    fprintf(stderr, "%s is not in the recording\n", name);
    exit(1);
}

static struct upmu_overview_section section(struct upmu_overview *o, const void *object, int kind)
{
    struct upmu_overview_object found = {.size = sizeof found};
    struct upmu_overview_section s = {.size = sizeof s};
    for (size_t i = 0; upmu_overview_object_at(o, i, &found) == 0; i++)
        if (found.address == (uintptr_t)object) {
            CHECK(upmu_overview_section_read(o, i, kind, &s) == 0);
            return s;
        }
    fprintf(stderr, "the object is not in the recording\n");
    exit(1);
}

static void expect_faults(struct upmu_overview *o)
{
    size_t faults = counter(o, "page-faults"), switches = counter(o, "context-switches");
    struct upmu_overview_section held = section(o, &pages, UPMU_SECTION_HELD);
    struct upmu_overview_section waited = section(o, &pages, UPMU_SECTION_WAITED);
    const struct upmu_value *v = &held.counts[faults].sum;
    printf("held %" PRIu64 " times, %" PRIu64 " page faults; waited %" PRIu64 " times, %" PRIu64 " switches\n",
           held.sections, v->value, waited.sections, waited.counts[switches].sum.value);
    CHECK(held.sections == 1 && waited.sections == 1);
    CHECK(v->status == UPMU_EXACT);
    CHECK(shadowed ? v->value >= PAGES : v->value == PAGES);
    CHECK(shadowed || waited.counts[faults].sum.value == 0);
    CHECK(waited.counts[switches].sum.status == UPMU_EXACT && waited.counts[switches].sum.value >= 1);
    CHECK(waited.ns >= 5000000);
}

/* A counter that this machine does not have stays without a number. */
static void expect_status(struct upmu_overview *o)
{
    size_t i = counter(o, "instructions");
    const struct upmu_overview_count *c = &section(o, &pages, UPMU_SECTION_HELD).counts[i];
    bool number = c->sum.status == UPMU_EXACT || c->sum.status == UPMU_SCALED;
    printf("instructions: %s\n", upmu_status_name(c->sum.status));
    CHECK(number == (c->sum.value != UPMU_NO_VALUE));
    CHECK(number ? c->sum.value > PAGES : c->without_value == 1);
}

/* Of those that never wait one in N is counted: here all of them. */
static void expect_samples(struct upmu_overview *o)
{
    struct upmu_overview_section held = section(o, &sample, UPMU_SECTION_HELD);
    CHECK(held.sections == ROUNDS);
    CHECK(held.counts[counter(o, "page-faults")].sum.status == UPMU_EXACT);
    CHECK(section(o, &sample, UPMU_SECTION_WAITED).sections == 0);
}

static void begin_counting(uint32_t mode, uint32_t one_in)
{
    const struct upmu_sync_opts o = {.size = sizeof o, .mode = mode, .trace = dir, .counters = 1, .sample = one_in};
    CHECK(upmu_sync_begin(&o) == 0);
}

/* Who holds what another one waits for did not wait for it, and is no sample here: only the worker is counted. */
static void record(uint32_t mode)
{
    struct step steps[WARM + 2] = {{0}};
    for (int i = 0; i < WARM; i++)
        steps[i] = (struct step){&warm, nothing};
    steps[WARM] = (struct step){&pages, touch_pages};
    begin_counting(mode, UPMU_SYNC_NO_SAMPLES);
    run_steps(steps);
    end();
    begin_counting(mode, 1);
    for (int i = 0; i < ROUNDS; i++)
        take_step(&(struct step){&sample, nothing});
    end();
}

int main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    struct upmu_overview *o;
    CHECK(mkdtemp(dir));
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    memory = fresh_pages();
    record(all ? UPMU_SYNC_ALL : UPMU_SYNC_CONTENDED);
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    expect_faults(o);
    expect_status(o);
    if (!all) /* where every acquisition is an event none is a sample */
        expect_samples(o);
    upmu_overview_close(o);
    return remove_recording();
}
