/* SPDX-License-Identifier: MIT */
/* Numbers and texts as the formats want them. Room: export. Before it: the formats; after it: base/textbuf. */
#include "export/export.h"

#include <string.h>

void export_number(struct textbuf *b, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    textbuf_add(b, digits + at, sizeof digits - at);
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
    export_number(b, ns / 1000);
    textbuf_add(b, rest, sizeof rest);
}

/* The length of the character at `s`, 0 if it is none that XML allows, or one that turns text around. */
static size_t xml_sequence(const char *s)
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
        size_t n = xml_sequence(s);
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
