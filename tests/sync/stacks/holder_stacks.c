/* SPDX-License-Identifier: MIT */
/*
 * Call stacks at which locks were acquired that others wait for.
 *
 * The first waiter finds the whole stack, though the function that locked has returned and others use its memory; so does a
 * thread that acquires a second lock. What waits later has the stack from the holder.
 */
#include "../read_object.h"

#include "upmu/analysis.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cheap = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;

#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

/* A wrapper: it has returned by the time of the wait. */
__attribute__((noinline)) static void lock_it(void *mutex)
{
    CHECK(pthread_mutex_lock(mutex) == 0);
    KEEP_FRAME();
}

__attribute__((noinline)) static void read_it(void *rwlock)
{
    CHECK(pthread_rwlock_rdlock(rwlock) == 0);
    KEEP_FRAME();
}

/* Other contents where its frame was. */
__attribute__((noinline)) static void use_stack(int depth)
{
    volatile char bytes[512];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(depth * 3 + (int)i);
    if (depth > 0)
        use_stack(depth - 1);
    KEEP_FRAME();
}

static void *wait_mutex(void *m)
{
    lock(m);
    unlock(m);
    return NULL;
}

static void *wait_write(void *l)
{
    CHECK(pthread_rwlock_wrlock(l) == 0 && pthread_rwlock_unlock(l) == 0);
    return NULL;
}

struct hold {
    void *lock;
    void (*take)(void *lock);
    void *(*wait)(void *lock);
    unsigned n; /* waits of the lock so far */
};

__attribute__((noinline)) static void takes_it(const struct hold *h)
{
    pthread_t t;
    h->take(h->lock);
    use_stack(4);
    CHECK(pthread_create(&t, NULL, h->wait, h->lock) == 0);
    until_blocked(h->lock, h->n);
    if (h->take == read_it) {
        CHECK(pthread_rwlock_unlock(h->lock) == 0);
    } else {
        lock(&inner);
        unlock(&inner);
        unlock(h->lock);
    }
    CHECK(pthread_join(t, NULL) == 0);
    KEEP_FRAME();
}

__attribute__((noinline)) static void calls_it(const struct hold *h)
{
    takes_it(h);
    KEEP_FRAME();
}

/* The functions of a stack, innermost first, as "lock_it takes_it ...". */
static void names_of(struct upmu_overview *o, uint32_t process, uint32_t id, char *text, size_t bytes)
{
    struct upmu_symbol s = {.size = sizeof s};
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; id != 0 && upmu_overview_frame_at(o, process, id, i, &s) == 0; i++)
        if (s.function)
            n += (size_t)snprintf(text + n, n < bytes ? bytes - n : 0, "%s ", s.function);
}

/* The stack of the `n`th wait for the lock, or of the lock held in its first order event. */
static uint32_t stack_of(const void *lock, int kind, unsigned n)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    uint32_t stack = 0;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while (upmu_trace_next(t, &e) > 0) {
        bool order = e->kind == UPMU_TRACE_LOCK_ORDER && e->lock_order.held == (uintptr_t)lock;
        bool wait = e->kind == UPMU_TRACE_LOCK_BLOCK && e->object == (uintptr_t)lock;
        if ((kind == UPMU_TRACE_LOCK_ORDER ? order : wait) && n-- == 0)
            stack = order ? e->lock_order.held_stack : e->lock_block.holder_stack;
    }
    upmu_trace_close(t);
    return stack;
}

static void expect_stack(struct upmu_overview *o, const char *what, uint32_t id, const char *begins)
{
    char text[1024];
    names_of(o, 0, id, text, sizeof text);
    if (strncmp(text, begins, strlen(begins)) != 0 || !strstr(text, "main")) {
        fprintf(stderr, "FAILED: %s: \"%s\" does not begin with \"%s\" or reach main\n", what, text, begins);
        exit(1);
    }
}

__attribute__((noinline)) static int acquire_and_judge(void)
{
    struct hold mutex = {&first, lock_it, wait_mutex, 1}, rwlock = {&readers, read_it, wait_write, 1},
                later = {&cheap, lock_it, wait_mutex, 1};
    struct upmu_overview *o;
    struct upmu_overview_object x = {.size = sizeof x};
    CHECK(mkdtemp(dir));
    begin(UPMU_SYNC_HOLDERS);
    calls_it(&mutex);
    mutex.n = 2;
    calls_it(&mutex);
    calls_it(&rwlock);
    end();
    begin(UPMU_SYNC_CONTENDED);
    calls_it(&later);
    later.n = 2;
    calls_it(&later);
    end();
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
#if defined(__x86_64__) && \
    defined(__OPTIMIZE__) /* else the wrappers are not reached by jumps, and only the site is known */
    expect_stack(o, "first wait", stack_of(&first, UPMU_TRACE_LOCK_BLOCK, 0),
                 "lock_it takes_it calls_it acquire_and_judge main ");
    expect_stack(o, "lock order", stack_of(&first, UPMU_TRACE_LOCK_ORDER, 0),
                 "lock_it takes_it calls_it acquire_and_judge main ");
    expect_stack(o, "first wait for readers", stack_of(&readers, UPMU_TRACE_LOCK_BLOCK, 0),
                 "read_it takes_it calls_it acquire_and_judge main ");
#endif
    expect_stack(o, "second wait", stack_of(&first, UPMU_TRACE_LOCK_BLOCK, 1),
                 "lock_it takes_it calls_it acquire_and_judge main ");
    /* The cheap mode has no copy: only what is waited for again has a stack. */
    CHECK(stack_of(&cheap, UPMU_TRACE_LOCK_BLOCK, 0) == 0);
    expect_stack(o, "second wait, contended", stack_of(&cheap, UPMU_TRACE_LOCK_BLOCK, 1),
                 "lock_it takes_it calls_it acquire_and_judge main ");
    for (size_t i = 0; upmu_overview_object_at(o, i, &x) == 0; i++)
        if (x.address == (uintptr_t)&first)
            expect_stack(o, "longest wait", x.longest.holder_stack,
                         "lock_it takes_it calls_it acquire_and_judge main ");
    upmu_overview_close(o);
    return remove_recording();
}

/* The copy of a stack ends at its page, so an acquisition whose frame is at the end of one has its call site alone. Where stacks begin is
 * random: a part of this one is left out, so that the frames of all acquisitions are in the middle of a page. */
int main(void)
{
    enum { PAGE = 4096, MIDDLE = 2560 };
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    volatile char *left_out = __builtin_alloca((here - MIDDLE) % PAGE + 16);
    *left_out = 0;
    int rc = acquire_and_judge();
    KEEP_FRAME();
    return rc;
}
