/* SPDX-License-Identifier: MIT */
/*
 * The file of what threads stand at: made, made longer, mapped. Room: trace (writer). Before it: core's recorder; after
 * it: sync_trace, which writes the slots.
 *
 * Room on the disk is taken before anything is written: a store into a hole of a file on a full disk ends the process.
 */
#include "trace/live.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/stream.h"
#include "trace/writer.h"

static off_t slot_at(uint32_t index)
{
    return (off_t)(index + 1) * LIVE_SLOT_BYTES;
}

static int file_open(const struct trace_writer *w, int flags)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" LIVE_FILE, trace_writer_dir(w)) >= (int)sizeof path)
        return -ENAMETOOLONG;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    return fd < 0 ? -errno : fd;
}

/* Make the file at least `end` long. */
static int lengthen(int fd, off_t end)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    if (st.st_size >= end)
        return 0;
    if (!stream_size_allowed(end))
        return -EFBIG;
    return ftruncate(fd, end) == 0 ? 0 : -errno;
}

static int take_room(int fd, off_t at, size_t bytes)
{
    int rc = lengthen(fd, at + LIVE_SLOT_BYTES);
    if (rc == 0 && fallocate(fd, 0, at, (off_t)bytes) != 0)
        rc = -errno;
    return rc;
}

static void *map_room(int fd, off_t at)
{
    int rc = take_room(fd, at, LIVE_FIRST_BYTES);
    void *p = rc == 0 ? mmap(NULL, LIVE_SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at) : MAP_FAILED;
    if (rc != 0)
        errno = -rc;
    return p == MAP_FAILED ? NULL : p;
}

struct live_header *trace_writer_live(const struct trace_writer *w)
{
    int fd = file_open(w, O_CREAT);
    struct live_header *h = fd >= 0 ? map_room(fd, 0) : NULL;
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    close(fd);
    if (!h)
        return NULL;
    h->version = LIVE_VERSION;
    h->slot_bytes = LIVE_SLOT_BYTES;
    h->pid = (uint32_t)getpid();
    memcpy(h->magic, LIVE_MAGIC, sizeof h->magic);
    return h;
}

struct live_slot *trace_writer_live_slot(const struct trace_writer *w, uint32_t index)
{
    if (index >= LIVE_SLOTS_MAX) {
        errno = ENOSPC;
        return NULL;
    }
    int fd = file_open(w, 0);
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    struct live_slot *s = map_room(fd, slot_at(index));
    close(fd);
    return s;
}

int trace_writer_live_reserve(const struct trace_writer *w, uint32_t index, size_t bytes)
{
    int fd = file_open(w, 0);
    if (fd < 0)
        return fd;
    int rc = take_room(fd, slot_at(index), bytes);
    close(fd);
    return rc;
}
