/* SPDX-License-Identifier: MIT */
/*
 * Where results go. Room: tools/upmu. Before it: the commands; after it: a terminal, a pipe or a file.
 *
 * Standard streams are written through a duplicate of our own: buffered also for standard error, so that a table is not
 * torn apart by what others write there, and closed by us, so that the last error is seen. The stream's writing end is
 * ours as well: stdio would remember that a write failed, but not why.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_BUFFER = 65536 };

void complain(const char *fmt, ...)
{
    va_list ap;
    fputs("upmu: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

static bool wants_colour(int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (no_colour && no_colour[0] != '\0')
        return false;
    return terminal && strcmp(terminal, "dumb") != 0 && isatty(fd);
}

/* Whole or not at all: what was left of a failed write would be a torn line. */
static ssize_t output_write(void *cookie, const char *data, size_t len)
{
    struct output *out = cookie;

    for (size_t done = 0; done < len;) {
        ssize_t n = write(out->fd, data + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (out->error == 0)
                out->error = n < 0 ? errno : EIO;
            return 0; /* how a stream's writer says that it failed */
        }
        done += (size_t)n;
    }
    return (ssize_t)len;
}

/* Some file systems tell only here that the data did not arrive. */
static int output_shut(void *cookie)
{
    struct output *out = cookie;

    if (close(out->fd) == 0)
        return 0;
    if (out->error == 0)
        out->error = errno;
    return -1;
}

static int output_adopt(struct output *out, int fd, const char *name)
{
    const cookie_io_functions_t ways = {.write = output_write, .close = output_shut};

    *out = (struct output){.fd = fd, .name = name};
    out->file = fd < 0 ? NULL : fopencookie(out, "w", ways);
    if (!out->file) {
        complain("cannot write to %s: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    (void)setvbuf(out->file, NULL, _IOFBF, OUTPUT_BUFFER); /* refused, the default is right but slower */
    out->colour = wants_colour(fd);
    return 0;
}

int output_standard(struct output *out, enum output_standard which)
{
    int fd = fcntl((int)which, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return output_adopt(out, fd, which == OUTPUT_STDOUT ? "standard output" : "standard error");
}

bool output_is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

int output_file(struct output *out, const char *path)
{
    if (output_is_standard(path))
        return output_standard(out, OUTPUT_STDOUT);
    return output_adopt(out, open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), path);
}

int output_file_append(struct output *out, const char *path)
{
    return output_adopt(out, open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), path);
}

int output_close(struct output *out)
{
    bool failed = ferror(out->file) != 0;
    failed |= fclose(out->file) != 0;
    out->file = NULL;
    if (!failed)
        return 0;
    if (out->error != EPIPE)
        complain("cannot write to %s: %s", out->name, out->error ? strerror(out->error) : "out of memory");
    return -1;
}

const char *output_style(const struct output *out, enum output_style style)
{
    static const char *const codes[] = {
        [STYLE_PLAIN] = "",           [STYLE_TITLE] = "\033[1m", [STYLE_GOOD] = "\033[32m",
        [STYLE_WARNING] = "\033[33m", [STYLE_BAD] = "\033[31m",  [STYLE_DIM] = "\033[2m",
    };
    return out->colour ? codes[style] : "";
}

const char *output_plain(const struct output *out)
{
    return out->colour ? "\033[0m" : "";
}

void output_clean(FILE *file, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        fputc(c < 0x20 || c == 0x7f ? '?' : c, file);
    }
}
