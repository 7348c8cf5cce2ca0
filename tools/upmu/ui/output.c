/* SPDX-License-Identifier: MIT */
/*
 * Output streams: terminal, pipe or file.
 *
 * Standard streams are written through a duplicate: buffered for standard error, too, so that a table is written in one
 * piece, and closed here, so that the last error is reported. The stream has its own write function because stdio does
 * not keep errno.
 */
#include "output.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text/printable.h"
#include "memory.h"
#include "shorten.h"

enum { OUTPUT_BUFFER = 65536 };

void output_message(const char *head, const char *fmt, va_list ap, const char *tail)
{
    char *text = memory_vformat(fmt, ap);
    fputs(head, stderr);
    for (char *line, *rest = text; (line = strsep(&rest, "\n")) != NULL;) {
        output_clean(stderr, line);
        fputs(rest ? "\n" : tail, stderr);
    }
    free(text);
}

void complain(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    output_message("upmu: ", fmt, ap, "\n");
    va_end(ap);
}

static bool output_wants_color(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (no_color && no_color[0] != '\0')
        return false;
    return terminal && strcmp(terminal, "dumb") != 0 && isatty(fd);
}

static bool is_wide;

void output_wide(void)
{
    is_wide = true;
}

/* Of the terminal; 0 if it is none. */
static size_t output_width(int fd)
{
    enum { WIDTH_USUAL = 80, WIDTH_LEAST = 40 };
    struct winsize size;
    if (is_wide || !isatty(fd))
        return 0;
    size_t width = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : WIDTH_USUAL;
    return width > WIDTH_LEAST ? width : WIDTH_LEAST;
}

/* Whole or not at all: what was left of a failed write would be a torn line. */
static ssize_t output_write_all(struct output *out, const char *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(out->fd, data + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (out->error == 0)
                out->error = n < 0 ? errno : EIO;
            return 0; /* the error return of a cookie writer */
        }
        done += (size_t)n;
    }
    return (ssize_t)len;
}

/* Length of one of our own codes of output_style() at `text`, 0 if there is none. */
static size_t output_style_code(const struct output *out, const char *text)
{
    for (int i = STYLE_PLAIN; out->color && i <= STYLE_DIM; i++) {
        const char *code = output_style(out, (enum output_style)i);
        if (code[0] != '\0' && strncmp(text, code, strlen(code)) == 0)
            return strlen(code);
    }
    const char *plain = output_plain(out);
    return plain[0] != '\0' && strncmp(text, plain, strlen(plain)) == 0 ? strlen(plain) : 0;
}

/* Bytes at the end of `text` that begin a sequence whose rest comes with the next write. */
static size_t output_unfinished(const char *text, size_t len)
{
    for (size_t n = 1; n < 4 && n <= len; n++) {
        unsigned char c = (unsigned char)text[len - n];
        if (c >= 0xc0)
            return n < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) ? n : 0;
        if (c < 0x80)
            return 0;
    }
    return 0;
}

/* The next character of `text`, as it is shown, to `to`. @return the bytes of `text` that it takes. */
static size_t output_next(const struct output *out, const char *text, char *to, size_t *written)
{
    unsigned char c = (unsigned char)*text;
    size_t code = c == '\033' ? output_style_code(out, text) : 0;
    size_t n = code > 0 ? code : (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t' ? 1 : 0;
    if (n > 0) {
        memcpy(to, text, n);
        *written = n;
        return n;
    }
    n = printable_next(text, to);
    *written = strlen(to);
    return n;
}

/* The last guard of a terminal: text that no caller has cleaned does not reach it as it is. */
static bool output_filter(struct output *out, const char *data, size_t len, bool last)
{
    size_t all = out->n_held + len, n = 0, more;
    char *text = memory_array(all + 1, 1), *clean = memory_array(all + 1, PRINTABLE_MAX);
    memcpy(text, out->held, out->n_held);
    memcpy(text + out->n_held, data, len);
    out->n_held = last ? 0 : output_unfinished(text, all);
    all -= out->n_held;
    memcpy(out->held, text + all, out->n_held);
    text[all] = '\0';
    for (size_t done = 0; done < all; n += more)
        done += output_next(out, text + done, clean + n, &more);
    bool written = output_write_all(out, clean, n) == (ssize_t)n;
    free(text);
    free(clean);
    return written;
}

static ssize_t output_write(void *cookie, const char *data, size_t len)
{
    struct output *out = cookie;
    if (out->binary)
        return output_write_all(out, data, len);
    return output_filter(out, data, len, false) ? (ssize_t)len : 0;
}

/* Some file systems report write errors only at close(). */
static int output_shut(void *cookie)
{
    struct output *out = cookie;
    bool written = out->n_held == 0 || output_filter(out, "", 0, true);

    if (close(out->fd) == 0)
        return written ? 0 : -1;
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
    out->color = output_wants_color(fd);
    out->width = output_width(fd);
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
    if (output_is_standard(path))
        return output_standard(out, OUTPUT_STDOUT);
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
    return out->color ? codes[style] : "";
}

const char *output_plain(const struct output *out)
{
    return out->color ? "\033[0m" : "";
}

void output_clean(FILE *file, const char *text)
{
    while (*text) {
        char shown[PRINTABLE_MAX];
        text += printable_next(text, shown);
        fputs(shown, file);
    }
}

void output_name(const struct output *out, const char *name, size_t others)
{
    enum { NAME_LEAST = 24 };
    size_t space = out->width > others + NAME_LEAST ? out->width - others : NAME_LEAST;
    char *text = out->width > 0 ? text_shortened(name, space) : memory_copy(name);
    output_clean(out->file, text);
    free(text);
}

/* Whether a word of these bytes needs no quotes, and whether it has bytes that can be shown as escapes only. */
static void shell_classify(const char *word, bool *plain, bool *escaped)
{
    static const char plain_others[] = "%+,-./:=@_";
    *plain = word[0] != '\0';
    *escaped = false;
    while (*word) {
        char shown[PRINTABLE_MAX];
        size_t n = printable_next(word, shown);
        *escaped |= strncmp(shown, word, n) != 0 || shown[n] != '\0';
        *plain &= n > 1 || isalnum((unsigned char)*word) || strchr(plain_others, *word);
        word += n;
    }
}

/* Between quotes: '...', where a quote ends them, or $'...' with octal escapes. */
static void shell_write_quoted(FILE *to, const char *word, bool escaped)
{
    fputs(escaped ? "$'" : "'", to);
    for (; *word; word++) {
        unsigned char c = (unsigned char)*word;
        if (escaped && (c < 0x20 || c >= 0x7f))
            fprintf(to, "\\%03o", c);
        else if (c == '\'')
            fputs(escaped ? "\\'" : "'\\''", to);
        else if (escaped && c == '\\')
            fputs("\\\\", to);
        else
            fputc(c, to);
    }
    fputc('\'', to);
}

char *output_shell_path(const char *path)
{
    bool plain, escaped;
    char *text = NULL, *word = memory_format("%s%s", path[0] == '-' ? "./" : "", path);
    size_t bytes;
    shell_classify(word, &plain, &escaped);
    FILE *to = memory_or_exit(open_memstream(&text, &bytes));
    if (plain && !escaped)
        fputs(word, to);
    else
        shell_write_quoted(to, word, escaped);
    if (fclose(to) != 0)
        memory_or_exit(NULL);
    free(word);
    return text;
}
