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

#include "base/text/textbuf.h"

enum { DEPTH_MAX = 200, LENGTH_MAX = 1 << 16, HASH_DIGITS = 16 };

struct reader {
    const char *begin, *at; /* `begin` is after "_R": back references count from there */
    struct textbuf out;
    unsigned depth;
    bool quiet; /* parse without output */
    bool bad;
};

static void rust_path(struct reader *r, bool in_value);
static void rust_type(struct reader *r);

static void rust_put(struct reader *r, const char *text, size_t n)
{
    if (r->quiet || r->bad)
        return;
    if (r->out.len + n > LENGTH_MAX)
        r->bad = true;
    else
        textbuf_printf(&r->out, "%.*s", (int)n, text);
}

static void rust_print(struct reader *r, const char *text)
{
    rust_put(r, text, strlen(text));
}

static bool rust_next_is(struct reader *r, char c)
{
    if (r->bad || *r->at != c)
        return false;
    r->at++;
    return true;
}

static char rust_take(struct reader *r)
{
    if (r->bad || *r->at == '\0') {
        r->bad = true;
        return '\0';
    }
    return *r->at++;
}

/* "_" is 0, "0_" is 1. */
static uint64_t rust_base_62(struct reader *r)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint64_t value = 0;
    if (rust_next_is(r, '_'))
        return 0;
    while (!r->bad && !rust_next_is(r, '_')) {
        char c = rust_take(r);
        const char *digit = c ? strchr(digits, c) : NULL;
        r->bad |= digit == NULL;
        value = value * 62 + (uint64_t)(digit ? digit - digits : 0); /* a hash may exceed 64 bits: it is not printed */
    }
    return value + 1;
}

static uint64_t rust_optional_62(struct reader *r, char tag)
{
    return rust_next_is(r, tag) ? rust_base_62(r) + 1 : 0;
}

static uint64_t rust_decimal(struct reader *r)
{
    uint64_t value = 0;
    if (rust_next_is(r, '0')) /* no number begins with 0: the next one follows */
        return 0;
    if (*r->at < '1' || *r->at > '9')
        r->bad = true;
    while (!r->bad && *r->at >= '0' && *r->at <= '9' && value < LENGTH_MAX)
        value = value * 10 + (uint64_t)(*r->at++ - '0');
    return value;
}

/* Identifiers that are not ASCII are printed in Punycode, and marked. */
static void rust_identifier(struct reader *r)
{
    bool coded = rust_next_is(r, 'u');
    uint64_t n = rust_decimal(r);
    (void)rust_next_is(r, '_');
    if (r->bad || strnlen(r->at, n) < n) {
        r->bad = true;
        return;
    }
    rust_print(r, coded ? "punycode{" : "");
    rust_put(r, r->at, n);
    rust_print(r, coded ? "}" : "");
    r->at += n;
}

/* A back reference. */
static void rust_back_reference(struct reader *r, void (*what)(struct reader *r, bool in_value), bool in_value)
{
    uint64_t offset = rust_base_62(r);
    const char *here = r->at;
    if (r->bad || offset >= (uint64_t)(here - r->begin)) {
        r->bad = true;
        return;
    }
    if (r->quiet)
        return;
    r->at = r->begin + offset;
    what(r, in_value);
    r->at = here;
}

/* rust_type() as rust_back_reference() calls it. */
static void rust_type_at(struct reader *r, bool in_value)
{
    (void)in_value;
    rust_type(r);
}

/* ------------------------------------------------------------------------------------------------------ constants */

static void rust_constant(struct reader *r, bool in_value)
{
    char kind = rust_take(r);
    (void)in_value;
    if (kind == 'p') {
        rust_print(r, "_");
        return;
    }
    if (kind == 'B') {
        rust_back_reference(r, rust_constant, false);
        return;
    }
    if (rust_next_is(r, 'n'))
        rust_print(r, "-");
    const char *digits = r->at;
    while (!r->bad && *r->at != '_')
        if (!strchr("0123456789abcdef", rust_take(r)))
            r->bad = true;
    size_t n = (size_t)(r->at - digits);
    (void)rust_take(r);
    if (r->bad)
        return;
    uint64_t value = n <= HASH_DIGITS ? strtoull(digits, NULL, 16) : 0; /* ends at the underscore */
    char text[32];
    if (kind == 'b')
        rust_print(r, value ? "true" : "false");
    else if (n <= HASH_DIGITS && snprintf(text, sizeof text, "%llu", (unsigned long long)value) > 0)
        rust_print(r, text);
    else {
        rust_print(r, "0x");
        rust_put(r, digits, n);
    }
}

/* ------------------------------------------------------------------------------------------------------- types */

static const char *rust_basic_type(char c)
{
    static const char *const names[] = {"i8",    "bool", "char", "f64", "str",  "f32",  NULL,  "u8", "isize",
                                        "usize", NULL,   "i32",  "u32", "i128", "u128", "_",   NULL, NULL,
                                        "i16",   "u16",  "()",   "...", NULL,   "i64",  "u64", "!"};
    return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

/* Types up to the "E", separated. @return their number. */
static size_t rust_types(struct reader *r)
{
    size_t n = 0;
    for (; !r->bad && !rust_next_is(r, 'E'); n++) {
        rust_print(r, n > 0 ? ", " : "");
        rust_type(r);
    }
    return n;
}

static void rust_function_type(struct reader *r)
{
    (void)rust_optional_62(r, 'G');
    rust_print(r, rust_next_is(r, 'U') ? "unsafe " : "");
    if (rust_next_is(r, 'K')) {
        rust_print(r, "extern \"");
        if (rust_next_is(r, 'C'))
            rust_print(r, "C");
        else
            rust_identifier(r);
        rust_print(r, "\" ");
    }
    rust_print(r, "fn(");
    (void)rust_types(r);
    rust_print(r, ")");
    if (rust_next_is(r, 'u'))
        return;
    rust_print(r, " -> ");
    rust_type(r);
}

static void rust_dynamic_type(struct reader *r)
{
    (void)rust_optional_62(r, 'G');
    rust_print(r, "dyn ");
    for (size_t n = 0; !r->bad && !rust_next_is(r, 'E'); n++) {
        rust_print(r, n > 0 ? " + " : "");
        rust_path(r, false);
        while (rust_next_is(r, 'p')) {
            rust_print(r, "<");
            rust_identifier(r);
            rust_print(r, " = ");
            rust_type(r);
            rust_print(r, ">");
        }
    }
    (void)rust_optional_62(r, 'L');
}

static void rust_reference(struct reader *r, const char *how)
{
    rust_print(r, how);
    (void)rust_optional_62(r, 'L');
    rust_type(r);
}

static void rust_compound_type(struct reader *r, char kind)
{
    switch (kind) {
    case 'A':
    case 'S':
        rust_print(r, "[");
        rust_type(r);
        if (kind == 'A') {
            rust_print(r, "; ");
            rust_constant(r, false);
        }
        rust_print(r, "]");
        break;
    case 'T':
        rust_print(r, "(");
        rust_print(r, rust_types(r) == 1 ? ",)" : ")");
        break;
    case 'R':
        rust_reference(r, "&");
        break;
    case 'Q':
        rust_reference(r, "&mut ");
        break;
    case 'P':
        rust_reference(r, "*const ");
        break;
    case 'O':
        rust_reference(r, "*mut ");
        break;
    case 'F':
        rust_function_type(r);
        break;
    case 'D':
        rust_dynamic_type(r);
        break;
    case 'B':
        rust_back_reference(r, rust_type_at, false);
        break;
    default:
        r->at--; /* a path */
        rust_path(r, false);
        break;
    }
}

static void rust_type(struct reader *r)
{
    if (++r->depth > DEPTH_MAX)
        r->bad = true;
    char kind = rust_take(r);
    const char *basic = rust_basic_type(kind);
    if (basic)
        rust_print(r, basic);
    else if (!r->bad)
        rust_compound_type(r, kind);
    r->depth--;
}

/* ------------------------------------------------------------------------------------------------------- paths */

/* The location of an implementation is not printed. */
static void rust_skip_path(struct reader *r)
{
    bool quiet = r->quiet;
    (void)rust_optional_62(r, 's');
    r->quiet = true;
    rust_path(r, false);
    r->quiet = quiet;
}

static void rust_nested(struct reader *r, bool in_value)
{
    char space = rust_take(r);
    rust_path(r, in_value);
    uint64_t number = rust_optional_62(r, 's');
    char text[32];
    if (space >= 'a' && space <= 'z') {
        rust_print(r, *r->at == '0' ? "" : "::");
        rust_identifier(r);
        return;
    }
    rust_print(r, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
    rust_print(r, *r->at == '0' ? "" : ":");
    rust_identifier(r);
    snprintf(text, sizeof text, "#%llu}", (unsigned long long)number);
    rust_print(r, text);
}

static void rust_generic(struct reader *r, bool in_value)
{
    rust_path(r, in_value);
    rust_print(r, in_value ? "::<" : "<");
    for (size_t n = 0; !r->bad && !rust_next_is(r, 'E'); n++) {
        rust_print(r, n > 0 ? ", " : "");
        if (rust_next_is(r, 'L')) {
            (void)rust_base_62(r);
            rust_print(r, "'_");
        } else if (rust_next_is(r, 'K')) {
            rust_constant(r, false);
        } else {
            rust_type(r);
        }
    }
    rust_print(r, ">");
}

static void rust_implementation(struct reader *r, bool of_trait)
{
    rust_print(r, "<");
    rust_type(r);
    if (of_trait) {
        rust_print(r, " as ");
        rust_path(r, false);
    }
    rust_print(r, ">");
}

static void rust_path(struct reader *r, bool in_value)
{
    if (++r->depth > DEPTH_MAX)
        r->bad = true;
    char kind = rust_take(r);
    switch (kind) {
    case 'C':
        (void)rust_optional_62(r, 's');
        rust_identifier(r);
        break;
    case 'M':
    case 'X':
        rust_skip_path(r);
        rust_implementation(r, kind == 'X');
        break;
    case 'Y':
        rust_implementation(r, true);
        break;
    case 'N':
        rust_nested(r, in_value);
        break;
    case 'I':
        rust_generic(r, in_value);
        break;
    case 'B':
        rust_back_reference(r, rust_path, in_value);
        break;
    default:
        r->bad = true;
        break;
    }
    r->depth--;
}

static char *rust_finish(struct reader *r)
{
    if (!r->bad && !r->out.failed && r->out.data)
        return r->out.data;
    textbuf_free(&r->out);
    return NULL;
}

static char *rust_demangle_v0(const char *name)
{
    struct reader r = {.begin = name, .at = name};
    rust_path(&r, true);
    if (!r.bad && *r.at != '\0' && *r.at != '.' && *r.at != '$') { /* instantiating crate */
        r.quiet = true;
        rust_path(&r, false);
    }
    r.bad |= *r.at != '\0' && *r.at != '.' && *r.at != '$';
    return rust_finish(&r);
}

/* ------------------------------------------------------------------------------------------------------- legacy */

/* "$LT$" is "<". */
static bool legacy_escape(struct reader *r, const char **at, const char *end)
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
        rust_print(r, codes[i].text);
        *at += n;
        return true;
    }
    return false;
}

/* One path element, in which ".." is "::" and an underscore before an escape is dropped. */
static void legacy_element(struct reader *r, const char *at, const char *end)
{
    if (end - at > 1 && at[0] == '_' && at[1] == '$')
        at++;
    while (at < end) {
        if (legacy_escape(r, &at, end))
            continue;
        if (end - at > 1 && at[0] == '.' && at[1] == '.') {
            rust_print(r, "::");
            at += 2;
            continue;
        }
        rust_put(r, at++, 1);
    }
}

static bool legacy_is_hash(const char *at, uint64_t n)
{
    return n == HASH_DIGITS + 1 && at[0] == 'h' && strspn(at + 1, "0123456789abcdef") >= HASH_DIGITS && at[n] == 'E';
}

static char *rust_demangle_legacy(const char *name)
{
    struct reader r = {.begin = name, .at = name};
    for (size_t n = 0; !r.bad; n++) {
        uint64_t length = rust_decimal(&r);
        if (r.bad || strnlen(r.at, length) < length)
            r.bad = true;
        else if (legacy_is_hash(r.at, length) && n > 0)
            return rust_finish(&r);
        else {
            rust_print(&r, n > 0 ? "::" : "");
            legacy_element(&r, r.at, r.at + length);
            r.at += length;
        }
    }
    return rust_finish(&r);
}

char *rust_demangle(const char *name)
{
    if (strncmp(name, "_R", 2) == 0)
        return rust_demangle_v0(name + 2);
    return strncmp(name, "_ZN", 3) == 0 ? rust_demangle_legacy(name + 3) : NULL;
}
