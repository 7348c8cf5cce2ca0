/* SPDX-License-Identifier: MIT */
/** @file Counters through libpapi: functions of core/kernel_ops.h for PAPI events. */
#ifndef UPMU_KERNEL_PAPI_SETS_H
#define UPMU_KERNEL_PAPI_SETS_H

#include <stdbool.h>

#include "core/kernel_ops.h"

/** PAPI events have numbers from here on: no descriptor limit is that high (fs.nr_open is 2^20 by default, and at
 *  most 2^30). */
enum { KERNEL_PAPI_FIRST = 1 << 30 };

static inline bool papi_owns(int fd)
{
    return fd >= KERNEL_PAPI_FIRST;
}

int papi_open(const struct kernel_open *req);
void papi_close(int fd, uint64_t id);
uint64_t papi_identify(int fd);
/** Group reads of leaders only. As signal safe as PAPI_read(). */
ssize_t papi_read(int fd, void *words, size_t bytes);
int papi_control(int fd, enum kernel_verb verb);
int papi_named(const char *name, uint64_t *code);
/** Whether libpapi can be used. @param reason out: why not, with the remedy; or its description. @return 0 or
 *  -ELIBACC. */
int papi_usable(const char **reason);

#endif
