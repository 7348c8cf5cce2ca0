/* SPDX-License-Identifier: MIT */
/** @file Pages of a file that is going to be mapped and filled. */
#ifndef UPMU_BASE_FILE_PAGES_H
#define UPMU_BASE_FILE_PAGES_H

#include <stddef.h>
#include <sys/types.h>

/**
 * Write zeros to reserved space of a file, so that its pages are in memory before they are mapped. What it cannot write is left to
 * page faults. Async-signal-safe.
 * @param from, bytes of space that holds nothing yet; multiples of a page.
 */
void file_pages_make(int fd, off_t from, size_t bytes);

#endif
