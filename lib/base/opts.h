/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reading and filling the sized structs of callers built against another release.
 *
 * A sized struct begins with `size_t size`. Accepted are sizes of at least the first release's; what lies beyond the struct
 * of this release must be zero, since it would ask for, or expect, what this release does not have.
 */
#ifndef UPMU_BASE_OPTS_H
#define UPMU_BASE_OPTS_H

#include <stddef.h>
#include <string.h>

#include "base/error.h"

/** Fail because argument `name` of `function` is NULL. */
static inline int argument_null(const char *function, const char *name)
{
    (void)upmu_fail(UPMU_E_INVAL, "%s: `%s` is NULL", function, name);
    return UPMU_E_INVAL; /* in sight of an analyzer */
}

/** Fail because the first or else the second argument is NULL. */
#define ARGUMENT_NULL(first, second) argument_null(__func__, (first) ? #second : #first)

/** Check the caller's struct `theirs`, of which this release has `known` bytes. @return 0; UPMU_E_INVAL. */
static inline UPMU_CHECKED int opts_check(const char *function, const char *name, const void *theirs, size_t v1,
                                          size_t known)
{
    size_t size;
    const unsigned char *bytes = theirs;
    if (!theirs)
        return argument_null(function, name);
    memcpy(&size, theirs, sizeof size);
    if (size < v1)
        return upmu_fail(UPMU_E_INVAL, "%s: %s->size is %zu, at least %zu is needed. Set it to sizeof *%s.", function,
                         name, size, v1, name);
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return upmu_fail(UPMU_E_INVAL,
                             "%s: %s->size is %zu, and byte %zu, which libupmu " UPMU_VERSION_STRING
                             " does not have, is not zero",
                             function, name, size, i);
    return 0;
}

/** Copy the caller's options into `ours`; what they lack, and all if `theirs` is NULL, is zero. @return as opts_check(). */
static inline UPMU_CHECKED int opts_take(const char *function, const char *name, const void *theirs, size_t v1,
                                         void *ours, size_t known)
{
    size_t size = known;
    int rc = theirs ? opts_check(function, name, theirs, v1, known) : 0;
    memset(ours, 0, known);
    if (rc != 0)
        return rc;
    if (theirs) {
        memcpy(&size, theirs, sizeof size);
        memcpy(ours, theirs, size < known ? size : known);
    }
    memcpy(ours, &known, sizeof known);
    return 0;
}

/** Fill the caller's struct with as much of `ours` as fits, and set its size to that. @return as opts_check(). */
static inline UPMU_CHECKED int opts_give(const char *function, const char *name, void *theirs, size_t v1,
                                         const void *ours, size_t known)
{
    int rc = opts_check(function, name, theirs, v1, known);
    if (rc != 0)
        return rc;
    size_t size;
    memcpy(&size, theirs, sizeof size);
    size = size < known ? size : known;
    memcpy((char *)theirs + sizeof size, (const char *)ours + sizeof size, size - sizeof size);
    memcpy(theirs, &size, sizeof size);
    return 0;
}

/** Fill an entry of a caller's array, whose entries have `size` bytes: what both have, zero beyond. */
static inline void opts_fill(void *theirs, size_t size, const void *ours, size_t known)
{
    size_t filled = size < known ? size : known;
    memcpy((char *)theirs + sizeof filled, (const char *)ours + sizeof filled, filled - sizeof filled);
    memset((char *)theirs + filled, 0, size - filled);
    memcpy(theirs, &filled, sizeof filled);
}

/* For public functions, whose argument has the name in the header. `v1` is UPMU_..._SIZE_V1. */
#define OPTS_CHECK(theirs, v1) opts_check(__func__, #theirs, (theirs), (v1), sizeof *(theirs))
#define OPTS_TAKE(ours, theirs, v1) opts_take(__func__, #theirs, (theirs), (v1), &(ours), sizeof(ours))
#define OPTS_GIVE(theirs, ours, v1) opts_give(__func__, #theirs, (theirs), (v1), &(ours), sizeof(ours))

#endif
