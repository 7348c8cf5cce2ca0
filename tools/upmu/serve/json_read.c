/* SPDX-License-Identifier: MIT */
/*
 * Reader of JSON.
 *
 * Lines of clients may be hostile: nothing is read behind the end, and the depth of recursion is bounded.
 */
#include "json_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/printable.h"

struct scan {
    const char *at, *end;
    const char *problem;
};

static bool scan_fail(struct scan *s, const char *problem)
{
    if (!s->problem)
        s->problem = problem;
    return false;
}

static void scan_blanks(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool scan_char(struct scan *s, char c)
{
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool scan_escape(struct scan *s)
{
    if (s->at == s->end)
        return scan_fail(s, "a string does not end");
    char c = *s->at++;
    if (c != 'u')
        return c != '\0' && strchr("\"\\/bfnrt", c) ? true : scan_fail(s, "a string has an unknown escape");
    for (int i = 0; i < 4; i++, s->at++)
        if (s->at == s->end || hex_digit(*s->at) < 0)
            return scan_fail(s, "a string has a \\u without four digits");
    return true;
}

/* Bytes of the UTF-8 sequence at `s->at`, 0 if it is none or reaches behind the end. */
static size_t scan_sequence(const struct scan *s)
{
    char sequence[5] = "";
    size_t left = (size_t)(s->end - s->at);
    memcpy(sequence, s->at, left < 4 ? left : 4);
    return utf8_sequence(sequence);
}

static bool scan_string(struct scan *s)
{
    if (!scan_char(s, '"'))
        return scan_fail(s, "a string is missing");
    while (s->at < s->end) {
        unsigned char c = (unsigned char)*s->at;
        if (c == '"') {
            s->at++;
            return true;
        }
        if (c < 0x20)
            return scan_fail(s, "a string has a control character");
        if (c == '\\') {
            s->at++;
            if (!scan_escape(s))
                return false;
        } else {
            size_t n = c < 0x80 ? 1 : scan_sequence(s);
            if (n == 0)
                return scan_fail(s, "a string is not UTF-8");
            s->at += n;
        }
    }
    return scan_fail(s, "a string does not end");
}

static size_t scan_digits(struct scan *s)
{
    const char *begin = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return (size_t)(s->at - begin);
}

static bool scan_number(struct scan *s)
{
    (void)scan_char(s, '-');
    const char *begin = s->at;
    size_t digits = scan_digits(s);
    if (digits == 0 || (digits > 1 && *begin == '0'))
        return scan_fail(s, "a value is expected");
    if (scan_char(s, '.') && scan_digits(s) == 0)
        return scan_fail(s, "a number has no digit behind its point");
    if (scan_char(s, 'e') || scan_char(s, 'E')) {
        if (!scan_char(s, '+'))
            (void)scan_char(s, '-');
        if (scan_digits(s) == 0)
            return scan_fail(s, "a number has no digit in its exponent");
    }
    return true;
}

static bool scan_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return scan_fail(s, "a value is expected");
    s->at += n;
    return true;
}

static bool scan_value(struct scan *s, unsigned depth); /* NOLINT(misc-no-recursion): bounded by JSON_READ_DEPTH */

static bool scan_member_name(struct scan *s)
{
    if (!scan_string(s))
        return false;
    scan_blanks(s);
    return scan_char(s, ':') ? true : scan_fail(s, "a member has no colon");
}

static bool scan_container(struct scan *s, char close, unsigned depth) /* NOLINT(misc-no-recursion) */
{
    if (depth == 0)
        return scan_fail(s, "it is nested too deep");
    s->at++;
    scan_blanks(s);
    if (scan_char(s, close))
        return true;
    do {
        scan_blanks(s);
        if ((close == '}' && !scan_member_name(s)) || !scan_value(s, depth - 1))
            return false;
        scan_blanks(s);
    } while (scan_char(s, ','));
    return scan_char(s, close) ? true : scan_fail(s, "a bracket is not closed");
}

/* The value behind blanks. */
static bool scan_value(struct scan *s, unsigned depth) /* NOLINT(misc-no-recursion) */
{
    scan_blanks(s);
    if (s->at == s->end)
        return scan_fail(s, "a value is expected");
    switch (*s->at) {
    case '{':
        return scan_container(s, '}', depth);
    case '[':
        return scan_container(s, ']', depth);
    case '"':
        return scan_string(s);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        return scan_word(s, "null");
    default:
        return scan_number(s);
    }
}

const char *json_read(const char *text, size_t length, struct json_slice *out)
{
    struct scan s = {.at = text, .end = text + length};
    scan_blanks(&s);
    const char *begin = s.at;
    if (scan_value(&s, JSON_READ_DEPTH)) {
        *out = (struct json_slice){begin, (size_t)(s.at - begin)};
        scan_blanks(&s);
        if (s.at != s.end)
            (void)scan_fail(&s, "something follows the value");
    }
    return s.problem;
}

/* ------------------------------------------------------------------------------------------------ parts of a value */

static bool json_begins_with(struct json_slice value, char c)
{
    return value.text && value.length > 0 && value.text[0] == c;
}

bool json_is_object(struct json_slice value)
{
    return json_begins_with(value, '{');
}

bool json_is_array(struct json_slice value)
{
    return json_begins_with(value, '[');
}

bool json_is_string(struct json_slice value)
{
    return json_begins_with(value, '"');
}

struct json_rest json_elements(struct json_slice value)
{
    struct json_rest none = {NULL, NULL, false};
    if (!json_is_object(value) && !json_is_array(value))
        return none;
    return (struct json_rest){value.text + 1, value.text + value.length - 1, json_is_object(value)};
}

/* Behind a string of a checked text. */
static const char *json_string_end(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

/* Behind the value at `at` in a checked text: brackets are balanced, so that counting them is enough. */
static const char *json_value_end(const char *at, const char *end)
{
    size_t depth = 0;
    if (*at == '"')
        return json_string_end(at);
    while (at < end) {
        if (*at == '"') {
            at = json_string_end(at);
            continue;
        }
        if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            if (--depth == 0)
                return at + 1;
        } else if (depth == 0 && strchr(", \t\r\n", *at)) {
            return at;
        }
        at++;
    }
    return at;
}

static const char *json_skip(const char *at, const char *end)
{
    while (at < end && strchr(", \t\r\n:", *at))
        at++;
    return at;
}

bool json_next(struct json_rest *rest, struct json_slice *key, struct json_slice *value)
{
    const char *at = json_skip(rest->at, rest->end);
    if (at == rest->end)
        return false;
    if (rest->is_object) {
        const char *name = at;
        at = json_string_end(at);
        if (key)
            *key = (struct json_slice){name, (size_t)(at - name)};
        at = json_skip(at, rest->end);
    }
    rest->at = json_value_end(at, rest->end);
    *value = (struct json_slice){at, (size_t)(rest->at - at)};
    return true;
}

size_t json_count(struct json_slice value)
{
    struct json_rest rest = json_elements(value);
    struct json_slice element;
    size_t n = 0;
    while (json_next(&rest, NULL, &element))
        n++;
    return n;
}

struct json_slice json_find(struct json_slice object, const char *name)
{
    struct json_slice found = {NULL, 0}, key, value;
    struct json_rest rest = json_elements(object);
    while (rest.is_object && json_next(&rest, &key, &value))
        if (json_equals(key, name))
            found = value;
    return found;
}

/* -------------------------------------------------------------------------------------------------------- strings */

static uint32_t json_four_digits(const char *at)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++)
        code = code << 4 | (uint32_t)hex_digit(at[i]);
    return code;
}

/* A code as UTF-8. @return bytes. */
static size_t json_put_code(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(first[n] | code);
    return n;
}

/* The character at `*at` of a string, as UTF-8, to `to`. @return bytes; 0 for half of a surrogate pair. */
static size_t json_take_char(const char **at, char *to)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (**at != '\\') {
        *to = *(*at)++;
        return 1;
    }
    char c = (*at)[1];
    *at += 2;
    if (c != 'u') {
        *to = meanings[strchr(letters, c) - letters];
        return 1;
    }
    uint32_t code = json_four_digits(*at);
    *at += 4;
    if (code < 0xd800 || code > 0xdfff)
        return json_put_code(to, code);
    if (code > 0xdbff || (*at)[0] != '\\' || (*at)[1] != 'u')
        return 0;
    uint32_t low = json_four_digits(*at + 2);
    if (low < 0xdc00 || low > 0xdfff)
        return 0;
    *at += 6;
    return json_put_code(to, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
}

bool json_equals(struct json_slice value, const char *text)
{
    char c[4];
    size_t n;
    if (!json_is_string(value))
        return false;
    const char *at = value.text + 1, *end = value.text + value.length - 1;
    for (; at < end; text += n) {
        n = json_take_char(&at, c);
        if (n == 0 || strncmp(text, c, n) != 0 || *c == '\0')
            return false;
    }
    return *text == '\0';
}

char *json_text(struct json_slice value)
{
    size_t n = 0;
    char *text = json_is_string(value) ? malloc(value.length) : NULL;
    if (!text)
        return NULL;
    const char *at = value.text + 1, *end = value.text + value.length - 1;
    while (at < end) {
        size_t more = json_take_char(&at, text + n);
        if (more == 0 || text[n] == '\0') {
            free(text);
            return NULL;
        }
        n += more;
    }
    text[n] = '\0';
    return text;
}

bool json_integer(struct json_slice value, int64_t low, int64_t high, int64_t *out)
{
    char digits[24];
    if (!value.text || value.length >= sizeof digits)
        return false;
    memcpy(digits, value.text, value.length);
    digits[value.length] = '\0';
    if (digits[strspn(digits, "-0123456789")] != '\0')
        return false;
    errno = 0;
    long long n = strtoll(digits, NULL, 10);
    if (errno != 0 || n < low || n > high)
        return false;
    *out = n;
    return true;
}

bool json_boolean(struct json_slice value, bool *out)
{
    bool is_true = value.length == 4 && memcmp(value.text, "true", 4) == 0;
    if (!is_true && !(value.length == 5 && memcmp(value.text, "false", 5) == 0))
        return false;
    *out = is_true;
    return true;
}
