/* SPDX-License-Identifier: MIT */
/* A stack unwound from a copy of its memory is the one that the C library finds. */
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sanitizer.h"
#include "sync_trace/stack/cfi.h"
#include "unit/suite.h"

extern char **environ;

enum { FRAMES = 64, BYTES = 16384, INNER = 128 };

static char copy[BYTES];
static void *expected[FRAMES], *found[FRAMES];
static size_t n_expected;
static struct cfi_frame from;

/* The stack behind this function's frame. */
__attribute__((noinline)) static void take(void)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    from = (struct cfi_frame){.pc = frame[1], .sp = (uintptr_t)(frame + 2), .bp = frame[0]};
    int n = backtrace(expected, FRAMES);
    for (int i = 0; i < n; i++)
        if ((uintptr_t)expected[i] == from.pc) {
            n_expected = (size_t)(n - i);
            memmove(expected, expected + i, n_expected * sizeof *expected);
            break;
        }
    char *top = __builtin_frame_address(0);
    size_t bytes = 0;
    for (char *const *e = environ; *e; e++) /* they are above the stack of the first thread */
        if (*e > top && (size_t)(*e - top) > bytes)
            bytes = (size_t)(*e - top);
    memcpy(copy, frame + 2, bytes < BYTES ? bytes : BYTES);
}

/* Frames by the stack pointer and by the frame pointer, of several sizes. */
__attribute__((noinline)) static int chain(int depth, size_t size)
{
    volatile char *here = __builtin_alloca(size);
    here[0] = (char)depth;
    if (depth == 0)
        take();
    else
        (void)chain(depth - 1, size + 24);
    return here[0];
}

__attribute__((noinline)) static int plain(int depth)
{
    int got = chain(depth, 16);
    __asm__ volatile("" ::: "memory");
    return got;
}

START_TEST(finds_the_callers)
{
    bool whole;
    (void)plain(5);
    const struct cfi_memory parts[] = {{from.sp, INNER, copy}, {from.sp + INNER, BYTES - INNER, copy + INNER}};
    uint32_t n = cfi_walk(from, parts, 2, found, FRAMES, &whole);
    ck_assert(whole);
    ck_assert_uint_eq(n, n_expected);
    for (size_t i = 0; i < n_expected; i++)
        ck_assert_ptr_eq(found[i], expected[i]);
    ck_assert_uint_ge(n, 8);
}
END_TEST

START_TEST(ends_where_the_copy_ends)
{
    bool whole;
    (void)plain(5);
    const struct cfi_memory part = {from.sp, INNER, copy};
    uint32_t n = cfi_walk(from, &part, 1, found, FRAMES, &whole);
    ck_assert(!whole);
    ck_assert_uint_lt(n, n_expected);
    for (size_t i = 0; i < n; i++)
        ck_assert_ptr_eq(found[i], expected[i]);
    n = cfi_walk(from, NULL, 0, found, FRAMES, &whole);
    ck_assert(!whole && n == 1 && (uintptr_t)found[0] == from.pc);
}
END_TEST

/* Whatever the memory contains, nothing else is read, and what is found are return addresses. */
START_TEST(stops_at_other_contents)
{
    bool whole;
    uint64_t random = 88172645463325252u;
    (void)plain(5);
    for (int round = 0; round < 2000; round++) {
        static char other[BYTES];
        memcpy(other, copy, sizeof other);
        for (size_t i = 0; i < sizeof other; i += sizeof random) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if (random % 8 == 0) /* an address within the program, on the stack, or anywhere */
                memcpy(other + i,
                       &(uint64_t){random % 3 == 0   ? (uintptr_t)expected[0] + random % 512
                                   : random % 3 == 1 ? from.sp + random % (2 * BYTES)
                                                     : random},
                       sizeof random);
        }
        const struct cfi_memory part = {from.sp, BYTES, other};
        uint32_t n = cfi_walk(from, &part, 1, found, FRAMES, &whole);
        ck_assert(n >= 1 && n <= FRAMES);
    }
}
END_TEST

START_TEST(finds_no_more_than_asked_for)
{
    bool whole;
    (void)plain(5);
    const struct cfi_memory part = {from.sp, BYTES, copy};
    ck_assert_uint_eq(cfi_walk(from, &part, 1, found, 3, &whole), 3);
    ck_assert(!whole);
}
END_TEST

int main(void)
{
#if !defined(__x86_64__) || !defined(__GLIBC__)
    printf("skipped, because only x86-64 code with glibc is unwound from a copy\n");
    return 77;
#endif
    if (UNDER_ASAN || UNDER_TSAN) {
        printf("skipped, because a sanitizer reports the copy of the stack\n");
        return 77;
    }
    TCase *cases = tcase_create("cfi");
    tcase_add_test(cases, finds_the_callers);
    tcase_add_test(cases, ends_where_the_copy_ends);
    tcase_add_test(cases, stops_at_other_contents);
    tcase_add_test(cases, finds_no_more_than_asked_for);
    return run_suite("sync_trace cfi", cases);
}
