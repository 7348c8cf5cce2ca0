/* SPDX-License-Identifier: MIT */
/*
 * Repair of traces whose process was killed.
 *
 * Only uncommitted data is cut off. The clock in the metadata, measured at the start, is replaced by one fitted to all
 * packets, as our reader does, so that all readers give the same times.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/text/textbuf.h"
#include "trace/format/control.h"
#include "trace/read/meta.h"
#include "trace/read/packets.h"
#include "trace/read/recording.h"
#include "trace/read/repair_ring.h"
#include "upmu/trace.h"

static int repair_failed(const char *path, int err)
{
    return upmu_fail(UPMU_E_IO, "cannot repair \"%s\": %s%s", path, strerrordesc_np(err),
                     err == EROFS || err == EACCES || err == EPERM ? ". Repair a copy of the recording." : "");
}

static int repair_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0)
        return fd;
    return repair_failed(path, errno);
}

/* Cut a stream at `end`. */
static int repair_truncate(const char *path, uint64_t end)
{
    int fd = repair_open(path);
    if (fd < 0)
        return fd;
    int rc = ftruncate(fd, (off_t)end) == 0 ? 0 : packets_io_failed(path, errno);
    close(fd);
    return rc;
}

/* If a file was cut after the last committed event, set the packet's length to what is left of it. */
static int repair_shorten_packet(const char *path, const struct packet *p, uint64_t file_size)
{
    uint64_t bits = (file_size - p->offset) * 8;
    int fd = repair_open(path);
    if (fd < 0)
        return fd;
    off_t at = (off_t)(p->offset + offsetof(struct ctf_packet, packet_size));
    int rc = pwrite(fd, &bits, sizeof bits, at) == (ssize_t)sizeof bits ? 0 : packets_io_failed(path, EIO);
    close(fd);
    return rc;
}

/* Find the first position in a stream without a valid packet, or the last packet if it is truncated. */
static int repair_find_end(const char *path, const struct meta *m, struct packet *end, uint64_t *file_size)
{
    struct stat st;
    int fd = packets_open(path);
    if (fd < 0)
        return packets_io_failed(path, -fd);
    int state = fstat(fd, &st) == 0 ? PACKET_GOOD : -errno;
    *file_size = state == PACKET_GOOD ? (uint64_t)st.st_size : 0;
    for (uint64_t offset = 0; state == PACKET_GOOD; offset += end->size) {
        state = packet_at(fd, *file_size, offset, m->uuid, end);
        if (state == PACKET_GOOD && end->size > *file_size - offset)
            break;
    }
    close(fd);
    return state < 0 ? packets_io_failed(path, -state) : state;
}

static int repair_stream(const char *path, const struct meta *m, struct upmu_trace_repair_result *out)
{
    struct packet end = {.wrong = ""};
    uint64_t file_size = 0;
    if (packets_ring(path, m)) {
        bool changed;
        int failed = repair_ring(path, m, &changed);
        out->reordered += failed == 0 && changed;
        return failed;
    }
    int state = repair_find_end(path, m, &end, &file_size), rc = 0;
    if (state < 0 || state == PACKET_NONE)
        return state;
    if (state == PACKET_BAD)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\", byte %" PRIu64 ": %s. The file is left as it is.", path, end.offset,
                         end.wrong);
    if (state == PACKET_GOOD && end.present < end.content)
        return upmu_fail(UPMU_E_FORMAT,
                         "\"%s\": the file is truncated, and complete events are missing. It is not repaired.", path);
    if (state == PACKET_GOOD) {
        rc = repair_shorten_packet(path, &end, file_size);
    } else {
        rc = repair_truncate(path, end.offset);
        out->bytes += rc == 0 ? file_size - end.offset : 0;
    }
    out->trimmed += rc == 0;
    return rc;
}

/* Replace the metadata by a temporary file with a new clock block. */
static int repair_replace_metadata(const char *dir, const struct textbuf *text)
{
    char *path = NULL, *temp = NULL;
    int rc = 0;
    if (asprintf(&path, "%s/metadata", dir) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", dir);
    if (asprintf(&temp, "%s/.metadata.new", dir) < 0) {
        free(path);
        return upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", dir);
    }
    int fd = -1, err = 0;
    if (unlink(temp) != 0 && errno != ENOENT) /* space reserved by the killed writer */
        err = -errno;
    if (err == 0 && (fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) < 0)
        err = -errno;
    if (err == 0)
        err = textbuf_write(text, fd);
    if (fd >= 0 && close(fd) != 0 && err == 0)
        err = -errno;
    if (err == 0 && rename(temp, path) != 0)
        err = -errno;
    if (err != 0) {
        unlink(temp);
        rc = repair_failed(path, -err);
    }
    free(temp);
    free(path);
    return rc;
}

static int repair_clock(const char *dir, const struct meta *m, const char *text, size_t len)
{
    struct textbuf b = {0};
    textbuf_add(&b, text, m->clock_begin);
    clock_map_text(&b, &m->clock, m->clock_uuid, m->origin.width);
    textbuf_add(&b, text + m->clock_end, len - m->clock_end);
    int rc = repair_replace_metadata(dir, &b);
    textbuf_free(&b);
    return rc;
}

static int repair_streams(const char *dir, struct meta *m, const char *text, size_t len,
                          struct upmu_trace_repair_result *out)
{
    struct path_list streams;
    struct recording_totals totals;
    int rc = recording_streams(dir, &streams);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < streams.n; i++) {
        int failed = repair_stream(streams.paths[i], m, out);
        rc = rc == 0 ? failed : rc; /* the others are repaired anyway */
    }
    int failed = recording_totals(dir, &streams, m, &totals);
    if (failed == 0 && recording_refit(m, &totals))
        failed = repair_clock(dir, m, text, len);
    path_list_free(&streams);
    return rc == 0 ? failed : rc;
}

static int repair_process_is_running(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return packets_io_failed(dir, errno);
    int running = control_is_running(fd);
    close(fd);
    return running < 0 ? packets_io_failed(dir, -running) : running;
}

static int repair_process(const char *dir, struct upmu_trace_repair_result *out)
{
    struct meta m;
    char *text;
    size_t len;
    out->processes++;
    int rc = repair_process_is_running(dir);
    if (rc > 0)
        out->running++;
    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = recording_metadata(dir, &m, &text, &len);
    if (rc != 0)
        return rc;
    rc = repair_streams(dir, &m, text, len, out);
    meta_free(&m);
    free(text);
    return rc;
}

int upmu_trace_repair(const char *dir, struct upmu_trace_repair_result *out)
{
    struct path_list dirs;
    struct upmu_trace_repair_result done = {0};
    if (!dir || !out)
        return ARGUMENT_NULL(dir, out);
    int rc = OPTS_CHECK(out, UPMU_TRACE_REPAIR_RESULT_SIZE_V1);
    if (rc != 0)
        return rc;
    rc = recording_processes(dir, &dirs);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < dirs.n; i++) {
        int failed = repair_process(dirs.paths[i], &done);
        rc = rc == 0 ? failed : rc; /* the others are repaired anyway */
    }
    path_list_free(&dirs);
    int filled = OPTS_GIVE(out, done, UPMU_TRACE_REPAIR_RESULT_SIZE_V1);
    return rc == 0 ? filled : rc;
}
