/* SPDX-License-Identifier: MIT */
/** @file Writer of tar archives in the POSIX ustar format: plain files without owner. */
#ifndef UPMU_TOOL_TAR_H
#define UPMU_TOOL_TAR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tar {
    FILE *out;    /**< the caller's, who finds out when closing it whether all was written */
    int64_t time; /**< of every file, in seconds since 1970 */
};

void tar_begin(struct tar *t, FILE *out, int64_t time);
/** Add a file. @param path relative, slashes between its parts. @return 0, or -1 if the format cannot hold such a name
 *  (256 bytes in two halves) or such a size (8 GiB): nothing is written then. */
int tar_add(struct tar *t, const char *path, const void *data, size_t len);
/** Write the end of the archive. */
void tar_end(struct tar *t);

#endif
