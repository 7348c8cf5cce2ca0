/* SPDX-License-Identifier: MIT */
/*
 * System calls of a recording, and what a seccomp filter does with them.
 *
 * A filter is run here before the kernel has checked it: any instructions end in a result, because jumps only go forward.
 */
#include "core/check/system_calls.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef SECCOMP_RET_KILL_PROCESS /* Linux 4.14 */
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif
#ifndef SECCOMP_RET_ACTION_FULL
#define SECCOMP_RET_ACTION_FULL 0xffff0000U
#endif
#ifndef SECCOMP_RET_LOG
#define SECCOMP_RET_LOG 0x7ffc0000U
#endif
#ifndef SECCOMP_RET_USER_NOTIF /* Linux 5.0 */
#define SECCOMP_RET_USER_NOTIF 0x7fc00000U
#endif
#ifndef SECCOMP_RET_KILL_THREAD
#define SECCOMP_RET_KILL_THREAD 0U
#endif
#ifndef AUDIT_ARCH_LOONGARCH64 /* Linux 5.19 */
#define AUDIT_ARCH_LOONGARCH64 0xc0000102U
#endif

/* ------------------------------------------------------------------------------------------------------- the list */

enum {
    START = SYSTEM_CALL_START,
    RUN = SYSTEM_CALL_RUN,
    END = SYSTEM_CALL_END,
    COUNT = SYSTEM_CALL_COUNTERS,
    OTHER = SYSTEM_CALL_INSTEAD,
#ifdef SYS_mkdir
    AT = SYSTEM_CALL_INSTEAD, /* calls with a directory, where there are those without */
#else
    AT = 0,
#endif
    ALWAYS = START | RUN | END,
    MADVISE_POPULATE = 23,  /* MADV_POPULATE_WRITE, Linux 5.14 */
    MADVISE_WIPE = 18,      /* MADV_WIPEONFORK */
    RANGE_UNSHARE = 1 << 1, /* CLOSE_RANGE_UNSHARE */
    THREAD_FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_VFORK |
                   CLONE_UNTRACED, /* of private_table.c */
    READ_WRITE = PROT_READ | PROT_WRITE,
};

#define HERE ((uint64_t)AT_FDCWD)
#define CALL(name, uses, ...)    \
    {                            \
#name, SYS_##name, uses, \
        {                        \
            __VA_ARGS__          \
        }                        \
    }

const struct system_call system_calls[] = {
    CALL(brk, ALWAYS, 0),
    CALL(clock_gettime, ALWAYS, CLOCK_MONOTONIC_RAW),
    CALL(clock_gettime, ALWAYS, CLOCK_THREAD_CPUTIME_ID),
    CALL(clock_nanosleep, ALWAYS, CLOCK_MONOTONIC),
    CALL(clone, ALWAYS, THREAD_FLAGS),
    CALL(close, ALWAYS, 0),
#ifdef SYS_close_range
    CALL(close_range, ALWAYS, 0, UINT32_MAX, RANGE_UNSHARE),
#endif
    CALL(exit, ALWAYS, 0),
    CALL(fallocate, ALWAYS, 0, 1),
    CALL(fcntl, START | COUNT, 0, F_GETFL),
    CALL(fcntl, START | COUNT, 0, F_GETFD),
    CALL(fcntl, START, 0, F_DUPFD_CLOEXEC),
    CALL(fcntl, START, 0, F_OFD_SETLK),
#ifdef SYS_fstat
    CALL(fstat, ALWAYS, 0),
#endif
    CALL(fstatfs, ALWAYS, 0),
    CALL(ftruncate, ALWAYS, 0),
    CALL(futex, ALWAYS, 0, 128 /* FUTEX_WAIT_PRIVATE */),
    CALL(futex, ALWAYS, 0, 129 /* FUTEX_WAKE_PRIVATE */),
    CALL(getcwd, SYSTEM_CALL_UNFILTERED, 0),
    CALL(getdents64, START, 0),
    CALL(geteuid, START, 0),
    CALL(getpid, ALWAYS, 0),
    CALL(getppid, START, 0),
    CALL(getrandom, START, 0),
    CALL(getrusage, ALWAYS, 0, RUSAGE_THREAD),
    CALL(gettid, ALWAYS, 0),
    CALL(ioctl, START | COUNT, 0, PERF_EVENT_IOC_ENABLE),
    CALL(ioctl, START | COUNT, 0, PERF_EVENT_IOC_ID),
#ifdef SYS_link
    CALL(link, START, 0),
#endif
    CALL(linkat, START | AT, HERE, 0, HERE),
    CALL(lseek, START, 0),
    CALL(madvise, ALWAYS, 0, 0, MADVISE_POPULATE),
    CALL(madvise, ALWAYS, 0, 0, MADVISE_WIPE),
    CALL(madvise, ALWAYS, 0, 0, MADV_RANDOM),
    CALL(mincore, ALWAYS, 0),
#ifdef SYS_mkdir
    CALL(mkdir, START, 0),
#endif
    CALL(mkdirat, START | AT, HERE),
    CALL(mmap, ALWAYS, 0, 0, READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1),
    CALL(mmap, ALWAYS, 0, 0, READ_WRITE, MAP_SHARED),
    CALL(msync, OTHER, 0, 0, MS_ASYNC),
    CALL(munmap, ALWAYS, 0),
#ifdef SYS_newfstatat
    CALL(newfstatat, ALWAYS, 0),
#endif
    CALL(openat, ALWAYS, HERE, 0, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600),
    CALL(openat, ALWAYS, HERE, 0, O_RDONLY | O_CLOEXEC),
    CALL(perf_event_open, START | COUNT, 0, 0, UINT64_MAX, UINT64_MAX, PERF_FLAG_FD_CLOEXEC),
    CALL(pipe2, START | OTHER, 0, O_CLOEXEC),
    CALL(prctl, ALWAYS, PR_GET_NAME),
    CALL(pread64, START | COUNT, 0),
    CALL(prlimit64, ALWAYS, 0, RLIMIT_FSIZE),
    CALL(process_vm_readv, RUN, 0),
    CALL(pwrite64, ALWAYS, 0),
    CALL(pwritev, ALWAYS, 0),
    CALL(read, ALWAYS, 0),
#ifdef SYS_readlink
    CALL(readlink, START, 0),
#endif
    CALL(readlinkat, START | AT | SYSTEM_CALL_UNFILTERED, HERE),
#ifdef SYS_rename
    CALL(rename, START | END, 0),
#endif
    CALL(renameat2, START | END | AT, HERE, 0, HERE),
    CALL(rt_sigaction, START, SIGBUS),
    CALL(rt_sigpending, ALWAYS, 0),
    CALL(rt_sigprocmask, ALWAYS, SIG_SETMASK),
    CALL(rt_sigtimedwait, ALWAYS, 0),
    CALL(sched_getaffinity, START | SYSTEM_CALL_UNFILTERED, 0),
    CALL(sched_setaffinity, START, 0),
    CALL(sched_yield, RUN | END, 0),
    CALL(sigaltstack, SYSTEM_CALL_UNFILTERED, 0),
    CALL(statfs, START, 0),
#ifdef SYS_statx
    CALL(statx, START | OTHER, HERE),
#endif
    CALL(tgkill, RUN, 0),
    CALL(timer_create, SYSTEM_CALL_TIMER, CLOCK_THREAD_CPUTIME_ID),
    CALL(timer_delete, SYSTEM_CALL_TIMER, 0),
    CALL(timer_settime, SYSTEM_CALL_TIMER, 0),
    CALL(uname, START | COUNT, 0),
#ifdef SYS_unlink
    CALL(unlink, START, 0),
#endif
    CALL(unlinkat, START | AT, HERE),
    CALL(unshare, OTHER, CLONE_FILES),
    CALL(write, ALWAYS, 0),
    CALL(writev, START, 0),
};

const size_t system_calls_count = sizeof system_calls / sizeof *system_calls;

/* ----------------------------------------------------------------------------------------------------- the filter */

static const uint32_t filter_arch =
#if defined(__x86_64__)
    AUDIT_ARCH_X86_64;
#elif defined(__i386__)
    AUDIT_ARCH_I386;
#elif defined(__aarch64__)
    AUDIT_ARCH_AARCH64;
#elif defined(__loongarch64)
    AUDIT_ARCH_LOONGARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
    AUDIT_ARCH_RISCV64;
#else
    0;
#endif

struct filter_state {
    uint32_t a, x, memory[BPF_MEMWORDS];
};

static bool filter_alu(struct filter_state *s, const struct sock_filter *i)
{
    const uint32_t v = BPF_SRC(i->code) == BPF_X ? s->x : i->k;
    switch (BPF_OP(i->code)) {
    case BPF_ADD:
        s->a += v;
        return true;
    case BPF_SUB:
        s->a -= v;
        return true;
    case BPF_MUL:
        s->a *= v;
        return true;
    case BPF_DIV:
        s->a = v ? s->a / v : 0;
        return v != 0;
    case BPF_OR:
        s->a |= v;
        return true;
    case BPF_AND:
        s->a &= v;
        return true;
    case BPF_XOR:
        s->a ^= v;
        return true;
    case BPF_LSH:
        s->a = v < 32 ? s->a << v : 0;
        return true;
    case BPF_RSH:
        s->a = v < 32 ? s->a >> v : 0;
        return true;
    case BPF_NEG:
        s->a = 0 - s->a;
        return true;
    default:
        return false;
    }
}

/* @return false for an instruction that the kernel refuses; else `*skip`: how many instructions are left out. */
static bool filter_jump(const struct filter_state *s, const struct sock_filter *i, size_t *skip)
{
    const uint32_t v = BPF_SRC(i->code) == BPF_X ? s->x : i->k;
    bool taken;
    switch (BPF_OP(i->code)) {
    case BPF_JA:
        *skip = i->k;
        return true;
    case BPF_JEQ:
        taken = s->a == v;
        break;
    case BPF_JGT:
        taken = s->a > v;
        break;
    case BPF_JGE:
        taken = s->a >= v;
        break;
    case BPF_JSET:
        taken = (s->a & v) != 0;
        break;
    default:
        return false;
    }
    *skip = taken ? i->jt : i->jf;
    return true;
}

static bool filter_load(struct filter_state *s, const struct sock_filter *i, const uint32_t *data, size_t bytes)
{
    uint32_t v;
    if (i->code == (BPF_LD | BPF_W | BPF_ABS)) {
        if (i->k % sizeof *data != 0 || i->k >= bytes)
            return false;
        v = data[i->k / sizeof *data];
    } else if (BPF_MODE(i->code) == BPF_IMM) {
        v = i->k;
    } else if (BPF_MODE(i->code) == BPF_LEN) {
        v = (uint32_t)bytes;
    } else if (BPF_MODE(i->code) == BPF_MEM && i->k < BPF_MEMWORDS) {
        v = s->memory[i->k];
    } else {
        return false;
    }
    *(BPF_CLASS(i->code) == BPF_LD ? &s->a : &s->x) = v;
    return true;
}

/* One instruction that neither jumps nor returns. @return false if the kernel refuses it. */
static bool filter_step(struct filter_state *s, const struct sock_filter *i, const uint32_t *data, size_t bytes)
{
    switch (BPF_CLASS(i->code)) {
    case BPF_LD:
    case BPF_LDX:
        return filter_load(s, i, data, bytes);
    case BPF_ST:
    case BPF_STX:
        if (i->k >= BPF_MEMWORDS)
            return false;
        s->memory[i->k] = BPF_CLASS(i->code) == BPF_ST ? s->a : s->x;
        return true;
    case BPF_ALU:
        return filter_alu(s, i);
    case BPF_MISC:
        *(BPF_MISCOP(i->code) == BPF_TAX ? &s->x : &s->a) = BPF_MISCOP(i->code) == BPF_TAX ? s->a : s->x;
        return true;
    default:
        return false;
    }
}

uint32_t system_call_filter(const struct sock_filter *program, size_t n, const struct system_call *call)
{
    union {
        struct seccomp_data data;
        uint32_t word[sizeof(struct seccomp_data) / sizeof(uint32_t)];
    } u = {.data = {.nr = (int)call->number, .arch = filter_arch}};
    struct filter_state s = {0};
    for (size_t i = 0; i < sizeof call->args / sizeof *call->args; i++)
        u.data.args[i] = call->args[i];
    for (size_t at = 0; at < n; at++) {
        const struct sock_filter *i = &program[at];
        size_t skip = 0;
        if (BPF_CLASS(i->code) == BPF_RET)
            return BPF_RVAL(i->code) == BPF_A ? s.a : i->k;
        bool good =
            BPF_CLASS(i->code) == BPF_JMP ? filter_jump(&s, i, &skip) : filter_step(&s, i, u.word, sizeof u.data);
        if (!good)
            break;
        at += skip;
    }
    return SECCOMP_RET_KILL_PROCESS;
}

enum system_call_answer system_call_answer(uint32_t result)
{
    switch (result & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
        return SYSTEM_CALL_ALLOWED;
    case SECCOMP_RET_ERRNO:
        return SYSTEM_CALL_REFUSED;
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_USER_NOTIF:
        return SYSTEM_CALL_ASKED;
    default: /* the kernel takes an unknown action for the first of these */
        return SYSTEM_CALL_KILLED;
    }
}

static bool filter_kills(uint32_t result)
{
    return system_call_answer(result) == SYSTEM_CALL_KILLED;
}

const struct system_call *system_call_killed(const struct sock_filter *program, size_t n, uint32_t uses)
{
    for (size_t i = 0; i < system_calls_count; i++)
        if ((system_calls[i].uses & uses) && !(system_calls[i].uses & OTHER) &&
            filter_kills(system_call_filter(program, n, &system_calls[i])))
            return &system_calls[i];
    return NULL;
}
