/* SPDX-License-Identifier: MIT */
/* Reader of the notes in a wait-state file: modules, names, shared mappings, relatives. */
#include "deadlock/notes_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static int notes_file_fd(const char *dir)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/" WAIT_FILE_NAME, dir);
    return len < (int)sizeof path ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
}

static uint32_t notes_file_take(int fd, char *to, uint32_t bytes, off_t at)
{
    uint32_t have = 0;
    ssize_t got = 1;
    while (fd >= 0 && have < bytes && got > 0) {
        got = pread(fd, to + have, bytes - have, at + have);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            have += (uint32_t)got;
    }
    return have;
}

static int notes_file_read_from(struct notes_file *n, int fd, const struct wait_file_header *h)
{
    uint32_t bytes = h->notes <= WAIT_FILE_NOTES_MAX ? h->notes : WAIT_FILE_NOTES_MAX;
    /* There is at least one note, the module of the program. */
    bool sensible = h->notes > 0 && h->notes <= WAIT_FILE_NOTES_MAX;
    *n = (struct notes_file){.data = calloc(bytes + 1, 1), .whole = sensible && !h->notes_missing};
    if (!n->data)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading a wait-state file");
    n->bytes = notes_file_take(fd, n->data, bytes, (off_t)WAIT_FILE_NOTES_AT);
    n->whole = n->whole && n->bytes == bytes;
    return 0;
}

int notes_file_read(struct notes_file *n, const char *dir, const struct wait_file_header *h)
{
    int fd = notes_file_fd(dir), rc = notes_file_read_from(n, fd, h);
    if (fd >= 0)
        close(fd);
    return rc;
}

int notes_file_open(struct notes_file *n, const char *dir)
{
    struct wait_file_header h = {0};
    int fd = notes_file_fd(dir);
    bool known = notes_file_take(fd, (char *)&h, sizeof h, 0) == sizeof h &&
                 memcmp(h.magic, WAIT_FILE_MAGIC, sizeof h.magic) == 0 && h.version == WAIT_FILE_VERSION;
    if (!known)
        h.notes = 0;
    int rc = notes_file_read_from(n, fd, &h);
    if (fd >= 0)
        close(fd);
    return rc;
}

const struct wait_file_note *notes_file_at(struct notes_file *n, uint32_t at, const char **second)
{
    const struct wait_file_note *note = (const struct wait_file_note *)(const void *)(n->data + at);
    if (at == n->bytes)
        return NULL;
    n->whole = n->whole && n->bytes - at >= sizeof *note && note->bytes >= sizeof *note && note->bytes % 8 == 0 &&
               note->bytes <= n->bytes - at;
    if (!n->whole)
        return NULL;
    size_t space = note->bytes - sizeof *note, first = strnlen(note->texts, space);
    *second = first < space ? note->texts + first + 1 : "";
    n->whole = first < space && strnlen(*second, space - first - 1) < space - first - 1;
    return n->whole ? note : NULL;
}

void notes_file_free(struct notes_file *n)
{
    free(n->data);
    *n = (struct notes_file){0};
}
