/* SPDX-License-Identifier: MIT */
/*
 * Wrapper of syscall() for futex calls, on which locks of other languages and C++20 atomic waits are built, and for those by
 * which a program restricts its system calls (restrict.c).
 *
 * The wrapper is declared with six numbers in place of "...", which all Linux ABIs pass alike, so that any other system
 * call is a jump to libc: a call that returns twice, as vfork does, must not have a frame in between. The library's own
 * locks (base/tiny_lock.h) are marked, and not recorded.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/tick.h"
#include "base/tiny_lock.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/stack/unwind_pipe.h"
#include "sync_trace/thread_life.h"
#include "sync_trace/wrap/restrict.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

struct futex_call {
    long number, word, op, value, timeout, word2, value3; /**< the arguments */
};

enum futex_role { FUTEX_OTHER, FUTEX_SLEEPS, FUTEX_WAKES, FUTEX_MOVES };

static enum futex_role futex_role_of(long op)
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

struct futex_wait {
    struct sync_thread *t;
    struct trace_sync e;
    int result;
};

/* Also when the thread is canceled asynchronously. */
static void futex_wait_end(struct futex_wait *s)
{
    int saved = errno;
    __atomic_store_n(&s->t->waiting, 0, __ATOMIC_RELAXED);
    s->e.kind = UPMU_TRACE_FUTEX_WOKEN;
    s->e.stack = 0;
    s->e.result = s->result;
    sync_wait_state_unblock(s->t);
    sync_write(s->t, tick_now(), &s->e);
    errno = saved;
}

/* What a thread waits on. */
struct futex_words {
    uintptr_t object; /**< the word, or the first of them */
    uint32_t flags;
    uint32_t several; /**< their number, 0: one word */
    bool one;         /**< one word, whose value is the call's */
};

static void futex_write_others(struct sync_thread *t, const struct futex_call *c, uint32_t n);

static long futex_wait_on(struct sync_thread *t, const struct futex_call *c, const struct futex_words *words,
                          uintptr_t site)
{
    int saved = errno;
    uint32_t stack = sync_stack(t, tick_now(), site);
    struct futex_wait s __attribute__((cleanup(futex_wait_end))) = {
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
        futex_write_others(t, c, words->several);
    t->futex_one = words->one;
    t->futex_value = (uint32_t)c->value;
    sync_wait_state_block(t, tick, &s.e);
    errno = saved;
    s.e.count = 0;
    long rc = real_futex(c);
    s.result = rc >= 0 ? 0 : errno;
    s.e.count = words->several && rc > 0 ? (uint64_t)rc : 0;
    return rc;
}

static long futex_wait_on_one(struct sync_thread *t, const struct futex_call *c, uintptr_t site)
{
    const struct futex_words one = {
        .object = (uintptr_t)c->word, .flags = c->op & FUTEX_PRIVATE_FLAG ? 0 : UPMU_TRACE_FLAG_PSHARED, .one = true};
    return futex_wait_on(t, c, &one, site);
}

/* -------------------------------------------------------------------------------------------- several words */

#ifdef SYS_futex_waitv /* Linux 5.16 */
static const long waitv_number = SYS_futex_waitv;
#else
static const long waitv_number = LONG_MIN; /* no such call */
#endif

enum {
    WAITERS_MAX = 128, /* the kernel's limit */
    WAITERS_ONCE = 16, /* read at once: the thread's stack may be small */
    WAITER_PRIVATE = 128,
};

/* The kernel's struct, for older headers. */
struct waiter {
    uint64_t value, word;
    uint32_t flags, reserved;
};

/* The program's array, at any address: if it cannot be read, the kernel's call fails. */
static bool futex_waiters(const struct futex_call *c, uint32_t from, uint32_t n, struct waiter *out)
{
    const struct iovec to = {.iov_base = out, .iov_len = n * sizeof *out};
    const struct iovec at = {.iov_base = (void *)((uintptr_t)c->word + from * sizeof *out), .iov_len = to.iov_len};
    return process_vm_readv(getpid(), &to, 1, &at, 1, 0) == (ssize_t)to.iov_len;
}

static uint32_t futex_waiters_part(uint32_t from, uint32_t n)
{
    return n - from < WAITERS_ONCE ? n - from : WAITERS_ONCE;
}

static void futex_write_others(struct sync_thread *t, const struct futex_call *c, uint32_t n)
{
    struct waiter w[WAITERS_ONCE];
    for (uint32_t from = 1, got = 0; from < n; from += got) {
        got = futex_waiters_part(from, n);
        if (!futex_waiters(c, from, got, w))
            return; /* the array was unmapped meanwhile */
        for (uint32_t i = 0; i < got; i++) {
            const struct trace_sync e = {
                .kind = UPMU_TRACE_FUTEX_ALSO, .object_type = UPMU_OBJECT_FUTEX, .object = (uintptr_t)w[i].word};
            sync_write(t, tick_now(), &e);
        }
    }
}

/* futex_waitv(waiters, n, flags, timeout, clock). @return false if the call does not wait. */
static bool futex_several_words(const struct futex_call *c, struct futex_words *out)
{
    struct waiter w[WAITERS_ONCE];
    int saved = errno;
    bool read = c->op > 0 && c->op <= WAITERS_MAX;
    uint32_t n = read ? (uint32_t)c->op : 0;
    *out = (struct futex_words){.several = n > 1 ? n : 0};
    for (uint32_t from = 0, got = 0; read && from < n; from += got) {
        got = futex_waiters_part(from, n);
        read = futex_waiters(c, from, got, w);
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
    struct futex_words words;
    struct sync_thread *t = sync_recording();
    if (!t || !futex_several_words(c, &words))
        return real_futex(c);
    return futex_wait_on(t, c, &words, site);
}

/* ----------------------------------------------------------------------------------------------------- one word */

/* A wake without waiters is an event in mode all only. The tick is read before the call: events of woken threads are
 * later. */
static long futex_wake(struct sync_thread *t, uint32_t mode, const struct futex_call *c, enum futex_role role,
                       uintptr_t site)
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
    enum futex_role role = futex_role_of(c->op);
    struct sync_thread *t = role == FUTEX_OTHER || c->value3 == TINY_LOCK_SIGN ? NULL : sync_recording();
    if (!t)
        return real_futex(c);
    return role == FUTEX_SLEEPS ? futex_wait_on_one(t, c, site) : futex_wake(t, sync_mode(), c, role, site);
}

/* Where a long is shorter than a register, some calls pass more than a long per argument: libc's own is not interposed
 * there. */
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
    if (UNLIKELY(number == SYS_prctl && sync_is_recorded()))
        sync_restrict_prctl(a, b, c);
    else if (UNLIKELY(number == SYS_seccomp && sync_is_recorded()))
        sync_restrict_seccomp(a, c);
    if (UNLIKELY(number == SYS_write && a == sync_unwind_pipe.writes) && sync_unwind_pipe_refuses(CALL_SITE())) {
        errno = EFAULT; /* as write() */
        return -1;
    }
    return SYNC_REAL(syscall)(number, a, b, c, d, e, f);
}
#endif
