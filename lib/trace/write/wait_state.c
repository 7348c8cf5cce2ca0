/* SPDX-License-Identifier: MIT */
/*
 * The wait-state file of a process.
 *
 * Slots are mapped several at a time, as many as there are already: opening the file takes a short-lived thread, which costs as much as the
 * creation of one of the program's.
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

/* One call reserves the space and extends the file, and never shortens it. With a separate size check the file could grow in
 * between, under the mapping of another thread or of this one in a nested call. */
static int wait_file_reserve(int fd, uint32_t index, size_t bytes)
{
    off_t at = wait_file_slot_at(index);
    if (!stream_size_allowed(at + (off_t)bytes))
        return -EFBIG;
    return fallocate(fd, 0, at, (off_t)bytes) == 0 ? 0 : -errno;
}

/* @return NULL with errno set. */
static void *wait_file_map(int fd, uint32_t index, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, wait_file_slot_at(index));
    if (p == MAP_FAILED)
        return NULL;
    (void)madvise(p, bytes, MADV_RANDOM); /* else a first store reads and clears 32 pages */
    return p;
}

static struct wait_file_header *wait_file_map_header(int fd)
{
    int rc = wait_file_reserve(fd, WAIT_FILE_HEADER_INDEX, WAIT_FILE_NOTES_STEP);
    if (rc == 0)
        return wait_file_map(fd, WAIT_FILE_HEADER_INDEX, WAIT_FILE_HEADER_BYTES);
    errno = -rc;
    return NULL;
}

struct wait_file_header *trace_writer_wait_file(const struct trace_writer *w)
{
    int fd = wait_state_open(w, O_CREAT);
    struct wait_file_header *h = fd >= 0 ? wait_file_map_header(fd) : NULL;
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

/* Slots that are mapped and reserved, and have no thread yet: of the writer, so that a forked child does not use its parent's. Slots are
 * asked for one after the other, by one thread at a time. */
static struct wait_slots {
    const struct trace_writer *writer;
    char *at;
    uint32_t first, n;
} wait_slots_ahead;

static int wait_slots_make_private(void *slots)
{
    struct wait_slots *s = slots;
    uint32_t reserved = 0;
    int rc = 0, fd = wait_state_open(s->writer, 0);
    if (fd < 0)
        return fd;
    while (reserved < s->n && (rc = wait_file_reserve(fd, s->first + reserved, WAIT_FILE_FIRST_BYTES)) == 0)
        reserved++;
    s->n = reserved;
    if (reserved > 0)
        rc = (s->at = wait_file_map(fd, s->first, (size_t)reserved * WAIT_FILE_SLOT_BYTES)) ? 0 : -errno;
    private_close(fd);
    return rc;
}

/* @return 0 or -errno. */
static int wait_slots_make(const struct trace_writer *w, uint32_t first)
{
    enum { SLOTS_AT_ONCE = 16 };
    struct wait_slots s = {.writer = w, .first = first, .n = first < 1 ? 1 : first};
    if (s.n > SLOTS_AT_ONCE)
        s.n = SLOTS_AT_ONCE;
    if (first >= WAIT_FILE_SLOTS_MAX)
        return -ENOSPC;
    if (s.n > WAIT_FILE_SLOTS_MAX - first)
        s.n = WAIT_FILE_SLOTS_MAX - first;
    int rc = private_table_run(wait_slots_make_private, &s);
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < s.n; i++)
        trace_guard_add(s.at + (size_t)i * WAIT_FILE_SLOT_BYTES, WAIT_FILE_SLOT_BYTES);
    wait_slots_ahead = s;
    return 0;
}

struct wait_file_slot *trace_writer_wait_file_slot(const struct trace_writer *w, uint32_t index)
{
    struct wait_slots *ahead = &wait_slots_ahead;
    bool made = ahead->writer == w && ahead->n > 0 && ahead->first == index;
    int rc = made ? 0 : wait_slots_make(w, index);
    if (rc != 0) {
        errno = -rc;
        return NULL;
    }
    void *slot = ahead->at;
    ahead->at += WAIT_FILE_SLOT_BYTES;
    ahead->first++;
    ahead->n--;
    return slot;
}

struct wait_file_request {
    const struct trace_writer *writer;
    uint32_t index;
    size_t bytes; /**< to reserve */
};

static int wait_file_private(void *request)
{
    const struct wait_file_request *r = request;
    int fd = wait_state_open(r->writer, 0);
    if (fd < 0)
        return fd;
    int rc = wait_file_reserve(fd, r->index, r->bytes);
    private_close(fd);
    return rc;
}

int trace_writer_wait_file_reserve(const struct trace_writer *w, uint32_t index, size_t bytes)
{
    struct wait_file_request request = {w, index, bytes};
    return private_table_run(wait_file_private, &request);
}
