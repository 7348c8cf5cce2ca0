/* SPDX-License-Identifier: MIT */
/** @file Does the kernel know of robust mutexes, so that one whose owner is dead is given on? Room: tests. */
#ifndef UPMU_TESTS_SYNC_ROBUST_H
#define UPMU_TESTS_SYNC_ROBUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/** @return false, and says so, where a program is emulated by one that leaves out the kernel's lists of them. */
static inline bool dead_owners_are_told(void)
{
    void *head;
    size_t size;
    bool told = syscall(SYS_get_robust_list, 0, &head, &size) == 0;
    if (!told)
        printf("mutexes of dead owners are left out, because there is no get_robust_list here\n");
    return told;
}

#endif
