/* SPDX-License-Identifier: MIT */
/* Lines of a source file. */
#include "source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "output.h"

enum { SOURCE_BYTES_MAX = 64 << 20, TAB_WIDTH = 4 };

static void source_split(struct source_text *t, size_t bytes)
{
    size_t cap = 0;
    for (char *at = t->bytes, *end = t->bytes + bytes; at < end;) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (t->n == cap) {
            cap = cap ? cap * 2 : 256;
            t->lines = memory_resize(t->lines, cap, sizeof *t->lines);
        }
        t->lines[t->n++] = at;
        line_end = line_end ? line_end : end;
        *line_end = '\0';
        if (line_end > at && line_end[-1] == '\r')
            line_end[-1] = '\0';
        at = line_end + 1;
    }
}

static char *source_read(struct source_text *t, int fd, const char *path)
{
    struct stat st;
    size_t bytes = 0;
    ssize_t n = 0;
    if (fstat(fd, &st) != 0)
        return memory_format("cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return memory_format("cannot read %s: not a regular file", path);
    if (st.st_size > SOURCE_BYTES_MAX)
        return memory_format("%s is not read: it has more than %d MiB", path, SOURCE_BYTES_MAX >> 20);
    t->bytes = memory_array((size_t)st.st_size + 1, 1);
    while (bytes < (size_t)st.st_size && (n = read(fd, t->bytes + bytes, (size_t)st.st_size - bytes)) > 0)
        bytes += (size_t)n;
    if (n < 0)
        return memory_format("cannot read %s: %s", path, strerror(errno));
    source_split(t, bytes);
    return NULL;
}

/* Paths come from debug information: opening a FIFO does not wait for its writer. */
char *source_text_read(struct source_text *t, const char *path)
{
    *t = (struct source_text){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return memory_format("cannot read %s: %s", path, strerror(errno));
    char *why = source_read(t, fd, path);
    close(fd);
    return why;
}

void source_text_free(struct source_text *t)
{
    free(t->lines);
    free(t->bytes);
    *t = (struct source_text){0};
}

char *source_text_line(const struct source_text *t, size_t number)
{
    const char *line = number > 0 && number <= t->n ? t->lines[number - 1] : "";
    size_t tabs = 0, column = 0;
    for (const char *c = line; *c; c++)
        tabs += *c == '\t';
    char *out = memory_array(strlen(line) + tabs * TAB_WIDTH + 1, 1);
    for (; *line; line++) {
        do
            out[column++] = *line == '\t' ? ' ' : *line;
        while (*line == '\t' && column % TAB_WIDTH != 0);
    }
    return out;
}

void source_text_check(const char *path, const char *module)
{
    struct stat text, code;
    if (module && stat(path, &text) == 0 && stat(module, &code) == 0 && text.st_mtime > code.st_mtime)
        complain("%s is newer than %s: its lines may have moved", path, module);
}
