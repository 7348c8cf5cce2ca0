/* SPDX-License-Identifier: MIT */
/*
 * Where results go. Room: tools/upmu. Before it: the commands; after it: a terminal, a pipe or a file.
 *
 * Standard streams are written through a duplicate of our own: buffered also for standard error, so that a table is not
 * torn apart by what others write there, and closed by us, so that the last error is seen.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int output_adopt(struct output *out, int fd, const char *name)
{
    out->name = name;
    out->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out->file) {
        complain("cannot write to %s: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    out->colour = wants_colour(fd);
    return 0;
}

int output_standard(struct output *out, enum output_standard which)
{
    int fd = fcntl((int)which, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return output_adopt(out, fd, which == OUTPUT_STDOUT ? "standard output" : "standard error");
}

int output_file(struct output *out, const char *path)
{
    return output_adopt(out, open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), path);
}

int output_close(struct output *out)
{
    bool failed = ferror(out->file) != 0;
    errno = 0;
    failed |= fflush(out->file) != 0;
    /* The write that failed first may be long past; what is still in the buffer meets the same obstacle. */
    int why = errno;
    if (fclose(out->file) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    out->file = NULL;
    if (!failed)
        return 0;
    if (why != EPIPE)
        complain("cannot write to %s: %s", out->name, why ? strerror(why) : "write error");
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
