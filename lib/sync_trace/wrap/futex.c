/* SPDX-License-Identifier: MIT */
/*
 * Futexes that the program uses itself, through libc's syscall(): what locks of other languages and C++20's atomic waits
 * stand on. Room: sync_trace; before it the program's calls, after it record.c.
 *
 * The wrapper is declared with six numbers in place of "...", which all of Linux's ABIs pass alike, so that any other
 * system call is a jump to libc: a call that comes back twice, as vfork does, must not find a frame of ours in between.
 * Our own locks (base/tiny_lock.h) carry a sign, and are not the program's.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/tick.h"
#include "base/tiny_lock.h"
#include "sync_trace/wrap/resolve.h"
#include "sync_trace/sync.h"
#include "trace/write/writer.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

struct futex_call {
    long number, word, op, value, timeout, word2, value3; /**< as they were given */
};

enum futex_role { FUTEX_OTHER, FUTEX_SLEEPS, FUTEX_WAKES, FUTEX_MOVES };

static enum futex_role role_of(long op)
{
    switch (op & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
        return FUTEX_SLEEPS;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_UNLOCK_PI:
        return FUTEX_WAKES;
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
        return FUTEX_MOVES;
    default:
        return FUTEX_OTHER;
    }
}

static long real_futex(const struct futex_call *c)
{
    return SYNC_REAL(syscall)(c->number, c->word, c->op, c->value, c->timeout, c->word2, c->value3);
}

struct sleep {
    struct sync_thread *t;
    struct trace_sync e;
    int result;
};

/* Also when the thread is cancelled asynchronously. */
static void sleep_end(struct sleep *s)
{
    int saved = errno;
    __atomic_store_n(&s->t->waiting, 0, __ATOMIC_RELAXED);
    s->e.kind = UPMU_TRACE_FUTEX_WOKEN;
    s->e.stack = 0;
    s->e.result = s->result;
    sync_live_end(s->t);
    sync_write(s->t, tick_now(), &s->e);
    errno = saved;
}

/* What a thread sleeps on. */
struct sleep_words {
    uintptr_t object; /**< the word, or the first of them */
    uint32_t flags;
    uint32_t several; /**< their number, 0: it is one */
    bool one;         /**< whose value is the call's */
};

static void tell_others(struct sync_thread *t, const struct futex_call *c, uint32_t n);

static long sleep_on(struct sync_thread *t, const struct futex_call *c, const struct sleep_words *words, uintptr_t site)
{
    int saved = errno;
    uint32_t stack = sync_stack(t, tick_now(), site);
    struct sleep s __attribute__((cleanup(sleep_end))) = {
        .t = t,
        .result = ECANCELED,
        .e = {.kind = UPMU_TRACE_FUTEX_WAIT,
              .object_type = UPMU_OBJECT_FUTEX,
              .object = words->object,
              .flags = (c->timeout ? UPMU_TRACE_FLAG_TIMED : 0) | words->flags,
              .count = words->several,
              .site = site,
              .stack = stack},
    };
    __atomic_store_n(&t->waiting, words->object, __ATOMIC_RELAXED);
    uint64_t tick = tick_now();
    sync_write(t, tick, &s.e);
    if (words->several)
        tell_others(t, c, words->several);
    t->futex_one = words->one;
    t->futex_value = (uint32_t)c->value;
    sync_live_begin(t, tick, &s.e);
    errno = saved;
    s.e.count = 0;
    long rc = real_futex(c);
    s.result = rc >= 0 ? 0 : errno;
    s.e.count = words->several && rc > 0 ? (uint64_t)rc : 0;
    return rc;
}

static long sleep_on_one(struct sync_thread *t, const struct futex_call *c, uintptr_t site)
{
    const struct sleep_words one = {
        .object = (uintptr_t)c->word, .flags = c->op & FUTEX_PRIVATE_FLAG ? 0 : UPMU_TRACE_FLAG_PSHARED, .one = true};
    return sleep_on(t, c, &one, site);
}

/* -------------------------------------------------------------------------------------------- several words */

#ifdef SYS_futex_waitv /* Linux 5.16 */
static const long waitv_number = SYS_futex_waitv;
#else
static const long waitv_number = LONG_MIN; /* nobody's */
#endif

enum {
    WAITERS_MAX = 128, /* as many as the kernel takes */
    WAITERS_ONCE = 16, /* looked at together: a thread may have little stack */
    WAITER_PRIVATE = 128,
};

/* As the kernel has it, for headers that are older. */
struct waiter {
    uint64_t value, word;
    uint32_t flags, reserved;
};

/* The program's array, which may be anywhere: what cannot be read is for the kernel to refuse. */
static bool read_waiters(const struct futex_call *c, uint32_t from, uint32_t n, struct waiter *out)
{
    const struct iovec to = {.iov_base = out, .iov_len = n * sizeof *out};
    const struct iovec at = {.iov_base = (void *)((uintptr_t)c->word + from * sizeof *out), .iov_len = to.iov_len};
    return process_vm_readv(getpid(), &to, 1, &at, 1, 0) == (ssize_t)to.iov_len;
}

static uint32_t part(uint32_t from, uint32_t n)
{
    return n - from < WAITERS_ONCE ? n - from : WAITERS_ONCE;
}

static void tell_others(struct sync_thread *t, const struct futex_call *c, uint32_t n)
{
    struct waiter w[WAITERS_ONCE];
    for (uint32_t from = 1, got = 0; from < n; from += got) {
        got = part(from, n);
        if (!read_waiters(c, from, got, w))
            return; /* somebody has taken it away meanwhile */
        for (uint32_t i = 0; i < got; i++) {
            const struct trace_sync e = {
                .kind = UPMU_TRACE_FUTEX_ALSO, .object_type = UPMU_OBJECT_FUTEX, .object = (uintptr_t)w[i].word};
            sync_write(t, tick_now(), &e);
        }
    }
}

/* futex_waitv(waiters, n, flags, timeout, clock). @return false if it is nothing that waits. */
static bool several_words(const struct futex_call *c, struct sleep_words *out)
{
    struct waiter w[WAITERS_ONCE];
    int saved = errno;
    bool read = c->op > 0 && c->op <= WAITERS_MAX;
    uint32_t n = read ? (uint32_t)c->op : 0;
    *out = (struct sleep_words){.several = n > 1 ? n : 0};
    for (uint32_t from = 0, got = 0; read && from < n; from += got) {
        got = part(from, n);
        read = read_waiters(c, from, got, w);
        if (read && from == 0)
            out->object = (uintptr_t)w[0].word;
        for (uint32_t i = 0; read && i < got; i++)
            out->flags |= w[i].flags & WAITER_PRIVATE ? 0 : UPMU_TRACE_FLAG_PSHARED;
    }
    errno = saved;
    return read;
}

__attribute__((noinline)) static long futex_waitv(const struct futex_call *c, uintptr_t site)
{
    struct sleep_words words;
    struct sync_thread *t = sync_recording();
    if (!t || !several_words(c, &words))
        return real_futex(c);
    return sleep_on(t, c, &words, site);
}

/* ----------------------------------------------------------------------------------------------------- one word */

/* Nobody to wake is no event, but in mode all. The tick is that before the call: who is woken is later. */
static long wake(struct sync_thread *t, uint32_t mode, const struct futex_call *c, enum futex_role role, uintptr_t site)
{
    uint64_t tick = tick_now();
    long rc = real_futex(c);
    int saved = errno;
    if (rc == 0 && mode != MODE_ALL)
        return rc;
    struct trace_sync e = {
        .kind = UPMU_TRACE_FUTEX_WAKE,
        .object_type = UPMU_OBJECT_FUTEX,
        .object = (uintptr_t)c->word,
        .object2 = role == FUTEX_MOVES ? (uintptr_t)c->word2 : 0,
        .site = site,
        .result = rc >= 0 ? 0 : saved,
        .count = rc >= 0 ? (uint64_t)rc : 0,
        .stack = sync_stack(t, tick, site),
    };
    sync_write(t, tick, &e);
    errno = saved;
    return rc;
}

__attribute__((noinline)) static long futex(const struct futex_call *c, uintptr_t site)
{
    enum futex_role role = role_of(c->op);
    struct sync_thread *t = role == FUTEX_OTHER || c->value3 == TINY_LOCK_SIGN ? NULL : sync_recording();
    if (!t)
        return real_futex(c);
    return role == FUTEX_SLEEPS ? sleep_on_one(t, c, site) : wake(t, sync_mode(), c, role, site);
}

/* Where a long is shorter than a register some calls take more than a long per argument: there, libc's own stays. */
#if !(defined(__x86_64__) && defined(__ILP32__)) && !(defined(_ABIN32) && defined(_MIPS_SIM) && _MIPS_SIM == _ABIN32)
UPMU_API long sync_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

long sync_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (UNLIKELY(number == SYS_futex && sync_mode() != MODE_OFF)) {
        const struct futex_call call = {number, a, b, c, d, e, f};
        return futex(&call, CALL_SITE());
    }
    if (UNLIKELY(number == waitv_number && sync_mode() != MODE_OFF)) {
        const struct futex_call call = {number, a, b, c, d, e, f};
        return futex_waitv(&call, CALL_SITE());
    }
    return SYNC_REAL(syscall)(number, a, b, c, d, e, f);
}
#endif
