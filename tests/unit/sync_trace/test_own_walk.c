/* SPDX-License-Identifier: MIT */
/* The recorder's own walk of a thread's stack finds what the C library finds, in code of several compilations. */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sanitizer.h"
#include "sync_trace/stack/cfi.h"
#include "unit/suite.h"
#include "unit/sync_trace/own_walk_without_tables.h"

enum { FRAMES = 200, WORDS_MAX = 2 * FRAMES, STACK_WORDS = 1 << 15, STACKS = 600 };

void walks_unoptimized(void (*take)(void), int stacks);
void walks_optimized(void (*take)(void), int stacks);
void walks_with_frame_pointers(void (*take)(void), int stacks);
void walks_for_size(void (*take)(void), int stacks);

static __thread uintptr_t low; /* of another thread than the first */

static struct {
    size_t whole, cut, none; /* walks */
} seen;

static struct {
    uintptr_t at[WORDS_MAX];
    size_t n;
} words;

static void keep_word(void *arg, uintptr_t address)
{
    (void)arg;
    ck_assert_uint_lt(words.n, WORDS_MAX);
    words.at[words.n++] = address;
}

static bool is_kept(uintptr_t address)
{
    for (size_t i = 0; i < words.n; i++)
        if (words.at[i] == address)
            return true;
    return false;
}

/* The same walk in a copy in which all other words are wrong. */
static void check_words(const uintptr_t *frame, void *const *found, uint32_t n)
{
    static __thread uintptr_t copy[STACK_WORDS];
    static __thread void *again[FRAMES];
    uintptr_t last = 0;
    bool whole;
    for (size_t i = 0; i < words.n; i++) {
        ck_assert_uint_ge(words.at[i], (uintptr_t)frame);
        last = words.at[i] > last ? words.at[i] : last;
    }
    size_t n_words = (last - (uintptr_t)frame) / sizeof *frame + 1;
    ck_assert_uint_le(n_words, STACK_WORDS);
    for (size_t i = 0; i < n_words; i++)
        copy[i] = is_kept((uintptr_t)&frame[i]) ? frame[i] : (uintptr_t)&frame[i] ^ 0x5a5a5a5a5a5a5a5au;
    const struct cfi_memory part = {(uintptr_t)frame, n_words * sizeof *frame, copy};
    const struct cfi_frame from = {.pc = copy[1], .sp = (uintptr_t)(frame + 2), .bp = copy[0]};
    uint32_t n_again = cfi_walk(from, &part, 1, again, FRAMES, &whole);
    ck_assert_uint_eq(n_again, n);
    ck_assert(whole);
    ck_assert(memcmp(again, found, n * sizeof *again) == 0);
}

__attribute__((noinline)) static void take(void)
{
    static __thread void *expected[FRAMES + 8], *found[FRAMES];
    const uintptr_t *frame = __builtin_frame_address(0);
    enum cfi_end end;
    int n_expected = backtrace(expected, FRAMES + 8), first = 0;
    while (first < n_expected && (uintptr_t)expected[first] != frame[1])
        first++;
    ck_assert_int_lt(first, n_expected);
    words.n = 0;
    const struct cfi_own_walk w = {.frame = (uintptr_t)frame, .site = frame[1], .low = low, .depends = keep_word};
    uint32_t n = cfi_walk_own(&w, found, FRAMES, &end);
    if (n == 0) {
        seen.none++;
        return;
    }
    ck_assert(end != CFI_WHOLE || n == (uint32_t)(n_expected - first));
    ck_assert_uint_le(n, (uint32_t)(n_expected - first));
    ck_assert(memcmp(found, expected + first, n * sizeof *found) == 0);
    *(end == CFI_WHOLE ? &seen.whole : &seen.cut) += 1;
    if (end == CFI_WHOLE)
        check_words(frame, found, n);
}

static void *walk_all(void *arg)
{
    (void)arg;
    walks_unoptimized(take, STACKS);
    walks_optimized(take, STACKS);
    walks_with_frame_pointers(take, STACKS);
    walks_for_size(take, STACKS);
    return NULL;
}

/* Frames of signal handlers are not supported; they are on some of these stacks. */
static void check_seen(void)
{
    printf("%zu walks to the beginning, %zu that were cut, %zu not possible\n", seen.whole, seen.cut, seen.none);
    ck_assert_uint_gt(seen.whole, 8 * (seen.cut + seen.none));
}

START_TEST(finds_the_stacks_of_the_first_thread)
{
    walk_all(NULL);
    check_seen();
}
END_TEST

static void *walk_all_elsewhere(void *arg)
{
    pthread_attr_t attr;
    void *at;
    size_t bytes;
    ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attr), 0);
    ck_assert_int_eq(pthread_attr_getstack(&attr, &at, &bytes), 0);
    pthread_attr_destroy(&attr);
    low = (uintptr_t)at;
    return walk_all(arg);
}

START_TEST(finds_the_stacks_of_another_thread)
{
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, walk_all_elsewhere, NULL), 0);
    ck_assert_int_eq(pthread_join(t, NULL), 0);
    check_seen();
}
END_TEST

static enum cfi_end end_elsewhere;
static uint32_t n_elsewhere;
static void *frames_elsewhere[FRAMES];

__attribute__((noinline)) static void walk_here(int signal)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    const struct cfi_own_walk w = {.frame = (uintptr_t)frame, .site = frame[1], .low = low};
    (void)signal;
    n_elsewhere = cfi_walk_own(&w, frames_elsewhere, FRAMES, &end_elsewhere);
}

static void walk_from_call(void)
{
    walk_here(0);
}

/* The frames are found by frame pointers, those behind them by tables. */
START_TEST(goes_through_code_without_tables)
{
    void *returns[2], *expected[FRAMES];
    without_tables(walk_from_call, returns);
    int n = backtrace(expected, FRAMES); /* without this function's frame: n - 1 */
    ck_assert_uint_gt(n_elsewhere, 4);
    ck_assert_int_eq(end_elsewhere, CFI_WHOLE);
    ck_assert_ptr_eq(frames_elsewhere[2], returns[0]);
    ck_assert_ptr_eq(frames_elsewhere[3], returns[1]);
    ck_assert_uint_eq(n_elsewhere, 3 + (uint32_t)n);
    ck_assert(memcmp(frames_elsewhere + 4, expected + 1, (size_t)(n - 1) * sizeof *expected) == 0);
}
END_TEST

/* Code in no module, as a JIT compiler's: it calls its argument. `keeps`: it has a frame pointer, else 0 in its register. */
static void (*generate(bool keeps))(void (*)(void))
{
    static const unsigned char pointer[] = {0x55, 0x48, 0x89, 0xe5,
                                            0xff, 0xd7, 0x5d, 0xc3};                /* push, mov, call, pop, ret */
    static const unsigned char zero[] = {0x55, 0x31, 0xed, 0xff, 0xd7, 0x5d, 0xc3}; /* push, xor, call, pop, ret */
    enum { BYTES = 4096 };
    void *code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    memcpy(code, keeps ? pointer : zero, keeps ? sizeof pointer : sizeof zero);
    ck_assert_int_eq(mprotect(code, BYTES, PROT_READ | PROT_EXEC), 0);
    void (*call)(void (*)(void));
    memcpy(&call, &code, sizeof call);
    return call;
}

static void (*generated)(void (*)(void));

static void walk_from_generated(void)
{
    generated(walk_from_call);
}

/* The frames are walk_from_call(), generated code, walk_from_generated(), generated code, and its caller's. */
START_TEST(goes_through_generated_code)
{
    void *expected[FRAMES];
    generated = generate(true);
    generated(walk_from_generated);
    int n = backtrace(expected, FRAMES);
    ck_assert_int_eq(end_elsewhere, CFI_WHOLE);
    ck_assert_uint_eq(n_elsewhere, 4 + (uint32_t)n);
    ck_assert_uint_eq((uintptr_t)frames_elsewhere[1] - (uintptr_t)generated, 6);
    ck_assert_uint_eq((uintptr_t)frames_elsewhere[3] - (uintptr_t)generated, 6);
    ck_assert(memcmp(frames_elsewhere + 5, expected + 1, (size_t)(n - 1) * sizeof *expected) == 0);
}
END_TEST

/* What is found there by a wrong guess is not stored. */
START_TEST(ends_in_generated_code_without_frame_pointers)
{
    generated = generate(false);
    generated(walk_from_call);
    ck_assert_int_eq(end_elsewhere, CFI_GENERATED);
    ck_assert_uint_eq(n_elsewhere, 2);
    ck_assert_uint_eq((uintptr_t)frames_elsewhere[1] - (uintptr_t)generated, 5);
    generated(walk_from_generated);
    ck_assert_int_eq(end_elsewhere, CFI_GENERATED);
    ck_assert_uint_eq(n_elsewhere, 2);
}
END_TEST

/* The code that a handler returns to has no caller that a row could have. */
START_TEST(leaves_out_signal_frames)
{
    struct sigaction action = {.sa_handler = walk_here};
    n_elsewhere = 1;
    ck_assert_int_eq(sigaction(SIGUSR2, &action, NULL), 0);
    ck_assert_int_eq(raise(SIGUSR2), 0);
    ck_assert(n_elsewhere == 0 || end_elsewhere == CFI_FOREIGN);
}
END_TEST

START_TEST(stores_no_more_than_asked_for)
{
    void *frames[2] = {NULL, NULL};
    const uintptr_t *frame = __builtin_frame_address(0);
    const struct cfi_own_walk w = {.frame = (uintptr_t)frame, .site = frame[1], .low = low};
    enum cfi_end end;
    ck_assert_uint_eq(cfi_walk_own(&w, frames, 1, &end), 1);
    ck_assert(end == CFI_CUT && (uintptr_t)frames[0] == frame[1] && frames[1] == NULL);
    cfi_forget();
    ck_assert_uint_eq(cfi_walk_own(&w, frames, 1, &end), 1);
    ck_assert((uintptr_t)frames[0] == frame[1]);
}
END_TEST

int main(void)
{
#if !defined(__x86_64__) || !defined(__GLIBC__)
    printf("skipped, because only x86-64 code with glibc is unwound by the recorder itself\n");
    return 77;
#endif
    if (UNDER_ASAN || UNDER_TSAN) {
        printf("skipped, because a sanitizer reports reading of other frames\n");
        return 77;
    }
    TCase *cases = tcase_create("own walk");
    tcase_add_test(cases, finds_the_stacks_of_the_first_thread);
    tcase_add_test(cases, finds_the_stacks_of_another_thread);
    tcase_add_test(cases, goes_through_code_without_tables);
    tcase_add_test(cases, goes_through_generated_code);
    tcase_add_test(cases, ends_in_generated_code_without_frame_pointers);
    tcase_add_test(cases, leaves_out_signal_frames);
    tcase_add_test(cases, stores_no_more_than_asked_for);
    return run_suite("sync_trace own_walk", cases);
}
