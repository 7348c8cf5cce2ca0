/* SPDX-License-Identifier: MIT */
/* What a thread finds in the block of a thread that has ended. */
#include <pthread.h>
#include <time.h>

#include "base/tick.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/state/held.h"
#include "sync_trace/state/state.h"
#include "trace/write/writer.h"
#include "unit/suite.h"
#include "upmu/sync.h"

static const struct upmu_sync_opts in_memory = {.size = sizeof in_memory, .trace = UPMU_TRACE_MEMORY};
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;

static void recorded_in_thread(void *(*f)(void *), void *arg)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, f, arg), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* Uses what a block has: calls that sleep, are written to or are asked about, and locks. */
static void *use(void *block)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    int ends[2];
    char byte = 0;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], &byte, 1), 1);
    ck_assert_int_eq(nanosleep(&nap, NULL), 0);
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
    struct sync_thread *t = sync_tls.thread;
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_ne(t->calls.writes[0].tick, 0);
    ck_assert_uint_eq(t->held[1].lock, (uintptr_t)&inner | HELD_RELEASED);
    t->calls.switches = 1234;
    t->calls.descriptors[0].tick = tick_now();
    *(struct sync_thread **)block = t;
    ck_assert_int_eq(close(ends[0]) + close(ends[1]), 0);
    return NULL;
}

static void *find(void *block)
{
    const struct sync_calls none = {0};
    struct sync_held h;
    pthread_mutex_lock(&outer); /* the inner one's entry is not overwritten */
    const struct sync_thread *t = sync_tls.thread;
    ck_assert_ptr_eq(t, *(struct sync_thread **)block);
    ck_assert_int_lt(t->calls.switches, 1234);
    ck_assert_uint_eq(t->calls.n_writes, 0);
    for (size_t i = 0; i < SYNC_CALL_WRITES; i++)
        ck_assert_uint_eq(t->calls.writes[i].tick, 0);
    ck_assert_mem_eq(t->calls.descriptors, none.descriptors, sizeof none.descriptors);
    ck_assert(!sync_held_last(t, (uintptr_t)&inner, &h));
    pthread_mutex_unlock(&outer);
    return block;
}

START_TEST(a_new_thread_finds_nothing_of_the_one_before)
{
    struct sync_thread *block = NULL;
    ck_assert_int_eq(upmu_sync_begin(&in_memory), 0);
    recorded_in_thread(use, &block);
    recorded_in_thread(find, &block);
    ck_assert_int_eq(upmu_sync_end(), 0);
}
END_TEST

/* As a signal handler leaves it that ends a wait by longjmp(). */
static void *leave_a_wait(void *arg)
{
    pthread_mutex_lock(&outer);
    pthread_mutex_unlock(&outer);
    struct sync_thread *t = sync_tls.thread;
    const struct trace_sync wait = {.kind = UPMU_TRACE_LOCK_BLOCK, .object_type = UPMU_OBJECT_MUTEX, .object = 1};
    sync_wait_state_block(t, tick_now(), &wait);
    ck_assert_uint_eq(t->wait_depth, 1);
    return arg;
}

START_TEST(a_thread_that_has_ended_does_not_wait)
{
    ck_assert_int_eq(upmu_sync_begin(&in_memory), 0);
    pthread_mutex_lock(&outer);
    pthread_mutex_unlock(&outer);
    ck_assert_uint_eq(sync_gate.threads_blocked, 0);
    recorded_in_thread(leave_a_wait, NULL);
    ck_assert_uint_eq(sync_gate.threads_blocked, 0);
    ck_assert_int_eq(upmu_sync_end(), 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("blocks");
    tcase_add_test(cases, a_new_thread_finds_nothing_of_the_one_before);
    tcase_add_test(cases, a_thread_that_has_ended_does_not_wait);
    return run_suite("blocks", cases);
}
