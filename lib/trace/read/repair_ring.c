/* SPDX-License-Identifier: MIT */
/*
 * Repair of ring streams.
 *
 * In a wrapped ring packets are out of order, and each has the number of events discarded before it. Sorted, the first one
 * needs the final number, or readers would show a gap in the wrong place, so all packets get it. The result is written to a
 * temporary file and renamed: a complete file exists at any moment.
 */
#include "trace/read/repair_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/read/packets.h"

struct ring {
    const char *path;
    uint64_t bytes; /* of each packet */
    uint64_t file_size;
    struct packet *packets; /* in sequence order */
    size_t n;
};

static int ring_add_packet(struct ring *r, const struct packet *p)
{
    struct packet *more = reallocarray(r->packets, r->n + 1, sizeof *more);
    if (!more)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the packets of \"%s\"", r->path);
    r->packets = more;
    r->packets[r->n++] = *p;
    return 0;
}

static int ring_collect(struct ring *r, int fd, const uint8_t *uuid)
{
    uint64_t seq = 0, offset = UINT64_MAX;
    for (;;) {
        struct packet p;
        int state = packet_in_ring(fd, r->file_size, r->bytes, uuid, seq, offset, &p);
        if (state < 0)
            return packets_io_failed(r->path, -state);
        if (state == PACKET_BAD)
            return upmu_fail(UPMU_E_FORMAT, "\"%s\", byte %" PRIu64 ": %s. The file is left as it is.", r->path,
                             p.offset, p.wrong);
        if (state != PACKET_GOOD)
            return 0;
        if (p.present < p.content)
            return upmu_fail(UPMU_E_FORMAT,
                             "\"%s\" is truncated, and complete events are missing. The file is left as it is.",
                             r->path);
        int rc = ring_add_packet(r, &p);
        if (rc != 0)
            return rc;
        seq = p.head.packet_seq_num;
        offset = p.offset;
    }
}

static uint64_t ring_events_discarded(const struct ring *r)
{
    return r->n ? r->packets[r->n - 1].head.events_discarded : 0;
}

static bool ring_is_sorted(const struct ring *r)
{
    bool in_order = r->file_size == r->n * r->bytes;
    for (size_t i = 0; i < r->n && in_order; i++) {
        const struct packet *p = &r->packets[i];
        in_order =
            p->offset == i * r->bytes && p->size == r->bytes && p->head.events_discarded == ring_events_discarded(r);
    }
    return in_order;
}

static int ring_write_bytes(int fd, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        bytes += done;
        n -= (size_t)done;
    }
    return 0;
}

/* @return 0 or -errno. */
static int ring_copy_sorted(const struct ring *r, int from, int to)
{
    uint8_t *slot = malloc(r->bytes);
    int rc = slot ? 0 : -ENOMEM;
    for (size_t i = 0; i < r->n && rc == 0; i++) {
        const struct packet *p = &r->packets[i];
        struct ctf_packet head = p->head;
        head.events_discarded = ring_events_discarded(r);
        head.packet_size = r->bytes * 8;
        memset(slot, 0, r->bytes); /* bytes after the content belong to an older packet */
        rc = packets_read(from, slot, (size_t)p->content, p->offset);
        memcpy(slot, &head, sizeof head);
        if (rc == 0)
            rc = ring_write_bytes(to, slot, r->bytes);
    }
    free(slot);
    return rc;
}

static int ring_rewrite(const struct ring *r, int from)
{
    char *temp = NULL;
    const char *name = strrchr(r->path, '/');
    name = name ? name + 1 : r->path;
    if (asprintf(&temp, "%.*s.%s.new", (int)(name - r->path), r->path, name) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the repair of \"%s\"", r->path);
    int err = unlink(temp) != 0 && errno != ENOENT ? -errno : 0; /* of a repair that was interrupted */
    int fd = err == 0 ? open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    if (err == 0 && fd < 0)
        err = -errno;
    if (err == 0)
        err = ring_copy_sorted(r, from, fd);
    if (fd >= 0 && close(fd) != 0 && err == 0)
        err = -errno;
    if (err == 0 && rename(temp, r->path) != 0)
        err = -errno;
    if (err != 0)
        unlink(temp);
    free(temp);
    return err == 0
               ? 0
               : upmu_fail(UPMU_E_IO, "cannot sort the packets of \"%s\": %s%s", r->path, strerrordesc_np(-err),
                           err == -EROFS || err == -EACCES || err == -EPERM ? ". Repair a copy of the recording." : "");
}

int repair_ring(const char *path, const struct meta *m, bool *changed)
{
    struct stat st;
    struct ring r = {.path = path, .bytes = packets_ring(path, m)};
    *changed = false;
    int fd = packets_open(path);
    if (fd < 0)
        return packets_io_failed(path, -fd);
    int rc = fstat(fd, &st) == 0 ? 0 : packets_io_failed(path, errno);
    if (rc == 0) {
        r.file_size = (uint64_t)st.st_size;
        rc = ring_collect(&r, fd, m->uuid);
    }
    if (rc == 0 && !ring_is_sorted(&r)) {
        rc = ring_rewrite(&r, fd);
        *changed = rc == 0;
    }
    free(r.packets);
    close(fd);
    return rc;
}
