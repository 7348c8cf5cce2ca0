/* SPDX-License-Identifier: MIT */
/** @file Sleds of a loaded module, and what they call, on x86-64. */
#ifndef UPMU_FUNC_SLED_MODULE_H
#define UPMU_FUNC_SLED_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/process/loaded_module.h"
#include "func/sleds/calls.h"

/** Those of XRay have the numbers of its table. */
enum sled_kind {
    SLED_ENTRY = 0,
    SLED_EXIT = 1,
    SLED_TAIL = 2,
    SLED_NOPS = 3, /**< -fpatchable-function-entry=5 of gcc: five nops */
    SLED_NOP = 4,  /**< of clang: one nop of five bytes */
};
enum { SLED_BYTES = 11, STUB_BYTES = 16 };

struct sled {
    uint64_t address;
    uint32_t function; /**< its number; of a patchable entry unused */
    uint8_t kind;
    unsigned char before[SLED_BYTES];
};

/** Jumps to the handler at a fixed distance from the patchable entries. */
struct sled_pads {
    char *memory; /**< NULL: the module needs none */
    size_t bytes;
    int32_t distance; /**< of a call */
};

struct sled_module {
    uint64_t start, end;
    uint64_t layout; /**< hash of its segments */
    char id[BUILD_ID_TEXT];
    char *stubs;              /**< within reach of its calls: entry, exit, tail */
    struct sled_pads pads[2]; /**< of SLED_NOPS and SLED_NOP */
    struct sled *all;
    size_t n, cap;
    bool on, loaded, has_stubs;
};

static inline bool sled_is_patchable(const struct sled *s)
{
    return s->kind >= SLED_NOPS;
}

/* layout.c */

/** Length of a sled. */
size_t sled_length(const struct sled *s);
/** The byte that makes the sled live or not, and its place. */
unsigned char sled_byte(const struct sled *s, bool on);
size_t sled_byte_at(const struct sled *s);
/** All bytes of a sled that is not live, but prepared. */
void sled_body(const struct sled_module *m, const struct sled *s, unsigned char bytes[SLED_BYTES]);
/** Whether the bytes before are those of a compiler, so that no other runtime has patched them. */
bool sled_is_whole(const struct sled *s);
/** The kind of a patchable entry by its bytes; -1: none that can be patched. */
int sled_patchable_kind(const unsigned char *bytes);

/* stubs.c */

/** Make what the module's sleds call. @return 0; UPMU_E_NOMEM, UPMU_E_SYSTEM. */
int stubs_make(struct sled_module *m);
void stubs_free(struct sled_module *m);

#endif
