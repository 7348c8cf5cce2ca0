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
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/tick.h"
#include "base/tiny_lock.h"
#include "sync_trace/resolve.h"
#include "sync_trace/sync.h"
#include "trace/writer.h"

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

static long sleep_on(struct sync_thread *t, const struct futex_call *c, uintptr_t site)
{
    int saved = errno;
    uint32_t stack = sync_stack(t, tick_now(), site);
    struct sleep s __attribute__((cleanup(sleep_end))) = {
        .t = t,
        .result = ECANCELED,
        .e = {.kind = UPMU_TRACE_FUTEX_WAIT,
              .object_type = UPMU_OBJECT_FUTEX,
              .object = (uintptr_t)c->word,
              .flags = (c->timeout ? UPMU_FLAG_TIMED : 0) | (c->op & FUTEX_PRIVATE_FLAG ? 0 : UPMU_FLAG_PSHARED),
              .site = site,
              .stack = stack},
    };
    __atomic_store_n(&t->waiting, (uintptr_t)c->word, __ATOMIC_RELAXED);
    sync_write(t, tick_now(), &s.e);
    t->futex_value = (uint32_t)c->value;
    sync_live_begin(t, &s.e);
    errno = saved;
    long rc = real_futex(c);
    s.result = rc >= 0 ? 0 : errno;
    return rc;
}

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
    return role == FUTEX_SLEEPS ? sleep_on(t, c, site) : wake(t, sync_mode(), c, role, site);
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
    return SYNC_REAL(syscall)(number, a, b, c, d, e, f);
}
#endif
