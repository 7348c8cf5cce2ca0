/* SPDX-License-Identifier: MIT */
/*
 * Distinct records for similar call stacks.
 *
 * The same call at the same stack depth, reached in two ways alternately; and one stack on top of the remains of another,
 * whose return addresses are all still in memory.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "upmu/sync.h"
#include "upmu/trace.h"

#define CHECK(x)                                                                  \
    do {                                                                          \
        if (!(x)) {                                                               \
            fprintf(stderr, "alike.c:%d: %s (%s)\n", __LINE__, #x, upmu_error()); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

enum { ROUNDS = 400, TURN = 2, RUN = 9, PAD = 65536 };

static char dir[] = "/tmp/upmu-alike-XXXXXX";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t middle, way; /* where the call of middle() and that of the way to it return to */
    uint64_t frame;       /* of leaf() */
} expected[8 * ROUNDS];
static size_t n_expected;
static volatile int returned; /* what is done with it keeps calls from becoming jumps */

static __attribute__((noinline)) void leaf(uint64_t middle, uint64_t way)
{
    expected[n_expected].middle = middle;
    expected[n_expected].way = way;
    expected[n_expected++].frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    returned = pthread_mutex_lock(&mutex);
    returned = pthread_mutex_unlock(&mutex);
}

/* Leaves `bytes` bytes of the stack unchanged. */
static __attribute__((noinline)) void middle(size_t bytes, uint64_t way)
{
    void *p = alloca(bytes);
    __asm__ volatile("" : : "r"(p) : "memory");
    leaf((uint64_t)(uintptr_t)__builtin_return_address(0), way);
    returned = 1;
}

static __attribute__((noinline)) void one_way(size_t bytes)
{
    middle(bytes, (uint64_t)(uintptr_t)__builtin_return_address(0));
    returned = 2;
}

static __attribute__((noinline)) void other_way(size_t bytes)
{
    middle(bytes, (uint64_t)(uintptr_t)__builtin_return_address(0));
    returned = 3;
}

static __attribute__((noinline)) void far_way(void)
{
    volatile char pad[PAD];
    pad[0] = pad[PAD - 1] = 0;
    middle(0, (uint64_t)(uintptr_t)__builtin_return_address(0));
    returned = pad[0];
}

/* After every run of one way as many of the other: enough to be cached. */
static void alternate_ways(void)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < TURN; k++)
            if (i % 2)
                one_way(0);
            else
                other_way(0);
}

/* The far way's frames are left behind whole, the return address into this function included, since that moves its end
 * of the stack beyond it. @return whether leaf() came to lie where it had been. */
static __attribute__((noinline)) int on_top_of_it(size_t beyond)
{
    for (int i = 0; i < RUN; i++)
        far_way();
    uint64_t far = expected[n_expected - 1].frame;
    void *p = alloca(beyond);
    __asm__ volatile("" : : "r"(p) : "memory");
    other_way(0);
    uint64_t near = expected[n_expected - 1].frame;
    if (near <= far) /* the compiler lays frames out in another way */
        return 0;
    other_way((size_t)(near - far));
    return expected[n_expected - 1].frame == far;
}

/* A sanitizer's own function may stand before them. */
static bool came_by(const struct upmu_trace_stack *s, uint64_t middle_returns, uint64_t way_returns)
{
    uint32_t i = 0;
    while (i < s->n_frames && s->frames[i] != middle_returns)
        i++;
    return i + 1 < s->n_frames && s->frames[i + 1] == way_returns;
}

static void check(void)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    struct upmu_trace_stack s = {.size = sizeof s};
    size_t n = 0;
    int rc;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        if (e->kind != UPMU_TRACE_LOCK_ACQUIRE || e->object != (uint64_t)(uintptr_t)&mutex)
            continue;
        CHECK(n < n_expected && upmu_trace_stack_find(t, e->process, e->stack, &s) == 0);
        if (!came_by(&s, expected[n].middle, expected[n].way)) {
            fprintf(stderr, "FAILED: acquisition %zu has another one's call stack\n", n);
            exit(1);
        }
        n++;
    }
    CHECK(rc == 0 && n == n_expected);
    upmu_trace_close(t);
}

int main(void)
{
    const struct upmu_sync_opts o = {.size = sizeof o, .mode = UPMU_SYNC_ALL, .trace = dir};
    char command[sizeof dir + 16];
    CHECK(mkdtemp(dir) && upmu_sync_begin(&o) == 0);
    alternate_ways();
    int lies_there = on_top_of_it(RUN * 64);
    CHECK(upmu_sync_end() == 0);
    check();
    if (!lies_there)
        printf("the second stack is not on top of the first: only alternating ways were tried\n");
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) != 0;
}
