/* SPDX-License-Identifier: MIT */
/** @file FNV-1a checksum of the files of an archive. */
#ifndef UPMU_TOOL_CHECKSUM_H
#define UPMU_TOOL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/** FNV-1a over 64 bits; the library's reader of recordings computes the same. */
static inline uint64_t checksum(const char *text, size_t len)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return sum;
}

#endif
