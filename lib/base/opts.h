/* SPDX-License-Identifier: MIT */
/** @file Structs that carry their size: how an older or newer caller's struct is read and filled. Room: base. */
#ifndef UPMU_BASE_OPTS_H
#define UPMU_BASE_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** Take the caller's options into ours: at least `least` bytes (the first release's struct), and nothing but zeros
 *  beyond what we know. `ours` is zeroed first. @return false if the size or the tail is not acceptable. */
static inline bool opts_take(void *ours, size_t known, const void *theirs, size_t size, size_t least)
{
    if (size < least)
        return false;
    const unsigned char *bytes = theirs;
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return false;
    memset(ours, 0, known);
    memcpy(ours, theirs, size < known ? size : known);
    return true;
}

/** The least size to accept where the first release's struct ended before a member that came later: that size itself is
 *  good, one between the two never was a struct. */
static inline size_t opts_least(size_t given, size_t first, size_t known)
{
    return given == first ? first : known;
}

/** Give our result to the caller: what both know, zeros beyond; the caller's `size` (its first member) is kept. */
static inline bool opts_give(void *theirs, size_t size, size_t least, const void *ours, size_t known)
{
    if (size < least)
        return false;
    unsigned char *out = theirs;
    size_t common = size < known ? size : known;
    memcpy(out + sizeof(size_t), (const unsigned char *)ours + sizeof(size_t), common - sizeof(size_t));
    if (size > known)
        memset(out + known, 0, size - known);
    return true;
}

#endif
