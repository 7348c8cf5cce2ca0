/* SPDX-License-Identifier: MIT */
/*
 * A recording that begins, or is stopped, while locks are held and threads wait: every primitive in every mode; with an
 * argument the recording is started from outside.
 */
#include "read_object.h"

#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "upmu/analysis.h"
#include "upmu/control.h"

enum { WAIT_MS = 2, PUBLISHED_TRIES = 1000 };

static int mode;                     /* enum upmu_sync_mode, but counts */
static struct upmu_control *control; /* NULL: by upmu_sync_begin() */

static void record(void)
{
    if (control)
        CHECK(upmu_control_start(control, 0) == 0);
    else
        begin((uint32_t)mode);
}

static void pause_recording(void)
{
    if (control)
        CHECK(upmu_control_stop(control, 0) == 0);
    else
        end();
}

/* A step of the test that one thread announces and another one waits for, without a wrapped call. */
static void announce(int *step)
{
    __atomic_store_n(step, 1, __ATOMIC_RELEASE);
}

static void until(int *step)
{
    while (!__atomic_load_n(step, __ATOMIC_ACQUIRE))
        usleep(200);
}

/* Let time pass without a wrapped call. */
static void pass_ms(long ms)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ms * 1000000);
}

struct primitive {
    const char *name;
    void *object, *mutex;
    int kind; /* of the event that begins the wait */
    bool spins, held, holder_known, holder_reads, waiter_reads;
    bool release_is_post;
    void (*hold)(void *object), (*release)(void *object), (*wait)(void *object), (*release_after)(void *object);
};

struct act {
    const struct primitive *p;
    int held, may_release, waiting;
    pid_t holder, waiter;
    pthread_t holder_thread, waiter_thread;
};

static void *holder(void *arg)
{
    struct act *a = arg;
    a->holder = gettid();
    if (a->p->hold)
        a->p->hold(a->p->object);
    announce(&a->held);
    until(&a->may_release);
    if (a->p->release)
        a->p->release(a->p->object);
    return NULL;
}

static void *waiter(void *arg)
{
    struct act *a = arg;
    a->waiter = gettid();
    announce(&a->waiting);
    a->p->wait(a->p->object);
    if (a->p->release_after)
        a->p->release_after(a->p->object);
    return NULL;
}

/* Until the thread sleeps, or has used CPU time since it announced its wait. */
static void until_it_waits(struct act *a)
{
    char path[64], text[512];
    clockid_t clock;
    struct timespec t;
    until(&a->waiting);
    CHECK(pthread_getcpuclockid(a->waiter_thread, &clock) == 0 && clock_gettime(clock, &t) == 0);
    long used = t.tv_nsec / 1000000 + t.tv_sec * 1000, now = used;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", a->waiter);
    for (bool waits = false; !waits; usleep(500)) {
        FILE *f = fopen(path, "r");
        CHECK(f && fgets(text, sizeof text, f));
        fclose(f);
        CHECK(clock_gettime(clock, &t) == 0);
        now = t.tv_nsec / 1000000 + t.tv_sec * 1000;
        waits = a->p->spins ? now > used + 3 : strrchr(text, ')')[2] == 'S';
    }
}

static void start(struct act *a, const struct primitive *p)
{
    *a = (struct act){.p = p};
    CHECK(pthread_create(&a->holder_thread, NULL, holder, a) == 0);
    until(&a->held);
    CHECK(pthread_create(&a->waiter_thread, NULL, waiter, a) == 0);
    until_it_waits(a);
}

static void finish(struct act *a)
{
    announce(&a->may_release);
    CHECK(pthread_join(a->waiter_thread, NULL) == 0);
    CHECK(pthread_join(a->holder_thread, NULL) == 0);
}

/* An event of a kind, thread and object; `kind` -1: there is none. */
static struct upmu_trace_event find(const void *object, int kind, pid_t tid, unsigned skip)
{
    struct upmu_trace_event found = {.kind = -1};
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int rc;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0)
        if (e->object == (uintptr_t)object && e->kind == kind && e->tid == tid && skip-- == 0)
            found = *e;
    CHECK(rc == 0);
    upmu_trace_close(t);
    return found;
}

static struct upmu_overview_object overview_of(const void *object)
{
    struct upmu_overview *o;
    struct upmu_overview_object x = {.size = sizeof x}, found = {0};
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (size_t i = 0; upmu_overview_object_at(o, i, &x) == 0; i++)
        if (x.address == (uintptr_t)object && (found.size == 0 || x.before_waits > found.before_waits))
            found = x; /* a thread's handle is soon another's */
    upmu_overview_close(o);
    return found;
}

#define EXPECT(x)                                                                               \
    do {                                                                                        \
        if (!(x)) {                                                                             \
            fprintf(stderr, "%s:%d: %s, mode %d: %s\n", __FILE__, __LINE__, p->name, mode, #x); \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

/* The recording begins while the lock is held and waited for. */
static void begins_in_the_middle(const struct primitive *p)
{
    struct act a;
    struct upmu_trace_event e = {.kind = -1};
    start(&a, p);
    const void *object = p->kind == UPMU_TRACE_THREAD_JOIN ? *(void **)p->object : p->object;
    record();
    if (control) { /* any event publishes the waits, and they have lasted since the start of the recording */
        pass_ms(WAIT_MS);
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
        const struct timespec past = {0};
        lock(&m);
        (void)pthread_cond_timedwait(&c, &m, &past);
        unlock(&m);
    }
    /* It is shown as waiting while it waits; the return of the holder's call may publish it, beside this thread. */
    for (int tries = 0; tries < PUBLISHED_TRIES && e.kind == -1; tries++)
        e = find(object, p->kind, a.waiter, 0);
    EXPECT(e.kind == p->kind && e.flags & UPMU_TRACE_FLAG_BEFORE);
    EXPECT(e.site != 0);
    EXPECT((e.flags & UPMU_TRACE_FLAG_SHARED) == (p->waiter_reads ? UPMU_TRACE_FLAG_SHARED : 0));
    if (p->kind == UPMU_TRACE_LOCK_BLOCK)
        EXPECT(e.lock_block.holder == (p->holder_known ? a.holder : 0));
    if (p->mutex)
        EXPECT(e.cond.mutex == (uintptr_t)p->mutex);
    usleep(WAIT_MS * 1000);
    finish(&a);
    pause_recording();
    static const int ends[] = {[UPMU_TRACE_LOCK_BLOCK] = UPMU_TRACE_LOCK_ACQUIRED,
                               [UPMU_TRACE_COND_WAIT] = UPMU_TRACE_COND_WAKE,
                               [UPMU_TRACE_THREAD_JOIN] = UPMU_TRACE_THREAD_JOINED,
                               [UPMU_TRACE_BARRIER_ARRIVE] = UPMU_TRACE_BARRIER_LEAVE};
    const uint64_t least_ns = (control ? 2u : 1u) * WAIT_MS * UINT64_C(980000);
    struct upmu_trace_event done = find(object, ends[p->kind], a.waiter, 0);
    EXPECT(done.kind == ends[p->kind] && done.time_ns - e.time_ns >= least_ns);
    struct upmu_overview_object o = overview_of(object);
    EXPECT(o.before_waits == 1 && o.waits.count == 1 && o.waits.total_ns >= WAIT_MS * 1000000u);
    EXPECT(o.longest.before == 1);
    if (!p->held)
        return;
    /* The release has the hold, from the start of the recording on. */
    struct upmu_trace_event r =
        find(object, p->release_is_post ? UPMU_TRACE_SEM_POST : UPMU_TRACE_LOCK_RELEASE, a.holder, 0);
    EXPECT(r.kind != -1 && r.flags & UPMU_TRACE_FLAG_BEFORE);
    EXPECT((r.flags & UPMU_TRACE_FLAG_SHARED) == (p->holder_reads ? UPMU_TRACE_FLAG_SHARED : 0));
    if (!p->release_is_post) {
        EXPECT(r.lock_release.held_since != 0 && r.time_ns - r.lock_release.held_since >= WAIT_MS * 990000u);
        EXPECT(o.before_holds == 1 && o.partial_holds == 1 && o.partial_ns >= WAIT_MS * 990000u);
        EXPECT(o.partial_ns <= r.time_ns - r.lock_release.held_since);
    }
    /* What was acquired since then was not. */
    r = find(object, UPMU_TRACE_LOCK_RELEASE, a.waiter, 0);
    EXPECT(p->release_is_post || (r.kind != -1 && !(r.flags & UPMU_TRACE_FLAG_BEFORE)));
    EXPECT(o.misuses == 0);
}

/* The recording is stopped while the lock is held and waited for: what it has begun has an end. */
static void stops_in_the_middle(const struct primitive *p)
{
    struct act a;
    record();
    start(&a, p);
    pause_recording();
    finish(&a);
    const void *object = p->kind == UPMU_TRACE_THREAD_JOIN ? *(void **)p->object : p->object;
    EXPECT(find(object, p->kind, a.waiter, 0).kind == p->kind);
    struct upmu_overview_object o = overview_of(object);
    EXPECT(o.waits.count >= 1 && o.waits.unfinished == 0);
    EXPECT(p->kind == UPMU_TRACE_THREAD_JOIN || (o.before_waits == 0 && o.before_holds == 0));
    if (p->held && !p->release_is_post)
        EXPECT(find(object, UPMU_TRACE_LOCK_RELEASE, a.holder, 0).kind == UPMU_TRACE_LOCK_RELEASE);
}

/* --------------------------------------------------------------------------------------------------- primitives */

enum { MODES = 3, ROUNDS = 2 * MODES };
static pthread_mutex_t mutexes[ROUNDS], cond_mutexes[ROUNDS], timed[ROUNDS];
static mtx_t mtxs[ROUNDS];
static pthread_rwlock_t rwlocks[4][ROUNDS];
static pthread_spinlock_t spins[ROUNDS];
static sem_t sems[ROUNDS];
static pthread_cond_t conds[ROUNDS];
static pthread_barrier_t barriers[ROUNDS];
static pthread_t joined[ROUNDS];
static int go[ROUNDS];

static void mutex_lock(void *o)
{
    CHECK(pthread_mutex_lock(o) == 0);
}
static void mutex_unlock(void *o)
{
    CHECK(pthread_mutex_unlock(o) == 0);
}
static void mutex_timed(void *o)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 1000;
    CHECK(pthread_mutex_timedlock(o, &t) == 0);
}
static void mtx_take(void *o)
{
    CHECK(mtx_lock(o) == thrd_success);
}
static void mtx_give(void *o)
{
    CHECK(mtx_unlock(o) == thrd_success);
}
static void read_lock(void *o)
{
    CHECK(pthread_rwlock_rdlock(o) == 0);
}
static void write_lock(void *o)
{
    CHECK(pthread_rwlock_wrlock(o) == 0);
}
static void rw_unlock(void *o)
{
    CHECK(pthread_rwlock_unlock(o) == 0);
}
static void spin_take(void *o)
{
    CHECK(pthread_spin_lock(o) == 0);
}
static void spin_give(void *o)
{
    CHECK(pthread_spin_unlock(o) == 0);
}
static void sem_take(void *o)
{
    CHECK(sem_wait(o) == 0);
}
static void sem_give(void *o)
{
    CHECK(sem_post(o) == 0);
}

static void cond_sleep(void *o)
{
    size_t i = (size_t)((pthread_cond_t *)o - conds);
    CHECK(pthread_mutex_lock(&cond_mutexes[i]) == 0);
    while (!go[i])
        CHECK(pthread_cond_wait(o, &cond_mutexes[i]) == 0);
    CHECK(pthread_mutex_unlock(&cond_mutexes[i]) == 0);
}

static void cond_wake(void *o)
{
    size_t i = (size_t)((pthread_cond_t *)o - conds);
    CHECK(pthread_mutex_lock(&cond_mutexes[i]) == 0);
    go[i] = 1;
    CHECK(pthread_cond_signal(o) == 0);
    CHECK(pthread_mutex_unlock(&cond_mutexes[i]) == 0);
}

static void arrive(void *o)
{
    int rc = pthread_barrier_wait(o);
    CHECK(rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void *sleeper(void *arg)
{
    until(arg);
    return NULL;
}

static void join_sleeper(void *o)
{
    CHECK(pthread_join(*(pthread_t *)o, NULL) == 0);
}
static void end_sleeper(void *o)
{
    announce(&go[(pthread_t *)o - joined]);
}

static void init(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
        pthread_mutex_init(&timed[i], NULL);
        pthread_mutex_init(&cond_mutexes[i], NULL);
        mtx_init(&mtxs[i], mtx_plain);
        for (int k = 0; k < 4; k++)
            pthread_rwlock_init(&rwlocks[k][i], NULL);
        pthread_spin_init(&spins[i], PTHREAD_PROCESS_PRIVATE);
        sem_init(&sems[i], 0, 1);
        pthread_cond_init(&conds[i], NULL);
        pthread_barrier_init(&barriers[i], NULL, 2);
    }
}

int main(int argc, char **argv __attribute__((unused)))
{
    if (UNDER_THREAD_SANITIZER) {
        puts("skipped, because ThreadSanitizer does not see atomic operations within calls that block");
        return 77;
    }
    CHECK(mkdtemp(dir));
    init();
    if (argc > 1) {
        begin(UPMU_SYNC_HOLDERS);
        CHECK(upmu_control_open(&control, dir) == 0);
        pause_recording();
    }
    for (int i = 0; i < ROUNDS; i++) {
        mode = i % MODES;
        if (control)
            CHECK(upmu_control_set_mode(control, 0, mode) == 0);
        const struct primitive all[] = {
            {"mutex", &mutexes[i], .kind = UPMU_TRACE_LOCK_BLOCK, .held = true, .holder_known = true,
             .hold = mutex_lock, .release = mutex_unlock, .wait = mutex_lock, .release_after = mutex_unlock},
            {"timed mutex", &timed[i], .kind = UPMU_TRACE_LOCK_BLOCK, .held = true, .holder_known = true,
             .hold = mutex_lock, .release = mutex_unlock, .wait = mutex_timed, .release_after = mutex_unlock},
            {"mtx", &mtxs[i], .kind = UPMU_TRACE_LOCK_BLOCK, .held = true, .holder_known = true, .hold = mtx_take,
             .release = mtx_give, .wait = mtx_take, .release_after = mtx_give},
            {"rwlock, writer and writer", &rwlocks[0][i], .kind = UPMU_TRACE_LOCK_BLOCK, .held = true,
             .holder_known = true, .hold = write_lock, .release = rw_unlock, .wait = write_lock,
             .release_after = rw_unlock},
            {"rwlock, writer and reader", &rwlocks[1][i], .kind = UPMU_TRACE_LOCK_BLOCK, .held = true,
             .holder_known = true, .waiter_reads = true, .hold = write_lock, .release = rw_unlock, .wait = read_lock,
             .release_after = rw_unlock},
            {"rwlock, reader and writer", &rwlocks[2][i], .kind = UPMU_TRACE_LOCK_BLOCK, .held = true,
             .holder_reads = true, .hold = read_lock, .release = rw_unlock, .wait = write_lock,
             .release_after = rw_unlock},
            {"spin lock", (void *)(uintptr_t)&spins[i], .kind = UPMU_TRACE_LOCK_BLOCK, .spins = true, .held = true,
             .hold = spin_take, .release = spin_give, .wait = spin_take, .release_after = spin_give},
            {"semaphore", &sems[i], .kind = UPMU_TRACE_LOCK_BLOCK, .held = true, .release_is_post = true,
             .hold = sem_take, .release = sem_give, .wait = sem_take, .release_after = sem_give},
            {"condition variable", &conds[i], &cond_mutexes[i], UPMU_TRACE_COND_WAIT, .release = cond_wake,
             .wait = cond_sleep},
            {"barrier", &barriers[i], .kind = UPMU_TRACE_BARRIER_ARRIVE, .release = arrive, .wait = arrive},
            {"join", &joined[i], .kind = UPMU_TRACE_THREAD_JOIN, .release = end_sleeper, .wait = join_sleeper},
        };
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            go[i] = 0;
            if (all[k].kind == UPMU_TRACE_THREAD_JOIN)
                CHECK(pthread_create(&joined[i], NULL, sleeper, &go[i]) == 0);
            (i < MODES ? begins_in_the_middle : stops_in_the_middle)(&all[k]);
        }
    }
    if (control)
        upmu_control_close(control);
    return remove_recording();
}
