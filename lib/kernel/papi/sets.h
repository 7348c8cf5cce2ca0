/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Counters through libpapi, as the kernel door wants them: each call as the one of the same name in core/kernel_ops.h.
 * Room: kernel/papi. Before it: perf.c, which passes on what is PAPI's; after it: libpapi.
 */
#ifndef UPMU_KERNEL_PAPI_SETS_H
#define UPMU_KERNEL_PAPI_SETS_H

#include <stdbool.h>

#include "core/kernel_ops.h"

/** Numbers of events that PAPI counts begin here: no limit of descriptors goes so far (fs.nr_open is 2^20 at most on
 *  kernels as they are shipped, and 2^30 by any means). */
enum { KERNEL_PAPI_FIRST = 1 << 30 };

static inline bool papi_owns(int fd)
{
    return fd >= KERNEL_PAPI_FIRST;
}

int papi_open(const struct kernel_open *req);
void papi_close(int fd, uint64_t id);
uint64_t papi_identify(int fd);
/** Group reads of leaders only. Signal safe as far as PAPI_read() is. */
ssize_t papi_read(int fd, void *words, size_t bytes);
int papi_control(int fd, enum kernel_verb verb);
int papi_named(const char *name, uint64_t *code);
/** Whether libpapi can count here. @param reason out: why not, with the remedy; or which it is. @return 0 or -ELIBACC. */
int papi_usable(const char **reason);

#endif
