/* SPDX-License-Identifier: MIT */
/*
 * Demangling of Rust names: v0 (RFC 2603), and the legacy mangling, a C++ name with a hash at its end.
 *
 * A v0 name is a tree in prefix order, with back references. It may come from any file: depth and length are limited,
 * and a name that does not follow the grammar is no Rust name.
 */
#include "symbols/rust_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/textbuf.h"

enum { DEPTH_MAX = 200, LENGTH_MAX = 1 << 16, HASH_DIGITS = 16 };

struct reader {
    const char *begin, *at; /* `begin` is after "_R": back references count from there */
    struct textbuf out;
    unsigned depth;
    bool quiet; /* parse without output */
    bool bad;
};

static void path(struct reader *r, bool in_value);
static void type(struct reader *r);

static void put(struct reader *r, const char *text, size_t n)
{
    if (r->quiet || r->bad)
        return;
    if (r->out.len + n > LENGTH_MAX)
        r->bad = true;
    else
        textbuf_printf(&r->out, "%.*s", (int)n, text);
}

static void say(struct reader *r, const char *text)
{
    put(r, text, strlen(text));
}

static bool next_is(struct reader *r, char c)
{
    if (r->bad || *r->at != c)
        return false;
    r->at++;
    return true;
}

static char take(struct reader *r)
{
    if (r->bad || *r->at == '\0') {
        r->bad = true;
        return '\0';
    }
    return *r->at++;
}

/* "_" is 0, "0_" is 1. */
static uint64_t base_62(struct reader *r)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint64_t value = 0;
    if (next_is(r, '_'))
        return 0;
    while (!r->bad && !next_is(r, '_')) {
        char c = take(r);
        const char *digit = c ? strchr(digits, c) : NULL;
        r->bad |= digit == NULL;
        value = value * 62 + (uint64_t)(digit ? digit - digits : 0); /* a hash may exceed 64 bits: it is not printed */
    }
    return value + 1;
}

static uint64_t optional_62(struct reader *r, char tag)
{
    return next_is(r, tag) ? base_62(r) + 1 : 0;
}

static uint64_t decimal(struct reader *r)
{
    uint64_t value = 0;
    if (next_is(r, '0')) /* no number begins with 0: the next one follows */
        return 0;
    if (*r->at < '1' || *r->at > '9')
        r->bad = true;
    while (!r->bad && *r->at >= '0' && *r->at <= '9' && value < LENGTH_MAX)
        value = value * 10 + (uint64_t)(*r->at++ - '0');
    return value;
}

/* Identifiers that are not ASCII are printed in Punycode, and marked. */
static void plain_identifier(struct reader *r)
{
    bool coded = next_is(r, 'u');
    uint64_t n = decimal(r);
    (void)next_is(r, '_');
    if (r->bad || strnlen(r->at, n) < n) {
        r->bad = true;
        return;
    }
    say(r, coded ? "punycode{" : "");
    put(r, r->at, n);
    say(r, coded ? "}" : "");
    r->at += n;
}

/* A back reference. */
static void refer(struct reader *r, void (*what)(struct reader *r, bool in_value), bool in_value)
{
    uint64_t place = base_62(r);
    const char *here = r->at;
    if (r->bad || place >= (uint64_t)(here - r->begin)) {
        r->bad = true;
        return;
    }
    if (r->quiet)
        return;
    r->at = r->begin + place;
    what(r, in_value);
    r->at = here;
}

static void type_at(struct reader *r, bool in_value)
{
    (void)in_value;
    type(r);
}

/* ------------------------------------------------------------------------------------------------------- constants */

static void constant(struct reader *r, bool in_value)
{
    char kind = take(r);
    (void)in_value;
    if (kind == 'p') {
        say(r, "_");
        return;
    }
    if (kind == 'B') {
        refer(r, constant, false);
        return;
    }
    if (next_is(r, 'n'))
        say(r, "-");
    const char *digits = r->at;
    while (!r->bad && *r->at != '_')
        if (!strchr("0123456789abcdef", take(r)))
            r->bad = true;
    size_t n = (size_t)(r->at - digits);
    (void)take(r);
    if (r->bad)
        return;
    uint64_t value = n <= HASH_DIGITS ? strtoull(digits, NULL, 16) : 0; /* ends at the underscore */
    char text[32];
    if (kind == 'b')
        say(r, value ? "true" : "false");
    else if (n <= HASH_DIGITS && snprintf(text, sizeof text, "%llu", (unsigned long long)value) > 0)
        say(r, text);
    else {
        say(r, "0x");
        put(r, digits, n);
    }
}

/* ------------------------------------------------------------------------------------------------------- types */

static const char *basic_type(char c)
{
    static const char *const names[] = {"i8",    "bool", "char", "f64", "str",  "f32",  NULL,  "u8", "isize",
                                        "usize", NULL,   "i32",  "u32", "i128", "u128", "_",   NULL, NULL,
                                        "i16",   "u16",  "()",   "...", NULL,   "i64",  "u64", "!"};
    return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

/* Types up to the "E", separated. @return their number. */
static size_t types(struct reader *r)
{
    size_t n = 0;
    for (; !r->bad && !next_is(r, 'E'); n++) {
        say(r, n > 0 ? ", " : "");
        type(r);
    }
    return n;
}

static void function_type(struct reader *r)
{
    (void)optional_62(r, 'G');
    say(r, next_is(r, 'U') ? "unsafe " : "");
    if (next_is(r, 'K')) {
        say(r, "extern \"");
        if (next_is(r, 'C'))
            say(r, "C");
        else
            plain_identifier(r);
        say(r, "\" ");
    }
    say(r, "fn(");
    (void)types(r);
    say(r, ")");
    if (next_is(r, 'u'))
        return;
    say(r, " -> ");
    type(r);
}

static void dynamic_type(struct reader *r)
{
    (void)optional_62(r, 'G');
    say(r, "dyn ");
    for (size_t n = 0; !r->bad && !next_is(r, 'E'); n++) {
        say(r, n > 0 ? " + " : "");
        path(r, false);
        while (next_is(r, 'p')) {
            say(r, "<");
            plain_identifier(r);
            say(r, " = ");
            type(r);
            say(r, ">");
        }
    }
    (void)optional_62(r, 'L');
}

static void reference(struct reader *r, const char *how)
{
    say(r, how);
    (void)optional_62(r, 'L');
    type(r);
}

static void compound_type(struct reader *r, char kind)
{
    switch (kind) {
    case 'A':
    case 'S':
        say(r, "[");
        type(r);
        if (kind == 'A') {
            say(r, "; ");
            constant(r, false);
        }
        say(r, "]");
        break;
    case 'T':
        say(r, "(");
        say(r, types(r) == 1 ? ",)" : ")");
        break;
    case 'R':
        reference(r, "&");
        break;
    case 'Q':
        reference(r, "&mut ");
        break;
    case 'P':
        reference(r, "*const ");
        break;
    case 'O':
        reference(r, "*mut ");
        break;
    case 'F':
        function_type(r);
        break;
    case 'D':
        dynamic_type(r);
        break;
    case 'B':
        refer(r, type_at, false);
        break;
    default:
        r->at--; /* a path */
        path(r, false);
        break;
    }
}

static void type(struct reader *r)
{
    if (++r->depth > DEPTH_MAX)
        r->bad = true;
    char kind = take(r);
    const char *basic = basic_type(kind);
    if (basic)
        say(r, basic);
    else if (!r->bad)
        compound_type(r, kind);
    r->depth--;
}

/* ------------------------------------------------------------------------------------------------------- paths */

/* The location of an implementation is not printed. */
static void pass_over_path(struct reader *r)
{
    bool quiet = r->quiet;
    (void)optional_62(r, 's');
    r->quiet = true;
    path(r, false);
    r->quiet = quiet;
}

static void nested(struct reader *r, bool in_value)
{
    char space = take(r);
    path(r, in_value);
    uint64_t number = optional_62(r, 's');
    char text[32];
    if (space >= 'a' && space <= 'z') {
        say(r, *r->at == '0' ? "" : "::");
        plain_identifier(r);
        return;
    }
    say(r, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
    say(r, *r->at == '0' ? "" : ":");
    plain_identifier(r);
    snprintf(text, sizeof text, "#%llu}", (unsigned long long)number);
    say(r, text);
}

static void generic(struct reader *r, bool in_value)
{
    path(r, in_value);
    say(r, in_value ? "::<" : "<");
    for (size_t n = 0; !r->bad && !next_is(r, 'E'); n++) {
        say(r, n > 0 ? ", " : "");
        if (next_is(r, 'L')) {
            (void)base_62(r);
            say(r, "'_");
        } else if (next_is(r, 'K')) {
            constant(r, false);
        } else {
            type(r);
        }
    }
    say(r, ">");
}

static void implementation(struct reader *r, bool of_trait)
{
    say(r, "<");
    type(r);
    if (of_trait) {
        say(r, " as ");
        path(r, false);
    }
    say(r, ">");
}

static void path(struct reader *r, bool in_value)
{
    if (++r->depth > DEPTH_MAX)
        r->bad = true;
    char kind = take(r);
    switch (kind) {
    case 'C':
        (void)optional_62(r, 's');
        plain_identifier(r);
        break;
    case 'M':
    case 'X':
        pass_over_path(r);
        implementation(r, kind == 'X');
        break;
    case 'Y':
        implementation(r, true);
        break;
    case 'N':
        nested(r, in_value);
        break;
    case 'I':
        generic(r, in_value);
        break;
    case 'B':
        refer(r, path, in_value);
        break;
    default:
        r->bad = true;
        break;
    }
    r->depth--;
}

static char *finish(struct reader *r)
{
    if (!r->bad && !r->out.failed && r->out.data)
        return r->out.data;
    textbuf_free(&r->out);
    return NULL;
}

static char *demangle_v0(const char *name)
{
    struct reader r = {.begin = name, .at = name};
    path(&r, true);
    if (!r.bad && *r.at != '\0' && *r.at != '.' && *r.at != '$') { /* instantiating crate */
        r.quiet = true;
        path(&r, false);
    }
    r.bad |= *r.at != '\0' && *r.at != '.' && *r.at != '$';
    return finish(&r);
}

/* ------------------------------------------------------------------------------------------------------- legacy */

/* "$LT$" is "<". */
static bool escape(struct reader *r, const char **at, const char *end)
{
    static const struct {
        const char *code, *text;
    } codes[] = {{"$SP$", "@"},  {"$BP$", "*"},  {"$RF$", "&"},  {"$LT$", "<"},  {"$GT$", ">"},  {"$LP$", "("},
                 {"$RP$", ")"},  {"$C$", ","},   {"$u7e$", "~"}, {"$u20$", " "}, {"$u27$", "'"}, {"$u5b$", "["},
                 {"$u5d$", "]"}, {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u3b$", ";"}, {"$u2b$", "+"}, {"$u22$", "\""}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        size_t n = strlen(codes[i].code);
        if ((size_t)(end - *at) < n || strncmp(*at, codes[i].code, n) != 0)
            continue;
        say(r, codes[i].text);
        *at += n;
        return true;
    }
    return false;
}

/* One path element, in which ".." is "::" and an underscore before an escape is dropped. */
static void element(struct reader *r, const char *at, const char *end)
{
    if (end - at > 1 && at[0] == '_' && at[1] == '$')
        at++;
    while (at < end) {
        if (escape(r, &at, end))
            continue;
        if (end - at > 1 && at[0] == '.' && at[1] == '.') {
            say(r, "::");
            at += 2;
            continue;
        }
        put(r, at++, 1);
    }
}

static bool is_hash(const char *at, uint64_t n)
{
    return n == HASH_DIGITS + 1 && at[0] == 'h' && strspn(at + 1, "0123456789abcdef") >= HASH_DIGITS && at[n] == 'E';
}

static char *demangle_legacy(const char *name)
{
    struct reader r = {.begin = name, .at = name};
    for (size_t n = 0; !r.bad; n++) {
        uint64_t length = decimal(&r);
        if (r.bad || strnlen(r.at, length) < length)
            r.bad = true;
        else if (is_hash(r.at, length) && n > 0)
            return finish(&r);
        else {
            say(&r, n > 0 ? "::" : "");
            element(&r, r.at, r.at + length);
            r.at += length;
        }
    }
    return finish(&r);
}

char *rust_demangle(const char *name)
{
    if (strncmp(name, "_R", 2) == 0)
        return demangle_v0(name + 2);
    return strncmp(name, "_ZN", 3) == 0 ? demangle_legacy(name + 3) : NULL;
}
