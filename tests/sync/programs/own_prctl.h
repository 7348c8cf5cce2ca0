/* SPDX-License-Identifier: MIT */
/* A system call by an instruction of the program's own. */
#ifndef TESTS_SYNC_OWN_PRCTL_H
#define TESTS_SYNC_OWN_PRCTL_H

#include <stddef.h>
#include <sys/syscall.h>

/* prctl() without the C library: no wrapper sees it. @return not 0: refused, or not supported for this machine */
static inline long own_prctl(long option, long arg2, const void *arg3)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_prctl), "D"(option), "S"(arg2), "d"(arg3)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x0 __asm__("x0") = option, x1 __asm__("x1") = arg2, x8 __asm__("x8") = SYS_prctl;
    register const void *x2 __asm__("x2") = arg3;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
    return x0;
#else
    return option + arg2 + (arg3 != NULL); /* not 0: not supported here */
#endif
}

#endif
