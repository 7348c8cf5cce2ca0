/* SPDX-License-Identifier: MIT */
/*
 * Instructions of AArch64, RISC-V and LoongArch by which a function ends.
 *
 * Sources: Arm Architecture Reference Manual (DDI 0487), C4.1 "Branches, Exception Generating and System instructions"; The RISC-V Instruction
 * Set Manual, volume I, chapters on RV64I and "C"; LoongArch Reference Manual, volume 1, 2.2.5 and appendix B. What the kernel emulates under a
 * probe: arch/{arm64,riscv,loongarch} of Linux.
 */
#include "sampling/exits_step.h"

/* Code is little-endian whatever the order of data is. */
static uint32_t risc_word(const unsigned char *at, size_t bytes)
{
    uint32_t word = 0;
    for (size_t i = 0; i < bytes; i++)
        word |= (uint32_t)at[i] << 8 * i;
    return word;
}

/* The field of `n` bits from bit `first` on. */
static uint32_t risc_bits(uint32_t word, unsigned first, unsigned n)
{
    return word >> first & ((1U << n) - 1);
}

/* A signed number of `n` bits as a distance in units of 1 << `shift` bytes. */
static uint64_t risc_distance(uint32_t value, unsigned n, unsigned shift)
{
    uint64_t sign = UINT64_C(1) << (n - 1);
    return ((value ^ sign) - sign) << shift;
}

static struct exits_step risc_direct(size_t bytes, uint64_t by)
{
    return (struct exits_step){bytes, EXITS_DIRECT, by, true};
}

/* ---------------------------------------------------------------------------------------------------------- AArch64 */

/* BR, BLR, RET, ERET. The kernel puts no probe on those with pointer authentication. */
static struct exits_step aarch64_by_register(uint32_t word)
{
    bool authenticates = risc_bits(word, 10, 6) != 0;
    struct exits_step step = {4, EXITS_NONE, 0, !authenticates};
    switch (risc_bits(word, 21, 4)) {
    case 0: /* BR, BRAAZ, BRABZ */
    case 8: /* BRAA, BRAB */
        step.kind = authenticates ? EXITS_REFUSED : EXITS_INDIRECT;
        break;
    case 2: /* RET, RETAA, RETAB */
        step.kind = authenticates ? EXITS_REFUSED : EXITS_RETURN;
        break;
    default:
        break;
    }
    return step;
}

struct exits_step exits_aarch64_step(const unsigned char *at, size_t left)
{
    if (left < 4)
        return (struct exits_step){.bytes = 0};
    uint32_t word = risc_word(at, 4);
    if ((word & 0xfc000000) == 0x14000000) /* B */
        return risc_direct(4, risc_distance(risc_bits(word, 0, 26), 26, 2));
    if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) /* B.cond, BC.cond, CBZ, CBNZ */
        return risc_direct(4, risc_distance(risc_bits(word, 5, 19), 19, 2));
    if ((word & 0x7e000000) == 0x36000000) /* TBZ, TBNZ */
        return risc_direct(4, risc_distance(risc_bits(word, 5, 14), 14, 2));
    if (risc_bits(word, 25, 7) == 0x6b)
        return aarch64_by_register(word);
    if ((word & 0xffc0001f) == 0x5500001f) /* RETAASPPC, RETABSPPC */
        return (struct exits_step){4, EXITS_REFUSED, 0, false};
    bool is_emulated = (word & 0x1f000000) == 0x10000000 || (word & 0xfc000000) == 0x94000000; /* ADR, ADRP, BL */
    return (struct exits_step){4, EXITS_NONE, 0, is_emulated};
}

/* ----------------------------------------------------------------------------------------------------------- RISC-V */

enum { RISCV_ZERO = 0, RISCV_RA = 1, RISCV_T0 = 5 };

/* A call that saves registers by a function of the compiler (-msave-restore) links to t0: another one, which the caller jumps to with its
 * frame, loads them and returns. */
static enum exits_kind riscv_call(uint32_t link)
{
    return link == RISCV_T0 ? EXITS_REFUSED : EXITS_NONE;
}

static struct exits_step riscv_compressed(uint32_t half)
{
    uint32_t by;
    switch (half & 0xe003) {
    case 0xa001: /* c.j */
        by = risc_bits(half, 12, 1) << 11 | risc_bits(half, 11, 1) << 4 | risc_bits(half, 9, 2) << 8 |
             risc_bits(half, 8, 1) << 10 | risc_bits(half, 7, 1) << 6 | risc_bits(half, 6, 1) << 7 |
             risc_bits(half, 3, 3) << 1 | risc_bits(half, 2, 1) << 5;
        return risc_direct(2, risc_distance(by, 12, 0));
    case 0xc001: /* c.beqz */
    case 0xe001: /* c.bnez */
        by = risc_bits(half, 12, 1) << 8 | risc_bits(half, 10, 2) << 3 | risc_bits(half, 5, 2) << 6 |
             risc_bits(half, 3, 2) << 1 | risc_bits(half, 2, 1) << 5;
        return risc_direct(2, risc_distance(by, 9, 0));
    default:
        break;
    }
    uint32_t source = risc_bits(half, 7, 5);
    if ((half & 0xf07f) == 0x8002 && source != RISCV_ZERO) /* c.jr */
        return (struct exits_step){2, source == RISCV_RA ? EXITS_RETURN : EXITS_INDIRECT, 0, true};
    return (struct exits_step){2, EXITS_NONE, 0, (half & 0xf07f) == 0x9002 && source != RISCV_ZERO}; /* c.jalr */
}

struct exits_step exits_riscv_step(const unsigned char *at, size_t left)
{
    if (left < 2)
        return (struct exits_step){.bytes = 0};
    uint32_t word = risc_word(at, 2), by;
    if ((word & 3) != 3)
        return riscv_compressed(word);
    if (left < 4 || (word & 0x1c) == 0x1c) /* longer ones */
        return (struct exits_step){.bytes = 0};
    word = risc_word(at, 4);
    uint32_t link = risc_bits(word, 7, 5); /* jal, jalr: a call, if not zero */
    switch (word & 0x7f) {
    case 0x63: /* beq and the others */
        by = risc_bits(word, 31, 1) << 12 | risc_bits(word, 25, 6) << 5 | risc_bits(word, 8, 4) << 1 |
             risc_bits(word, 7, 1) << 11;
        return risc_direct(4, risc_distance(by, 13, 0));
    case 0x6f: /* jal */
        by = risc_bits(word, 31, 1) << 20 | risc_bits(word, 21, 10) << 1 | risc_bits(word, 20, 1) << 11 |
             risc_bits(word, 12, 8) << 12;
        return link != RISCV_ZERO ? (struct exits_step){4, riscv_call(link), 0, true}
                                  : risc_direct(4, risc_distance(by, 21, 0));
    case 0x67: /* jalr */
        return (struct exits_step){4,
                                   link != RISCV_ZERO ? riscv_call(link)
                                   : risc_bits(word, 15, 5) == RISCV_RA && risc_bits(word, 20, 12) == 0
                                       ? EXITS_RETURN
                                       : EXITS_INDIRECT,
                                   0, true};
    default:
        return (struct exits_step){4, EXITS_NONE, 0, (word & 0x7f) == 0x17}; /* auipc */
    }
}

/* -------------------------------------------------------------------------------------------------------- LoongArch */

struct exits_step exits_loongarch_step(const unsigned char *at, size_t left)
{
    if (left < 4)
        return (struct exits_step){.bytes = 0};
    uint32_t word = risc_word(at, 4), low = risc_bits(word, 10, 16);
    switch (risc_bits(word, 26, 6)) {
    case 0x10: /* beqz */
    case 0x11: /* bnez */
    case 0x12: /* bceqz, bcnez */
        return risc_direct(4, risc_distance(risc_bits(word, 0, 5) << 16 | low, 21, 2));
    case 0x13: /* jirl: a return is jirl $zero, $ra, 0 */
        return (struct exits_step){4,
                                   risc_bits(word, 0, 5) != 0 ? EXITS_NONE
                                   : word == 0x4c000020       ? EXITS_RETURN
                                                              : EXITS_INDIRECT,
                                   0, true};
    case 0x14: /* b */
        return risc_direct(4, risc_distance(risc_bits(word, 0, 10) << 16 | low, 26, 2));
    case 0x16: /* beq */
    case 0x17: /* bne */
    case 0x18: /* blt */
    case 0x19: /* bge */
    case 0x1a: /* bltu */
    case 0x1b: /* bgeu */
        return risc_direct(4, risc_distance(low, 16, 2));
    default: /* pcaddi, pcalau12i, pcaddu12i, pcaddu18i, bl */
        return (struct exits_step){4, EXITS_NONE, 0,
                                   (word & 0xf8000000) == 0x18000000 || risc_bits(word, 26, 6) == 0x15};
    }
}
