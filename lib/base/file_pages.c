/* SPDX-License-Identifier: MIT */
/*
 * A page that is made by a fault in a mapping has its own journal entry and its own space in the page cache. Pages that are made by one
 * write() are large, where the file system has large ones: a quarter of the time on ext4. On tmpfs, reserving makes the pages.
 */
#include "base/file_pages.h"

#include <stdint.h>
#include <sys/uio.h>
#include <sys/vfs.h>

enum { FILE_PAGE_BYTES = 4096, FILE_PAGES_AT_ONCE = 64, FILE_TMPFS = 0x01021994 }; /* TMPFS_MAGIC */

void file_pages_make(int fd, off_t from, size_t bytes)
{
    static const char zeros[FILE_PAGE_BYTES];
    struct iovec pages[FILE_PAGES_AT_ONCE];
    struct statfs system;
    if (bytes == 0 || fstatfs(fd, &system) != 0 || system.f_type == FILE_TMPFS)
        return;
    for (int i = 0; i < FILE_PAGES_AT_ONCE; i++)
        pages[i] = (struct iovec){(void *)(uintptr_t)zeros, sizeof zeros};
    while (bytes > 0) {
        size_t n = bytes / sizeof zeros;
        ssize_t done = pwritev(fd, pages, n < FILE_PAGES_AT_ONCE ? (int)n : FILE_PAGES_AT_ONCE, from);
        if (done <= 0)
            return;
        from += done;
        bytes -= (size_t)done;
    }
}
