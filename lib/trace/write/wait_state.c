/* SPDX-License-Identifier: MIT */
/*
 * The wait-state file of a process.
 *
 * Space on the disk is reserved before anything is written: a store into a hole of a file on a full disk, or behind its
 * end, ends the process. A mapping may reach beyond the end; only reserved bytes are stored to.
 */
#include "trace/format/wait_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/write/stream.h"
#include "trace/write/writer.h"

static int file_open(const struct trace_writer *w, int flags)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" WAIT_FILE_NAME, trace_writer_dir(w)) >= (int)sizeof path)
        return -ENAMETOOLONG;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    return fd < 0 ? -errno : fd;
}

static size_t room_of(uint32_t index)
{
    return index == WAIT_FILE_HEADER_INDEX ? WAIT_FILE_HEADER_BYTES : WAIT_FILE_SLOT_BYTES;
}

/* One call reserves the space and lengthens the file over it, and never shortens it: a file that was measured before could
 * have grown in between, under the mapping of another thread, or of this one in a nested call. */
static int take_room(int fd, uint32_t index, size_t bytes)
{
    off_t at = wait_file_slot_at(index);
    if (!stream_size_allowed(at + (off_t)bytes))
        return -EFBIG;
    return fallocate(fd, 0, at, (off_t)bytes) == 0 ? 0 : -errno;
}

static void *map_room(int fd, uint32_t index)
{
    int rc = take_room(fd, index, index == WAIT_FILE_HEADER_INDEX ? WAIT_FILE_NOTES_STEP : WAIT_FILE_FIRST_BYTES);
    void *p = rc == 0 ? mmap(NULL, room_of(index), PROT_READ | PROT_WRITE, MAP_SHARED, fd, wait_file_slot_at(index))
                      : MAP_FAILED;
    if (rc != 0)
        errno = -rc;
    return p == MAP_FAILED ? NULL : p;
}

struct wait_file_header *trace_writer_wait_file(const struct trace_writer *w)
{
    int fd = file_open(w, O_CREAT);
    struct wait_file_header *h = fd >= 0 ? map_room(fd, WAIT_FILE_HEADER_INDEX) : NULL;
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    close(fd);
    if (!h)
        return NULL;
    h->version = WAIT_FILE_VERSION;
    h->slot_bytes = WAIT_FILE_SLOT_BYTES;
    h->pid = (uint32_t)getpid();
    memcpy(h->magic, WAIT_FILE_MAGIC, sizeof h->magic);
    return h;
}

struct wait_file_slot *trace_writer_wait_file_slot(const struct trace_writer *w, uint32_t index)
{
    if (index >= WAIT_FILE_SLOTS_MAX) {
        errno = ENOSPC;
        return NULL;
    }
    int fd = file_open(w, 0);
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    struct wait_file_slot *s = map_room(fd, index);
    close(fd);
    return s;
}

int trace_writer_wait_file_reserve(const struct trace_writer *w, uint32_t index, size_t bytes)
{
    int fd = file_open(w, 0);
    if (fd < 0)
        return fd;
    int rc = take_room(fd, index, bytes);
    close(fd);
    return rc;
}
