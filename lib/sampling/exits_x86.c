/* SPDX-License-Identifier: MIT */
/* Instructions of x86-64 by which a function ends. */
#include "sampling/exits_step.h"

#include <string.h>

enum opcode_map { MAP_ONE = 0, MAP_TWO = 1, MAP_38 = 2, MAP_3A = 3 };

/* An instruction that is being decoded. */
struct insn {
    const unsigned char *at;
    size_t bytes, left;
    bool wide, narrow, short_address; /* REX.W; prefixes 66 and 67 */
    unsigned map;
    bool is_vex;
    unsigned char opcode, modrm;
    bool failed;
};

static unsigned char insn_byte(struct insn *i)
{
    if (i->bytes >= i->left) {
        i->failed = true;
        return 0;
    }
    return i->at[i->bytes++];
}

static void insn_skip(struct insn *i, size_t bytes)
{
    i->bytes += bytes;
    i->failed |= i->bytes > i->left;
}

static bool opcode_in(unsigned char c, unsigned char first, unsigned char last)
{
    return c >= first && c <= last;
}

static bool insn_is_prefix(unsigned char c)
{
    return c == 0x26 || c == 0x2e || c == 0x36 || c == 0x3e || opcode_in(c, 0x64, 0x67) || c == 0xf0 || c == 0xf2 ||
           c == 0xf3;
}

/* After C5, C4 or 62. */
static void insn_vex(struct insn *i, unsigned char kind)
{
    unsigned char first = insn_byte(i);
    i->is_vex = true;
    i->map = kind == 0xc5 ? MAP_TWO : kind == 0xc4 ? first & 31 : first & 7;
    insn_skip(i, kind == 0xc5 ? 0 : kind == 0xc4 ? 1 : 2);
    i->opcode = insn_byte(i);
}

static void insn_opcode(struct insn *i)
{
    unsigned char c = insn_byte(i);
    for (; insn_is_prefix(c) && !i->failed; c = insn_byte(i)) {
        i->narrow |= c == 0x66;
        i->short_address |= c == 0x67;
    }
    if (opcode_in(c, 0x40, 0x4f)) {
        i->wide = (c & 8) != 0;
        c = insn_byte(i);
    }
    if (c == 0xc4 || c == 0xc5 || c == 0x62) {
        insn_vex(i, c);
        return;
    }
    i->map = MAP_ONE;
    if (c == 0x0f) {
        i->map = MAP_TWO;
        c = insn_byte(i);
        if (c == 0x38 || c == 0x3a) {
            i->map = c == 0x38 ? MAP_38 : MAP_3A;
            c = insn_byte(i);
        }
    }
    i->opcode = c;
}

static bool insn_has_modrm(const struct insn *i)
{
    unsigned char c = i->opcode;
    if (i->map == MAP_TWO && i->is_vex)
        return c != 0x77;
    if (i->map == MAP_TWO)
        return !(opcode_in(c, 0x05, 0x0b) || c == 0x0e || opcode_in(c, 0x30, 0x37) || c == 0x77 ||
                 opcode_in(c, 0x80, 0x8f) || opcode_in(c, 0xa0, 0xa2) || opcode_in(c, 0xa8, 0xaa) ||
                 opcode_in(c, 0xc8, 0xcf));
    if (i->map != MAP_ONE)
        return true;
    return (c < 0x40 && (c & 7) < 4) || c == 0x63 || c == 0x69 || c == 0x6b || opcode_in(c, 0x80, 0x8f) || c == 0xc0 ||
           c == 0xc1 || c == 0xc6 || c == 0xc7 || opcode_in(c, 0xd0, 0xd3) || opcode_in(c, 0xd8, 0xdf) || c == 0xf6 ||
           c == 0xf7 || c == 0xfe || c == 0xff;
}

/* ModRM, SIB and displacement. */
static void insn_operand(struct insn *i)
{
    i->modrm = insn_byte(i);
    unsigned mod = i->modrm >> 6, rm = i->modrm & 7;
    if (mod == 3)
        return;
    unsigned base = rm == 4 ? insn_byte(i) & 7 : rm;
    insn_skip(i, mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
}

/* Bytes of the immediate operand of the first map. */
static size_t insn_immediate_one(const struct insn *i)
{
    unsigned char c = i->opcode;
    const size_t word = i->narrow ? 2 : 4;
    bool is_test = (i->modrm >> 3 & 7) < 2; /* of f6 and f7 */
    if (opcode_in(c, 0xa0, 0xa3))
        return i->short_address ? 4 : 8;
    if (opcode_in(c, 0xb8, 0xbf))
        return i->wide ? 8 : word;
    if (c == 0xe8 || c == 0xe9)
        return 4;
    if (c == 0xc2 || c == 0xca)
        return 2;
    if (c == 0xc8)
        return 3;
    if ((c < 0x40 && (c & 7) == 5) || c == 0x68 || c == 0x69 || c == 0x81 || c == 0xa9 || c == 0xc7 ||
        (c == 0xf7 && is_test))
        return word;
    return (c < 0x40 && (c & 7) == 4) || c == 0x6a || c == 0x6b || opcode_in(c, 0x70, 0x7f) || c == 0x80 || c == 0x82 ||
           c == 0x83 || c == 0xa8 || opcode_in(c, 0xb0, 0xb7) || c == 0xc0 || c == 0xc1 || c == 0xc6 || c == 0xcd ||
           opcode_in(c, 0xe0, 0xe7) || c == 0xeb || (c == 0xf6 && is_test);
}

static size_t insn_immediate(const struct insn *i)
{
    unsigned char c = i->opcode;
    if (i->map == MAP_ONE)
        return insn_immediate_one(i);
    if (i->map == MAP_TWO && !i->is_vex && opcode_in(c, 0x80, 0x8f))
        return 4;
    if (i->map == MAP_TWO)
        return opcode_in(c, 0x70, 0x73) || c == 0xa4 || c == 0xac || c == 0xba || c == 0xc2 || opcode_in(c, 0xc4, 0xc6);
    return i->map == MAP_3A;
}

/* Decode the instruction at `at`. */
static struct insn insn_decode(const unsigned char *at, size_t left)
{
    struct insn i = {.at = at, .left = left};
    insn_opcode(&i);
    if (insn_has_modrm(&i))
        insn_operand(&i);
    insn_skip(&i, insn_immediate(&i));
    return i;
}

/* Where a direct jump leads, relative to its end. @return whether it is one. */
static bool insn_jump(const struct insn *i, int64_t *by)
{
    const unsigned char *end = i->at + i->bytes;
    bool near = i->map == MAP_ONE && (i->opcode == 0xeb || opcode_in(i->opcode, 0x70, 0x7f));
    bool far = (i->map == MAP_ONE && i->opcode == 0xe9) ||
               (i->map == MAP_TWO && !i->is_vex && opcode_in(i->opcode, 0x80, 0x8f));
    int32_t word = 0;
    if (far)
        memcpy(&word, end - sizeof word, sizeof word);
    *by = near ? (int64_t)(int8_t)end[-1] : word;
    return near || far;
}

static bool insn_is_return(const struct insn *i)
{
    return i->map == MAP_ONE && (i->opcode == 0xc3 || i->opcode == 0xc2);
}

static bool insn_is_indirect(const struct insn *i)
{
    return i->map == MAP_ONE && i->opcode == 0xff && (i->modrm >> 3 & 7) == 4;
}

/* A push, a nop, or a branch. */
static bool insn_is_emulated(const unsigned char *code)
{
    unsigned char push = code[0] == 0x41 ? code[1] : code[0];
    return (push >= 0x50 && push <= 0x57) || code[0] == 0x90 || (code[0] & 0xf0) == 0x70 || code[0] == 0xe8 ||
           code[0] == 0xe9 || code[0] == 0xeb || (code[0] == 0x0f && (code[1] & 0xf0) == 0x80);
}

struct exits_step exits_x86_step(const unsigned char *at, size_t left)
{
    struct insn i = insn_decode(at, left);
    int64_t by = 0;
    if (i.failed)
        return (struct exits_step){.bytes = 0};
    struct exits_step step = {.bytes = i.bytes, .is_emulated = left < 2 || insn_is_emulated(at)};
    if (insn_is_return(&i))
        step.kind = EXITS_RETURN;
    else if (insn_is_indirect(&i))
        step.kind = EXITS_INDIRECT;
    else if (insn_jump(&i, &by))
        step.kind = EXITS_DIRECT;
    step.by = i.bytes + (uint64_t)by;
    return step;
}
