/* SPDX-License-Identifier: MIT */
/*
 * longjmp() out of MPI calls, for example from an error handler.
 *
 * A jump leaves a call if its target is a caller of the call's wrapper, by the stack pointer in the jmp_buf. glibc stores that
 * exclusive-or a number of the process, which is found by a trial. On other ISAs than these, each jump leaves the call.
 */
#include <dlfcn.h>
#include <errno.h>

#include "mpi/wrap/frequent.h"
#include "mpi/wrap/wrap.h"

/* Without <setjmp.h>, which gives longjmp() another name in hardened builds. NOLINTBEGIN(clang-diagnostic-reserved-identifier) */
enum { JUMP_WORDS = 128 };
int _setjmp(uintptr_t *to) __attribute__((returns_twice));

/* The word of a jmp_buf that has the stack pointer, and by how many bits it is rotated. */
#if defined(__x86_64__)
enum { JUMP_STACK = 6, JUMP_BITS = 17 };
#define JUMP_READ_STACK(to) __asm__ volatile("mov %%rsp, %0" : "=r"(to))
#elif defined(__aarch64__)
enum { JUMP_STACK = 13, JUMP_BITS = 0 };
#define JUMP_READ_STACK(to) __asm__ volatile("mov %0, sp" : "=r"(to))
#elif defined(__riscv) && __riscv_xlen == 64
enum { JUMP_STACK = 13, JUMP_BITS = 0 };
#define JUMP_READ_STACK(to) __asm__ volatile("mv %0, sp" : "=r"(to))
#endif

#ifdef JUMP_READ_STACK
static uintptr_t jump_plain(uintptr_t word)
{
    return JUMP_BITS ? word >> JUMP_BITS | word << (64 - JUMP_BITS) : word;
}

static __attribute__((noinline)) uintptr_t jump_try(uintptr_t *env)
{
    uintptr_t stack;
    (void)_setjmp(env); /* no jump leads here */
    JUMP_READ_STACK(stack);
    return stack;
}

/* Stack pointer of a jump's target. */
static uintptr_t jump_target(const uintptr_t *env)
{
    uintptr_t trial[JUMP_WORDS];
    uintptr_t stack = jump_try(trial);
    if (trial[JUMP_STACK] == stack) /* as in musl */
        return env[JUMP_STACK];
    return jump_plain(env[JUMP_STACK]) ^ jump_plain(trial[JUMP_STACK]) ^ stack;
}
#else
static uintptr_t jump_target(const uintptr_t *env)
{
    (void)env;
    return UINTPTR_MAX;
}
#endif

static void jump_leave(const uintptr_t *env)
{
    const struct mpi_tls *t = &mpi_tls;
    if (LIKELY(t->where.inside == MPI_INSIDE_NOT) || jump_target(env) <= (uintptr_t)t->frame)
        return;
    int saved = errno;
    if (t->where.inside == MPI_INSIDE_CALL) {
        struct mpi_call *c = t->frame;
        c->rc = MPI_CALL_UNWOUND;
        mpi_call_end(c);
    } else {
        const struct mpi_frequent f = {
            .stream = recorder_stream_made(),
            .tick = ((const struct mpi_frequent_frame *)t->frame)->tick,
            .e = {.call = t->where.call, .peer = UPMU_MPI_NONE, .tag = UPMU_MPI_NONE, .bytes = UPMU_NO_VALUE},
            .on = true};
        mpi_frequent_abandon(&f);
    }
    errno = saved;
}

/* Under the names that programs call, those of hardened ones included. */
#define WRAP_JUMP(name)                                                      \
    UPMU_API __attribute__((noreturn)) void name(uintptr_t *env, int value); \
    void name(uintptr_t *env, int value)                                     \
    {                                                                        \
        static void *found;                                                  \
        void (*real)(uintptr_t *, int) __attribute__((noreturn));            \
        void *address = __atomic_load_n(&found, __ATOMIC_RELAXED);           \
        if (UNLIKELY(!address)) {                                            \
            address = dlsym(RTLD_NEXT, #name);                               \
            __atomic_store_n(&found, address, __ATOMIC_RELAXED);             \
        }                                                                    \
        jump_leave(env);                                                     \
        memcpy(&real, &address, sizeof real);                                \
        real(env, value);                                                    \
    }
WRAP_JUMP(longjmp)
WRAP_JUMP(_longjmp)
WRAP_JUMP(siglongjmp)
WRAP_JUMP(__longjmp_chk)
/* NOLINTEND(clang-diagnostic-reserved-identifier) */
