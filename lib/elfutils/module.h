/* SPDX-License-Identifier: MIT */
/** @file Interface of the shared object that is linked with libdw and libelf. */
#ifndef UPMU_ELFUTILS_MODULE_H
#define UPMU_ELFUTILS_MODULE_H

#include <stddef.h>

struct elfutils;

/** Its path, from the folder of libupmu_analysis on. */
#define ELFUTILS_MODULE "upmu/elfutils.so"

/** @param bytes size of the caller's table @return the table; NULL if its size is another: it is of another build. */
const struct elfutils *upmu_elfutils(size_t bytes);

#endif
