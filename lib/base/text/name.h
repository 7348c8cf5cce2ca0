/* SPDX-License-Identifier: MIT */
/** @file Names of the constants of an enumeration. */
#ifndef UPMU_BASE_NAME_H
#define UPMU_BASE_NAME_H

#include <stddef.h>

/** Entry `number` of the array `names`; "?" past its ends and for entries that are NULL. */
#define NAME_OF(names, number) name_of(names, sizeof(names) / sizeof *(names), number)

static inline const char *name_of(const char *const *names, size_t n, int number)
{
    return number >= 0 && (size_t)number < n && names[number] ? names[number] : "?";
}

#endif
