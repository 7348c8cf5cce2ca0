/* SPDX-License-Identifier: MIT */
/** @file Text block of the event tables: each text once. */
#include "arch/generator/text.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES_MAX = 1 << 20, TEXT_SLOTS = 1 << 15 };

/* The block never moves, since arch_text() points into it. It starts with the empty text. */
static char text_block[TEXT_BYTES_MAX];
static size_t text_bytes = 1, text_count;
/* Hash table with open addressing; 0 = free, since the empty text needs no slot. */
static arch_text_ref text_slots[TEXT_SLOTS];

const char *arch_text(arch_text_ref ref)
{
    return text_block + ref;
}

arch_text_ref text_add(const char *text)
{
    size_t bytes = strlen(text) + 1, slot = 0;
    if (bytes == 1)
        return 0;
    for (const char *c = text; *c; c++)
        slot = (slot * 31 + (unsigned char)*c) % TEXT_SLOTS;
    for (; text_slots[slot]; slot = (slot + 1) % TEXT_SLOTS)
        if (strcmp(arch_text(text_slots[slot]), text) == 0)
            return text_slots[slot];
    if (bytes > TEXT_BYTES_MAX - text_bytes || text_count == TEXT_SLOTS - 1) {
        fputs("event tables: more text than text.c has space for\n", stderr);
        exit(2);
    }
    text_slots[slot] = (arch_text_ref)text_bytes;
    memcpy(text_block + text_bytes, text, bytes);
    text_bytes += bytes;
    text_count++;
    return text_slots[slot];
}

void text_emit(FILE *out)
{
    for (size_t at = 0; at < text_bytes; at += strlen(text_block + at) + 1) {
        fputs("    \"", out);
        for (const char *c = text_block + at; *c; c++)
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        fprintf(out, "\\0\" /* %zu */\n", at);
    }
}
