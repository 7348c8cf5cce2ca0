/* SPDX-License-Identifier: MIT */
/** @file PAPI names of perf events. */
#ifndef UPMU_KERNEL_PAPI_NAMES_H
#define UPMU_KERNEL_PAPI_NAMES_H

#include <stddef.h>

#include "core/kernel_ops.h"

enum { PAPI_NAME_MAX = 128 };

/** The name of an event with its modes. @return 0, or -ENODATA if PAPI has none. */
int papi_name_of(const struct kernel_open *req, char name[PAPI_NAME_MAX]);

#endif
