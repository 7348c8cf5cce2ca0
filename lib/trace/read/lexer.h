/* SPDX-License-Identifier: MIT */
/** @file Tokens of CTF metadata. */
#ifndef UPMU_TRACE_LEXER_H
#define UPMU_TRACE_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT };

struct token {
    enum token_kind kind;
    const char *text; /**< name or string, NUL-terminated, in the lexer's pool */
    uint64_t number;  /**< magnitude; UINT64_MAX if it does not fit */
    bool negative;
    char punct;
    size_t begin; /**< offset in the text */
};

struct lexer {
    const char *text;
    size_t len;
    size_t pos;
    char *pool; /**< at least len + 1 bytes: a word is never longer than in the text */
    size_t pool_used;
    struct token now;
};

/** Advance to the next token. */
void lexer_next(struct lexer *l);
/** Whether the current token is this punctuation or this name. */
bool lexer_is(const struct lexer *l, char punct);
bool lexer_is_name(const struct lexer *l, const char *name);
/** Consume `punct`. @return false if the token is another one. */
bool lexer_pass(struct lexer *l, char punct);
/** Skip everything through the next ';' outside of braces, or up to an unmatched '}' or the end. */
void lexer_skip_statement(struct lexer *l);

#endif
