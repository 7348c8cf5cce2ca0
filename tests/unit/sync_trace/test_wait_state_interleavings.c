/* SPDX-License-Identifier: MIT */
/*
 * A slot of the wait-state file read while its thread writes it, over all interleavings.
 *
 * Property: what the reader returns for a blocked thread, its locks and its call stacks, is of one and the same wait; a slot that
 * does not change meanwhile is read. Bound: one slot, waits of a thread after each other and nested, two switches; a read of the file
 * copies words, in ascending or in descending order, and the thread's plain stores between two atomic operations are one step.
 * Stores of the thread become visible in program order (SYNC_STORES_BEGIN, release stores), reads of the file happen one after
 * the other.
 *
 * Both sides are compiled here, with atomic operations and pread() that return to the scheduler first.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "unit/interleave.h"

static ssize_t slot_pread(int fd, void *to, size_t bytes, off_t at);
// NOLINTBEGIN(clang-diagnostic-reserved-identifier)
#define __atomic_store_n(p, v, order) (interleave(), (void)(*(p) = (v)))
#define __atomic_load_n(p, order) (interleave(), *(p))
#define pread slot_pread
// NOLINTEND(clang-diagnostic-reserved-identifier)
#include "analysis/wait_state_file.c"   // NOLINT(bugprone-suspicious-include)
#include "sync_trace/emit/wait_state.c" // NOLINT(bugprone-suspicious-include)
#undef __atomic_store_n
#undef __atomic_load_n
#undef pread

/* CHANGING: first words of each read part that differ between waits. */
enum { SWITCHES = 2, FRAMES = 2, CHANGING = 12 };

struct sync_gate sync_gate;
struct sync_process sync_process;
static struct wait_file_header header;
static struct sync_thread thread;
static union {
    struct wait_file_slot slot;
    uint64_t words[WAIT_FILE_FIRST_BYTES / 8];
} file;
static void (*scenario)(void);
static bool nested, descending;
static struct wait_state_file result;
static struct wait_state_thread seen;
static int status;

/* What the module needs of its neighbors. */
struct wait_file_header *upmu_recorder_wait_file_(void)
{
    return &header;
}

struct wait_file_slot *upmu_recorder_wait_file_slot_(uint32_t index)
{
    return index == 0 ? &file.slot : NULL;
}

int upmu_recorder_wait_file_reserve_(uint32_t index, size_t bytes)
{
    return index == 0 && bytes <= sizeof file ? 0 : -1;
}

bool upmu_recorder_filtered_(void)
{
    return false;
}

void upmu_recorder_wait_(bool begins)
{
    (void)begins;
}

uint32_t sync_stack_copy(uint32_t id, uint64_t *frames, uint32_t max, uint8_t *method, uint8_t *truncated)
{
    *method = *truncated = 0;
    for (size_t i = 0; i < FRAMES && i < max; i++) {
        interleave();
        frames[i] = id;
    }
    return FRAMES;
}

uint32_t sync_count_type(const struct sync_thread *t, uintptr_t key)
{
    (void)t;
    (void)key;
    return UPMU_OBJECT_MUTEX;
}

bool sync_key_is_reader(const struct sync_thread *t, uintptr_t key)
{
    return t == NULL && key != 0;
}

void sync_all_blocked(struct wait_file_header *h, const struct sync_thread *t, uint64_t tick)
{
    (void)h;
    (void)t;
    (void)tick;
}

struct sync_thread *sync_held_search(uintptr_t lock, struct sync_held *out)
{
    (void)lock;
    (void)out;
    return NULL;
}

/* Words, in an order that a copy by the kernel may have. */
static ssize_t slot_pread(int fd, void *to, size_t bytes, off_t at)
{
    (void)fd;
    size_t words = bytes / sizeof(uint64_t), first = (size_t)at / sizeof(uint64_t);
    for (size_t i = 0; i < words; i++) {
        size_t k = descending ? words - 1 - i : i;
        if (k < CHANGING)
            interleave();
        memcpy((char *)to + k * sizeof(uint64_t), &file.words[first + k], sizeof(uint64_t));
    }
    return (ssize_t)bytes;
}

/* An inner wait has the locks of the outer one, and further ones; the next wait after another has others, and fewer. */
static uint32_t held_by(uint64_t n)
{
    return (uint32_t)(nested ? n : 3 - n);
}

static uint64_t held_lock(uint64_t n, uint32_t i)
{
    return nested ? 16 * (i + 1) : 16 * n;
}

/* Wait `n`: each of its values is n. */
static void block(unsigned n)
{
    const struct trace_sync e = {.kind = UPMU_TRACE_LOCK_BLOCK,
                                 .object_type = UPMU_OBJECT_MUTEX,
                                 .peer = (int32_t)n,
                                 .stack = n,
                                 .holder_stack = n,
                                 .object = n,
                                 .object2 = n,
                                 .site = n};
    thread.depth = held_by(n);
    for (uint32_t i = 0; i < thread.depth; i++)
        thread.held[i] = (struct sync_held){.lock = held_lock(n, i), .site = held_lock(n, i)};
    sync_wait_state_block(&thread, n, &e);
}

static void wait_again(void)
{
    sync_wait_state_unblock(&thread);
    block(2);
}

static void wait_nested(void)
{
    block(2);
    sync_wait_state_unblock(&thread);
}

static void owner_is_seen(void)
{
    sync_wait_state_owner_seen(&thread, false);
}

static void begin(void)
{
    memset(&file, 0, sizeof file);
    memset(&thread, 0, sizeof thread);
    memset(&sync_gate, 0, sizeof sync_gate);
    sync_gate.wait_states = &header;
    sync_gate.threads_recorded = UINT32_MAX / 2; /* never all of them blocked */
    thread.ready = SYNC_READY;
    thread.wait_slot = &file.slot;
    thread.wait_slot_bytes = sizeof file;
    block(1);
    result.n_held = 0;
}

static void writer(void)
{
    scenario();
}

static void reader(void)
{
    status = wait_state_read_slot(&result, 0, 0, &seen);
}

static void judge(void)
{
    ck_assert_int_ge(status, 0);
    if (status == 0 || seen.head.state != WAIT_FILE_BLOCKED)
        return;
    uint64_t n = seen.head.object;
    ck_assert_uint_eq(seen.head.site, n);
    ck_assert_uint_eq(seen.head.object2, n);
    ck_assert_int_eq(seen.head.peer, (int)n);
    ck_assert_uint_eq(seen.head.stack, n);
    ck_assert_uint_eq(seen.n_held, held_by(n));
    for (uint32_t i = 0; i < seen.n_held; i++) {
        const struct wait_file_held *h = &result.held[seen.first_held + i];
        ck_assert(h->lock == held_lock(n, i) && h->site == held_lock(n, i));
    }
    ck_assert_uint_eq(seen.stack.id, n);
    ck_assert_uint_eq(seen.holder_stack.id, n);
    for (size_t i = 0; i < FRAMES; i++)
        ck_assert(seen.stack.frames[i] == n && seen.holder_stack.frames[i] == n);
}

static void explore(void (*of)(void), bool downward)
{
    const struct interleave_search search = {{writer, reader}, begin, judge, SWITCHES};
    scenario = of;
    nested = of == wait_nested;
    descending = downward;
    ck_assert_uint_gt(interleave_all(&search), 500);
}

START_TEST(a_blocked_thread_is_read_in_one_wait)
{
    explore(wait_again, false);
    explore(wait_nested, false);
}
END_TEST

START_TEST(the_order_of_words_in_a_read_does_not_matter)
{
    explore(wait_again, true);
    explore(wait_nested, true);
}
END_TEST

START_TEST(a_slot_at_rest_is_read)
{
    begin();
    owner_is_seen();
    reader();
    ck_assert_int_eq(status, 1);
    ck_assert_int_eq((int)seen.head.state, WAIT_FILE_BLOCKED);
    ck_assert_int_eq((int)seen.head.owner, WAIT_FILE_OWNER_SEEN);
    judge();
    begin();
    sync_wait_state_unblock(&thread);
    reader();
    ck_assert_int_eq(status, 1);
    ck_assert_int_eq((int)seen.head.state, WAIT_FILE_RUNNING);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("wait_state_interleavings");
    tcase_add_test(cases, a_blocked_thread_is_read_in_one_wait);
    tcase_add_test(cases, the_order_of_words_in_a_read_does_not_matter);
    tcase_add_test(cases, a_slot_at_rest_is_read);
    return run_suite("wait_state_interleavings", cases);
}
