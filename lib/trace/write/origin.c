/* SPDX-License-Identifier: MIT */
/* Common clock of the processes of a trace. */
#include "trace/write/origin.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ORIGIN_MAGIC "upmuclk"

enum { ORIGIN_VERSION = 1 };

/** The file. */
struct origin_file {
    char magic[8];
    uint32_t version;
    uint32_t width;
    char source[24];
    uint64_t tick;
    uint64_t raw_ns;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
};

static void origin_pack(struct origin_file *f, const struct clock_triple *t)
{
    memset(f, 0, sizeof *f);
    memcpy(f->magic, ORIGIN_MAGIC, sizeof f->magic);
    f->version = ORIGIN_VERSION;
    f->width = t->width;
    snprintf(f->source, sizeof f->source, "%s", clock_source());
    f->tick = t->tick;
    f->raw_ns = t->raw_ns;
    f->monotonic_ns = t->monotonic_ns;
    f->realtime_ns = t->realtime_ns;
}

/* Only a file of our own user, of these clocks, and from the past. */
static bool origin_read(const char *path, const struct clock_triple *own, struct clock_triple *out)
{
    struct origin_file f;
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool mine = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
    bool whole = mine && pread(fd, &f, sizeof f, 0) == (ssize_t)sizeof f;
    close(fd);
    if (!whole || memcmp(f.magic, ORIGIN_MAGIC, sizeof f.magic) != 0 || f.version != ORIGIN_VERSION)
        return false;
    if (memchr(f.source, '\0', sizeof f.source) == NULL || strcmp(f.source, clock_source()) != 0)
        return false;
    if (f.tick > own->tick || f.raw_ns > own->raw_ns || f.realtime_ns == 0)
        return false;
    *out = (struct clock_triple){f.tick, f.raw_ns, f.monotonic_ns, f.realtime_ns, f.width};
    return clock_is_same_since(out, own);
}

/* Written to a temporary file and linked: readers never see a partial file, and the first process wins. */
static bool origin_leave(const char *path, const struct clock_triple *own)
{
    struct origin_file f;
    char temp[PATH_MAX];
    origin_pack(&f, own);
    if (snprintf(temp, sizeof temp, "%s.%d", path, (int)getpid()) >= (int)sizeof temp)
        return false;
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool written = write(fd, &f, sizeof f) == (ssize_t)sizeof f;
    written = close(fd) == 0 && written;
    bool left = written && link(temp, path) == 0;
    unlink(temp);
    return left;
}

void origin_share(const char *dir, const char *boot, const struct clock_triple *own, struct clock_triple *out)
{
    char path[PATH_MAX];
    *out = *own;
    if (snprintf(path, sizeof path, "%s/.clock-%s", dir, boot) >= (int)sizeof path)
        return;
    if (origin_read(path, own, out))
        return;
    /* Another process may have linked its file in between; otherwise our own origin stays. */
    if (origin_leave(path, own) || !origin_read(path, own, out))
        *out = *own;
}
