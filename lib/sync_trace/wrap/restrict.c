/* SPDX-License-Identifier: MIT */
/*
 * Wrapper of prctl() for programs that restrict their system calls (seccomp) or time stamps (PR_SET_TSC).
 *
 * A seccomp filter that ends the process for a call of the recorder would end it at the next packet; in strict mode, and after
 * PR_SET_TSC, the next time stamp would. So the filter is run on the recorder's calls before it is installed, and recording ends
 * before, if it has to. Filters installed without the C library's functions are not seen (`upmu doctor -- COMMAND` sees them).
 */
#include "sync_trace/wrap/restrict.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "region/recorder.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/process.h"
#include "sync_trace/state/state.h"

#ifndef SECCOMP_SET_MODE_STRICT /* Linux 3.17 */
#define SECCOMP_SET_MODE_STRICT 0
#define SECCOMP_SET_MODE_FILTER 1
#endif

enum { PROBE_STEP = 4096 /* at most the size of a page */ };

static bool restrict_readable(uintptr_t at, size_t bytes)
{
    char byte;
    const struct iovec to = {&byte, 1}, from = {(void *)at, 1}; // NOLINT(performance-no-int-to-ptr)
    if (at == 0)
        return false;
    for (size_t done = 0; done < bytes; done += PROBE_STEP) {
        const struct iovec next = {(char *)from.iov_base + done, 1};
        if (process_vm_readv(getpid(), &to, 1, &next, 1, 0) != 1)
            return errno != EFAULT; /* else: reading is refused, not the address */
    }
    return true;
}

/* The kernel refuses a filter from a process that could give a program of more rights a filter. */
static bool restrict_is_allowed(void)
{
    return __atomic_load_n(&sync_process.restricted, __ATOMIC_RELAXED) || geteuid() == 0 ||
           SYNC_REAL(prctl)(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static void restrict_by_filter(long address)
{
    const struct sock_fprog *program = (const struct sock_fprog *)address; // NOLINT(performance-no-int-to-ptr)
    int saved = errno;
    if (restrict_is_allowed() && restrict_readable((uintptr_t)program, sizeof *program) &&
        restrict_readable((uintptr_t)program->filter, program->len * sizeof *program->filter)) {
        if (upmu_recorder_forbidden_(program->filter, program->len))
            sync_process_finish();
        __atomic_store_n(&sync_process.restricted, 1, __ATOMIC_RELAXED);
    }
    errno = saved;
}

void sync_restrict_seccomp(long operation, long program)
{
    if (operation == SECCOMP_SET_MODE_STRICT)
        sync_process_finish();
    else if (operation == SECCOMP_SET_MODE_FILTER)
        restrict_by_filter(program);
}

void sync_restrict_prctl(long option, long a, long b)
{
    if (option == PR_SET_SECCOMP && a == SECCOMP_MODE_STRICT)
        sync_process_finish();
    else if (option == PR_SET_SECCOMP && a == SECCOMP_MODE_FILTER)
        restrict_by_filter(b);
    else if (option == PR_SET_TSC && a == PR_TSC_SIGSEGV)
        sync_process_finish();
}

/* Declared with numbers in place of "...", as syscall() is in futex.c. */
UPMU_API int sync_prctl(int option, long a, long b, long c, long d) __asm__("prctl");

int sync_prctl(int option, long a, long b, long c, long d)
{
    if (UNLIKELY((option == PR_SET_SECCOMP || option == PR_SET_TSC) && sync_is_recorded()))
        sync_restrict_prctl(option, a, b);
    return SYNC_REAL(prctl)(option, a, b, c, d);
}
