/* SPDX-License-Identifier: MIT */
/* Number and text formats, and the output buffer. */
#include "export/export.h"

#include <string.h>

int export_write(struct export_job *job)
{
    if (job->out.failed)
        return export_no_memory();
    int rc = job->out.len > 0 ? textbuf_write(&job->out, job->fd) : 0;
    job->written += job->out.len;
    job->out.len = 0;
    return rc < 0 ? upmu_fail(UPMU_E_IO, "cannot write the export: %s", strerror(-rc)) : 0;
}

int export_flush(struct export_job *job)
{
    enum { LARGE = 1 << 18 };
    return job->out.len >= LARGE || job->out.failed ? export_write(job) : 0;
}

void export_hex(struct textbuf *b, uint64_t n)
{
    char digits[18];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[n & 15];
        n >>= 4;
    } while (n > 0);
    digits[--at] = 'x';
    digits[--at] = '0';
    textbuf_add(b, digits + at, sizeof digits - at);
}

void export_micros(struct textbuf *b, uint64_t ns)
{
    const char rest[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
    textbuf_uint(b, ns / 1000);
    textbuf_add(b, rest, sizeof rest);
}

/* The length of the character at `s`, 0 if XML forbids it, or if it changes the text direction. */
static size_t export_xml_sequence(const char *s)
{
    size_t n = utf8_sequence(s);
    bool control = n > 0 && !printable_code(utf8_code(s, n)) && *s != '\t' && *s != '\n';
    bool no_character = n == 3 && (memcmp(s, "\xef\xbf\xbe", 3) == 0 || memcmp(s, "\xef\xbf\xbf", 3) == 0);
    return control || no_character ? 0 : n;
}

void export_xml(struct textbuf *b, const char *s)
{
    static const char *const names[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    while (*s) {
        size_t n = export_xml_sequence(s);
        if (n == 1 && (size_t)*s < sizeof names / sizeof *names && names[(size_t)*s])
            export_text(b, names[(size_t)*s]);
        else if (n > 0)
            textbuf_add(b, s, n);
        else
            export_text(b, "\xef\xbf\xbd");
        s += n > 0 ? n : 1;
    }
}

void export_plain(struct textbuf *b, const char *s, const char *forbidden)
{
    while (*s) {
        size_t n = utf8_sequence(s);
        bool kept = n > 0 && printable_code(utf8_code(s, n)) && (n > 1 || !strchr(forbidden, *s));
        textbuf_add(b, kept ? s : "_", kept ? n : 1);
        s += n > 0 ? n : 1;
    }
}
