/* SPDX-License-Identifier: MIT */
/**
 * @file Escaping of untrusted text for terminals, CSV and JSON.
 *
 * Names of threads, regions, files and functions may contain any bytes. A terminal executes control characters (C0,
 * DEL, C1, of which 0x9b may be a single byte), and bidirectional controls and line separators change how a line is
 * read. These and bytes that are not UTF-8 are shown as \n, \r, \t, \x1b or \u202e.
 */
#ifndef UPMU_BASE_PRINTABLE_H
#define UPMU_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PRINTABLE_MAX = 12 }; /**< bytes of one escaped character, with its NUL */

/** Length of the valid UTF-8 sequence at `text`, 0 if there is none (overlong forms and surrogates are not valid). */
static inline size_t utf8_sequence(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/** The code point of a valid sequence of `n` bytes. */
static inline uint32_t utf8_code(const char *text, size_t n)
{
    uint32_t code = (unsigned char)text[0] & (n == 1 ? 0x7fu : 0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3fu);
    return code;
}

/** Whether the code point is shown as a character, without effect on the terminal or on reading order. */
static inline bool printable_code(uint32_t code)
{
    bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool direction = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                     (code >= 0x2066 && code <= 0x2069);
    bool line = code == 0x2028 || code == 0x2029;
    return !control && !direction && !line;
}

/** The character at `text`, escaped if necessary, in `shown`. @return the bytes of `text` that it uses, at least 1.
 *  */
static inline size_t printable_next(const char *text, char shown[PRINTABLE_MAX])
{
    size_t n = utf8_sequence(text);
    uint32_t code = n > 0 ? utf8_code(text, n) : 0;
    const char *letter = n == 1 ? strchr("\nn\rr\tt", text[0]) : NULL;
    if (n > 0 && printable_code(code)) {
        memcpy(shown, text, n);
        shown[n] = '\0';
    } else if (letter && text[0] != '\0') {
        snprintf(shown, PRINTABLE_MAX, "\\%c", letter[1]);
    } else if (n > 1 && code >= 0x100) {
        snprintf(shown, PRINTABLE_MAX, "\\u%04x", (unsigned)code);
    } else {
        snprintf(shown, PRINTABLE_MAX, "\\x%02x", n > 1 ? (unsigned)code : (unsigned)(unsigned char)text[0]);
    }
    return n > 0 ? n : 1;
}

#endif
