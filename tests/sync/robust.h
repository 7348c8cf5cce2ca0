/* SPDX-License-Identifier: MIT */
/** @file Detection of the kernel's support for robust mutexes. */
#ifndef UPMU_TESTS_SYNC_ROBUST_H
#define UPMU_TESTS_SYNC_ROBUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/** @return false, with a message, under an emulator without get_robust_list(). */
static inline bool robust_list_supported(void)
{
    void *head;
    size_t size;
    bool supported = syscall(SYS_get_robust_list, 0, &head, &size) == 0;
    if (!supported)
        printf("mutexes of dead owners are left out, because there is no get_robust_list here\n");
    return supported;
}

#endif
