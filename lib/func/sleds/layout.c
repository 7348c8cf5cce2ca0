/* SPDX-License-Identifier: MIT */
/* Bytes of sleds. */
#include <string.h>

#include "func/sleds/module.h"

#if defined(__x86_64__) && defined(__LP64__)

enum { SLED_JUMP_OFF = 9, SLED_JUMP_ON = 4, CALL = 0xe8 };

static const unsigned char sled_jump[] = {0xeb, SLED_JUMP_OFF, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
static const unsigned char sled_return[] = {0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
static const unsigned char sled_nops[SLED_PATCH_BYTES] = {0x90, 0x90, 0x90, 0x90, 0x90};
static const unsigned char sled_nop[] = {0x0f, 0x1f, 0x44}; /* and two bytes that are any address */

size_t sled_length(const struct sled *s)
{
    return sled_is_patchable(s) ? SLED_PATCH_BYTES : SLED_BYTES;
}

size_t sled_byte_at(const struct sled *s)
{
    return s->kind == SLED_ENTRY || s->kind == SLED_TAIL ? 1 : 0;
}

unsigned char sled_byte(const struct sled *s, bool on)
{
    if (sled_is_patchable(s))
        return on ? CALL : s->before[0];
    return s->kind == SLED_EXIT ? on ? 0x41 : 0xc3 : on ? SLED_JUMP_ON : SLED_JUMP_OFF;
}

static void sled_relative(unsigned char *at, uint64_t from, const char *to)
{
    int32_t distance = (int32_t)((int64_t)(uintptr_t)to - (int64_t)from);
    memcpy(at, &distance, sizeof distance);
}

void sled_body(const struct sled_module *m, const struct sled *s, unsigned char bytes[SLED_BYTES])
{
    memcpy(bytes, s->before, SLED_BYTES);
    if (sled_is_patchable(s)) {
        memcpy(bytes + 1, &m->pads[s->kind - SLED_NOPS].distance, sizeof(int32_t));
        return;
    }
    bool is_exit = s->kind == SLED_EXIT;
    const char *stub = m->stubs + (size_t)STUB_BYTES * s->kind;
    if (is_exit)
        bytes[1] = 0xba; /* with 0x41: mov $function, %r10d */
    memcpy(bytes + 2, &s->function, sizeof s->function);
    bytes[6] = is_exit ? 0xe9 : CALL; /* jmp, call */
    sled_relative(bytes + 7, s->address + SLED_BYTES, stub);
}

bool sled_is_whole(const struct sled *s)
{
    return sled_is_patchable(s) || memcmp(s->before, s->kind == SLED_EXIT ? sled_return : sled_jump,
                                          s->kind == SLED_EXIT ? 1 : SLED_BYTES) == 0;
}

int sled_patchable_kind(const unsigned char *bytes)
{
    if (memcmp(bytes, sled_nops, sizeof sled_nops) == 0)
        return SLED_NOPS;
    return memcmp(bytes, sled_nop, sizeof sled_nop) == 0 ? SLED_NOP : -1;
}

#endif
