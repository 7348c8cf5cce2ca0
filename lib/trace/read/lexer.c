/* SPDX-License-Identifier: MIT */
/* Tokens of CTF metadata. */
#include "trace/read/lexer.h"

#include <string.h>

static bool lexer_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool lexer_is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || lexer_is_digit(c) || c == '_';
}

static inline bool lexer_is_at(const struct lexer *l, const char *word)
{
    size_t n = strlen(word);
    return l->len - l->pos >= n && memcmp(l->text + l->pos, word, n) == 0;
}

static void lexer_skip_to(struct lexer *l, const char *word)
{
    while (l->pos < l->len && !lexer_is_at(l, word))
        l->pos++;
    l->pos += l->pos < l->len ? strlen(word) : 0;
}

static void lexer_skip_blanks(struct lexer *l)
{
    while (l->pos < l->len) {
        char c = l->text[l->pos];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            l->pos++;
        } else if (c != '/') {
            return;
        } else if (lexer_is_at(l, "/*")) {
            l->pos += 2;
            lexer_skip_to(l, "*/");
        } else if (lexer_is_at(l, "//")) {
            lexer_skip_to(l, "\n");
        } else {
            return;
        }
    }
}

static void lexer_keep(struct lexer *l, char c)
{
    l->pool[l->pool_used++] = c;
}

static void read_name(struct lexer *l)
{
    while (l->pos < l->len && lexer_is_name_char(l->text[l->pos]))
        lexer_keep(l, l->text[l->pos++]);
    lexer_keep(l, '\0');
}

static unsigned lexer_digit_value(char c)
{
    return lexer_is_digit(c)      ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 99;
}

static void read_number(struct lexer *l)
{
    unsigned base = 10;
    uint64_t n = 0;
    bool overflow = false;
    if (lexer_is_at(l, "0x") || lexer_is_at(l, "0X")) {
        base = 16;
        l->pos += 2;
    }
    for (; l->pos < l->len && lexer_digit_value(l->text[l->pos]) < base; l->pos++)
        overflow |=
            __builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, lexer_digit_value(l->text[l->pos]), &n);
    l->now.number = overflow ? UINT64_MAX : n;
}

/* One character after a backslash. */
static char read_escape(struct lexer *l)
{
    char c = l->text[l->pos];
    if (lexer_digit_value(c) >= 8) {
        l->pos++;
        return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    unsigned value = 0;
    for (int i = 0; i < 3 && l->pos < l->len && lexer_digit_value(l->text[l->pos]) < 8; i++)
        value = value * 8 + lexer_digit_value(l->text[l->pos++]);
    return (char)value;
}

static void read_string(struct lexer *l)
{
    l->pos++;
    while (l->pos < l->len && l->text[l->pos] != '"') {
        if (l->text[l->pos] != '\\' || l->pos + 1 == l->len) {
            lexer_keep(l, l->text[l->pos++]);
            continue;
        }
        l->pos++;
        lexer_keep(l, read_escape(l));
    }
    if (l->pos < l->len)
        l->pos++;
    lexer_keep(l, '\0');
}

void lexer_next(struct lexer *l)
{
    lexer_skip_blanks(l);
    l->now = (struct token){.kind = TOKEN_END, .begin = l->pos, .text = ""};
    if (l->pos >= l->len)
        return;
    char c = l->text[l->pos];
    if (c == '-' && l->pos + 1 < l->len && lexer_is_digit(l->text[l->pos + 1])) {
        l->now.negative = true;
        c = l->text[++l->pos];
    }
    const char *text = l->pool + l->pool_used;
    if (lexer_is_digit(c)) {
        l->now.kind = TOKEN_NUMBER;
        read_number(l);
    } else if (lexer_is_name_char(c)) {
        l->now.kind = TOKEN_NAME;
        l->now.text = text;
        read_name(l);
    } else if (c == '"') {
        l->now.kind = TOKEN_STRING;
        l->now.text = text;
        read_string(l);
    } else {
        l->now.kind = TOKEN_PUNCT;
        l->now.punct = c;
        l->pos++;
    }
}

bool lexer_is(const struct lexer *l, char punct)
{
    return l->now.kind == TOKEN_PUNCT && l->now.punct == punct;
}

bool lexer_is_name(const struct lexer *l, const char *name)
{
    return l->now.kind == TOKEN_NAME && strcmp(l->now.text, name) == 0;
}

bool lexer_pass(struct lexer *l, char punct)
{
    if (!lexer_is(l, punct))
        return false;
    lexer_next(l);
    return true;
}

void lexer_skip_statement(struct lexer *l)
{
    size_t depth = 0;
    for (; l->now.kind != TOKEN_END; lexer_next(l)) {
        if (lexer_is(l, '{')) {
            depth++;
        } else if (lexer_is(l, '}')) {
            if (depth == 0)
                return;
            depth--;
        } else if (lexer_is(l, ';') && depth == 0) {
            lexer_next(l);
            return;
        }
    }
}
