/* SPDX-License-Identifier: MIT */
/* Growing text buffer. */
#include "base/text/textbuf.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEXTBUF_MAPPED_BYTES = 64 * 1024 };

/* @return the larger buffer with its text; NULL: no memory, the former one stays. */
static char *textbuf_grow(const struct textbuf *b, size_t bytes)
{
    if (!b->mapped)
        return realloc(b->data, bytes);
    char *grown = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (grown == MAP_FAILED)
        return NULL;
    if (b->data) {
        memcpy(grown, b->data, b->len + 1);
        munmap(b->data, b->cap);
    }
    return grown;
}

static bool textbuf_reserve(struct textbuf *b, size_t more)
{
    if (b->failed)
        return false;
    if (b->cap - b->len > more)
        return true;
    size_t want = b->cap ? b->cap * 2 : b->mapped ? TEXTBUF_MAPPED_BYTES : 1024;
    while (want - b->len <= more)
        want *= 2;
    char *grown = textbuf_grow(b, want);
    if (!grown) {
        b->failed = true;
        return false;
    }
    b->data = grown;
    b->cap = want;
    return true;
}

void textbuf_add(struct textbuf *b, const char *data, size_t len)
{
    if (!textbuf_reserve(b, len))
        return;
    memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void textbuf_join(struct textbuf *b, ...)
{
    const char *s;
    va_list ap;
    va_start(ap, b);
    while ((s = va_arg(ap, const char *)) != NULL)
        textbuf_add(b, s, strlen(s));
    va_end(ap);
}

void textbuf_uint(struct textbuf *b, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    textbuf_add(b, digits + at, sizeof digits - at);
}

void textbuf_printf(struct textbuf *b, const char *fmt, ...)
{
    va_list ap;
    size_t space;
    int n;
    do { /* a second time if the space did not suffice */
        space = b->failed ? 0 : b->cap - b->len;
        va_start(ap, fmt);
        n = vsnprintf(space > 0 ? b->data + b->len : NULL, space, fmt, ap);
        va_end(ap);
        b->failed |= n < 0;
        if (!textbuf_reserve(b, n < 0 ? 0 : (size_t)n)) {
            if (space > 0)
                b->data[b->len] = '\0'; /* of what did not fit, nothing is added */
            return;
        }
    } while ((size_t)n >= space);
    b->len += (size_t)n;
}

static bool textbuf_is_plain_json(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '"' && c != '\\';
}

void textbuf_json(struct textbuf *b, const char *s)
{
    const char *letter;
    textbuf_add(b, "\"", 1);
    while (*s) {
        size_t n = 0;
        while (textbuf_is_plain_json(s[n]))
            n++;
        textbuf_add(b, s, n);
        s += n;
        if (!*s)
            break;
        n = utf8_sequence(s);
        uint32_t code = n > 1 ? utf8_code(s, n) : 0;
        if (n == 0) {
            textbuf_add(b, "\xef\xbf\xbd", 3);
            n = 1;
        } else if (n > 1 && printable_code(code)) {
            textbuf_add(b, s, n);
        } else if (n > 1) {
            textbuf_printf(b, "\\u%04x", (unsigned)code);
        } else if ((letter = strchr("\"\"\\\\\nn\tt", *s)) != NULL) {
            char escaped[2] = {'\\', letter[1]};
            textbuf_add(b, escaped, 2);
        } else {
            textbuf_printf(b, "\\u%04x", (unsigned char)*s);
        }
        s += n;
    }
    textbuf_add(b, "\"", 1);
}

/* Adds the characters from `s` on that need no escape: most of all text. @return the first other one. */
static const char *textbuf_add_plain(struct textbuf *b, const char *s, char quote)
{
    size_t n = 0;
    while (s[n] >= ' ' && s[n] <= '~' && s[n] != quote)
        n++;
    textbuf_add(b, s, n);
    return s + n;
}

/* Whether a spreadsheet would interpret the CSV field as a formula. Numbers and a single sign are not formulas. */
static bool textbuf_is_formula(const char *field)
{
    if (field[0] == '\0' || !strchr("=+-@\t\r", field[0]) || field[1] == '\0')
        return false;
    size_t at = field[0] == '+' || field[0] == '-';
    size_t digits = strspn(field + at, "0123456789");
    size_t end = at + digits;
    if (field[end] == '.') {
        size_t more = strspn(field + end + 1, "0123456789");
        digits += more;
        end += 1 + more;
    }
    if (digits > 0 && (field[end] == 'e' || field[end] == 'E')) {
        size_t sign = field[end + 1] == '+' || field[end + 1] == '-';
        size_t power = strspn(field + end + 1 + sign, "0123456789");
        end += power > 0 ? 1 + sign + power : 0;
    }
    return digits == 0 || field[end] != '\0';
}

void textbuf_csv(struct textbuf *b, const char *s, char separator)
{
    const char special[] = {separator, '"', '\r', '\n', '\0'};
    bool formula = textbuf_is_formula(s), quoted = formula || strpbrk(s, special) != NULL;
    textbuf_add(b, "\"'", quoted + (formula ? 1u : 0u));
    while (*(s = textbuf_add_plain(b, s, '"'))) {
        char shown[PRINTABLE_MAX];
        size_t n = printable_next(s, shown);
        if (strchr("\"\n\r\t", *s)) /* quoting keeps line breaks and tabs */
            textbuf_add(b, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
        else
            textbuf_add(b, shown, strlen(shown));
        s += n;
    }
    textbuf_add(b, "\"", quoted);
}

/* The descriptor may be non-blocking; wait for the reader, with a time limit. */
static bool textbuf_wait_writable(int fd)
{
    enum { PATIENCE_MS = 5000 };
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, PATIENCE_MS) > 0;
}

static int textbuf_write_all(const struct textbuf *b, int fd)
{
    for (size_t done = 0; done < b->len;) {
        ssize_t n = write(fd, b->data + done, b->len - done);
        if (n >= 0) {
            done += (size_t)n;
            continue;
        }
        if (errno != EINTR && (errno != EAGAIN || !textbuf_wait_writable(fd)))
            return -errno;
    }
    return 0;
}

int textbuf_write(const struct textbuf *b, int fd)
{
    sigset_t ours, theirs, pending;
    if (b->failed)
        return -ENOMEM;
    /* A closed reader (SIGPIPE) and a file-size limit (SIGXFSZ) are error codes here and must not kill the program.
     * */
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &ours, &theirs);
    int rc = textbuf_write_all(b, fd);
    int caused = rc == -EPIPE ? SIGPIPE : rc == -EFBIG ? SIGXFSZ : 0;
    if (caused && !sigismember(&pending, caused)) {
        const struct timespec now = {0};
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, caused);
        sigtimedwait(&one, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &theirs, NULL);
    return rc;
}

void textbuf_free(struct textbuf *b)
{
    if (b->mapped && b->data)
        munmap(b->data, b->cap);
    else
        free(b->data);
    *b = (struct textbuf){0};
}
