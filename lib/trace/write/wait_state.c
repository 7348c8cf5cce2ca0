/* SPDX-License-Identifier: MIT */
/*
 * The wait-state file of a process.
 *
 * Space on disk is reserved before each store: a store into a hole on a full disk, or beyond the end of the file, would
 * kill the process. A mapping may extend beyond the end; only reserved bytes are stored to.
 */
#include "trace/format/wait_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/private_table.h"
#include "trace/write/guard.h"
#include "trace/write/stream.h"
#include "trace/write/writer.h"

static int wait_state_open(const struct trace_writer *w, int flags)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" WAIT_FILE_NAME, trace_writer_dir(w)) >= (int)sizeof path)
        return -ENAMETOOLONG;
    int fd = private_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    return fd < 0 ? -errno : fd;
}

static size_t wait_file_mapped_bytes(uint32_t index)
{
    return index == WAIT_FILE_HEADER_INDEX ? WAIT_FILE_HEADER_BYTES : WAIT_FILE_SLOT_BYTES;
}

/* One call reserves the space and extends the file, and never shortens it. With a separate size check the file could grow in
 * between, under the mapping of another thread or of this one in a nested call. */
static int wait_file_reserve(int fd, uint32_t index, size_t bytes)
{
    off_t at = wait_file_slot_at(index);
    if (!stream_size_allowed(at + (off_t)bytes))
        return -EFBIG;
    return fallocate(fd, 0, at, (off_t)bytes) == 0 ? 0 : -errno;
}

static void *wait_file_map(int fd, uint32_t index)
{
    int rc =
        wait_file_reserve(fd, index, index == WAIT_FILE_HEADER_INDEX ? WAIT_FILE_NOTES_STEP : WAIT_FILE_FIRST_BYTES);
    void *p = rc == 0 ? mmap(NULL, wait_file_mapped_bytes(index), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                             wait_file_slot_at(index))
                      : MAP_FAILED;
    if (rc != 0)
        errno = -rc;
    if (p == MAP_FAILED)
        return NULL;
    (void)madvise(p, wait_file_mapped_bytes(index), MADV_RANDOM); /* else a first store reads and clears 32 pages */
    return p;
}

struct wait_file_header *trace_writer_wait_file(const struct trace_writer *w)
{
    int fd = wait_state_open(w, O_CREAT);
    struct wait_file_header *h = fd >= 0 ? wait_file_map(fd, WAIT_FILE_HEADER_INDEX) : NULL;
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    private_close(fd);
    if (!h)
        return NULL;
    trace_guard_add(h, WAIT_FILE_HEADER_BYTES);
    h->version = WAIT_FILE_VERSION;
    h->slot_bytes = WAIT_FILE_SLOT_BYTES;
    h->pid = (uint32_t)getpid();
    memcpy(h->magic, WAIT_FILE_MAGIC, sizeof h->magic);
    return h;
}

struct wait_file_request {
    const struct trace_writer *writer;
    uint32_t index;
    size_t bytes; /**< to reserve, unless the slot is to be mapped */
    struct wait_file_slot **map;
};

static int wait_file_private(void *request)
{
    const struct wait_file_request *r = request;
    int rc, fd = wait_state_open(r->writer, 0);
    if (fd < 0)
        return fd;
    if (!r->map)
        rc = wait_file_reserve(fd, r->index, r->bytes);
    else
        rc = (*r->map = wait_file_map(fd, r->index)) ? 0 : -errno;
    private_close(fd);
    return rc;
}

struct wait_file_slot *trace_writer_wait_file_slot(const struct trace_writer *w, uint32_t index)
{
    struct wait_file_slot *slot = NULL;
    struct wait_file_request request = {w, index, 0, &slot};
    int rc = index < WAIT_FILE_SLOTS_MAX ? private_table_run(wait_file_private, &request) : -ENOSPC;
    if (rc != 0)
        errno = -rc;
    else
        trace_guard_add(slot, WAIT_FILE_SLOT_BYTES);
    return slot;
}

int trace_writer_wait_file_reserve(const struct trace_writer *w, uint32_t index, size_t bytes)
{
    struct wait_file_request request = {w, index, bytes, NULL};
    return private_table_run(wait_file_private, &request);
}
