/* SPDX-License-Identifier: MIT */
/*
 * Prologue scanner for MIPS n64, Alpha and sw_64 code.
 *
 * sw_64 has Alpha's instruction formats, registers and calling convention with opcodes of its own (those of disas/sw64.c in
 * openEuler's QEMU).
 */
#include "sync_trace/stack/scan.h"

enum {
    WORD = 4,
    WORDS_MAX = 1 << 14, /* scanned per function */
    FRAME_MAX = 1 << 20, /* bytes */
    CONSTANT_WORDS = 16, /* before an allocation whose size is in a register */
};

/* What an instruction does, as far as it matters. */
enum scan_action {
    SCAN_OTHER,
    SCAN_ALLOCATE,   /* stack pointer -= value */
    SCAN_SUBTRACT,   /* stack pointer -= register */
    SCAN_ADD,        /* stack pointer += register */
    SCAN_CHANGE,     /* stack pointer = anything else, but not what it was on entry */
    SCAN_SAVE_CALL,  /* the return address is stored at stack pointer + value */
    SCAN_SAVE_FRAME, /* likewise the frame pointer */
    SCAN_SET_FRAME,  /* frame pointer = stack pointer */
    SCAN_LOAD,       /* register = value */
    SCAN_LOAD_MORE,  /* register += value: the lower half of a constant */
};

struct scan_instruction {
    enum scan_action action;
    uint32_t reg;
    int64_t value;
};

static uint32_t scan_bits(uint32_t word, unsigned at, unsigned n)
{
    return word >> at & ((UINT32_C(1) << n) - 1);
}

static int64_t scan_signed_half(uint32_t word)
{
    int64_t half = word & UINT16_MAX;
    return half > INT16_MAX ? half - (UINT16_MAX + 1) : half;
}

/* -------------------------------------------------------------------------------------------------------- MIPS */

enum { MIPS_SP = 29, MIPS_FP = 30, MIPS_RA = 31 };

static struct scan_instruction mips_special(uint32_t word)
{
    enum { ADDU = 0x21, OR = 0x25, DADDU = 0x2d, DSUBU = 0x2f };
    uint32_t rs = scan_bits(word, 21, 5), rt = scan_bits(word, 16, 5), rd = scan_bits(word, 11, 5);
    uint32_t function = scan_bits(word, 0, 11); /* with the shift amount, which is 0 */
    bool adds = function == DADDU || function == ADDU;
    if (rs == MIPS_SP && rd == MIPS_FP && rt == 0 && (adds || function == OR))
        return (struct scan_instruction){.action = SCAN_SET_FRAME};
    if (rs == MIPS_SP && rd == MIPS_SP && rt != 0 && (adds || function == DSUBU))
        return (struct scan_instruction){.action = adds ? SCAN_ADD : SCAN_SUBTRACT, .reg = rt};
    return (struct scan_instruction){0};
}

static struct scan_instruction mips_decode(uint32_t word)
{
    enum { SPECIAL = 0x00, ADDIU = 0x09, ORI = 0x0d, LUI = 0x0f, DADDIU = 0x19, SD = 0x3f };
    uint32_t rs = scan_bits(word, 21, 5), rt = scan_bits(word, 16, 5);
    int64_t value = scan_signed_half(word);
    switch (scan_bits(word, 26, 6)) {
    case SPECIAL:
        return mips_special(word);
    case ADDIU:
    case DADDIU:
        if (rs == MIPS_SP && rt == MIPS_SP && value < 0)
            return (struct scan_instruction){.action = SCAN_ALLOCATE, .value = -value};
        return (struct scan_instruction){.action = rs == 0    ? SCAN_LOAD
                                                   : rs == rt ? SCAN_LOAD_MORE
                                                              : SCAN_OTHER,
                                         .reg = rt,
                                         .value = value};
    case ORI:
        return (struct scan_instruction){.action = rs == 0    ? SCAN_LOAD
                                                   : rs == rt ? SCAN_LOAD_MORE
                                                              : SCAN_OTHER,
                                         .reg = rt,
                                         .value = word & UINT16_MAX};
    case LUI:
        return (struct scan_instruction){.action = SCAN_LOAD, .reg = rt, .value = value * (UINT16_MAX + 1)};
    case SD:
        if (rs == MIPS_SP && (rt == MIPS_RA || rt == MIPS_FP))
            return (struct scan_instruction){.action = rt == MIPS_RA ? SCAN_SAVE_CALL : SCAN_SAVE_FRAME,
                                             .value = value};
        return (struct scan_instruction){0};
    default:
        return (struct scan_instruction){0};
    }
}

/* jal, jalr and the branches that link. */
static bool mips_is_call(uint32_t word)
{
    enum { REGIMM = 0x01, JAL = 0x03, JALR = 0x09, LINKS = 0x10, LINKS_MASK = 0x1c };
    switch (scan_bits(word, 26, 6)) {
    case 0:
        return scan_bits(word, 0, 6) == JALR && scan_bits(word, 11, 5) == MIPS_RA;
    case REGIMM:
        return (scan_bits(word, 16, 5) & LINKS_MASK) == LINKS;
    default:
        return scan_bits(word, 26, 6) == JAL;
    }
}

/* ---------------------------------------------------------------------------------------------- Alpha and sw_64 */

enum { ALPHA_FP = 15, ALPHA_RA = 26, ALPHA_SP = 30, ALPHA_ZERO = 31 };

/* Opcodes; the operations are an opcode with a function. */
static const struct alpha_opcodes {
    uint32_t load_address, load_address_high, store, or_op, or_function, subtract_op, subtract_function;
    uint32_t subtract_literal_op; /* with the same function */
    uint32_t literal_bit;         /* 0: there is none */
} alpha_opcodes = {0x08, 0x09, 0x2d, 0x11, 0x20, 0x10, 0x29, 0x10, 1 << 12},
  sw64_opcodes = {0x3e, 0x3f, 0x2b, 0x10, 0x3a, 0x10, 0x09, 0x12, 0};

static struct scan_instruction alpha_operation(const struct alpha_opcodes *o, uint32_t word)
{
    uint32_t ra = scan_bits(word, 21, 5), rb = scan_bits(word, 16, 5), rc = scan_bits(word, 0, 5);
    uint32_t op = scan_bits(word, 26, 6), function = scan_bits(word, 5, o->literal_bit ? 7 : 8);
    bool is_literal = o->literal_bit ? (word & o->literal_bit) != 0 : op == o->subtract_literal_op;
    bool both = (ra == ALPHA_SP && (rb == ALPHA_SP || rb == ALPHA_ZERO)) || (ra == ALPHA_ZERO && rb == ALPHA_SP);
    if (op == o->or_op && function == o->or_function && !is_literal && both && rc == ALPHA_FP)
        return (struct scan_instruction){.action = SCAN_SET_FRAME};
    if (op == o->or_op && function == o->or_function && !is_literal && rc == ALPHA_SP)
        return (struct scan_instruction){.action = ra == ALPHA_FP || rb == ALPHA_FP ? SCAN_OTHER : SCAN_CHANGE};
    if (function != o->subtract_function || ra != ALPHA_SP || rc != ALPHA_SP)
        return (struct scan_instruction){0};
    if (is_literal && op == o->subtract_literal_op)
        return (struct scan_instruction){.action = SCAN_ALLOCATE, .value = scan_bits(word, 13, 8)};
    if (!is_literal && op == o->subtract_op)
        return (struct scan_instruction){.action = SCAN_SUBTRACT, .reg = rb};
    return (struct scan_instruction){0};
}

static struct scan_instruction alpha_decode(const struct alpha_opcodes *o, uint32_t word)
{
    uint32_t op = scan_bits(word, 26, 6), ra = scan_bits(word, 21, 5), rb = scan_bits(word, 16, 5);
    int64_t value = scan_signed_half(word);
    if (op == o->load_address || op == o->load_address_high) {
        value *= op == o->load_address_high ? UINT16_MAX + 1 : 1;
        if (ra == ALPHA_SP && rb == ALPHA_SP && value < 0)
            return (struct scan_instruction){.action = SCAN_ALLOCATE, .value = -value};
        if (ra == ALPHA_SP && rb != ALPHA_SP && value < 0)
            return (struct scan_instruction){.action = SCAN_CHANGE};
        if (ra == ALPHA_FP && rb == ALPHA_SP && value == 0)
            return (struct scan_instruction){.action = SCAN_SET_FRAME};
        return (struct scan_instruction){.action = rb == ALPHA_ZERO ? SCAN_LOAD
                                                   : ra == rb       ? SCAN_LOAD_MORE
                                                                    : SCAN_OTHER,
                                         .reg = ra,
                                         .value = value};
    }
    if (op == o->store && rb == ALPHA_SP && (ra == ALPHA_RA || ra == ALPHA_FP))
        return (struct scan_instruction){.action = ra == ALPHA_RA ? SCAN_SAVE_CALL : SCAN_SAVE_FRAME, .value = value};
    return alpha_operation(o, word);
}

static bool alpha_is_call(uint32_t word)
{
    enum { JUMP = 0x1a, JSR = 1, BSR = 0x34 };
    uint32_t op = scan_bits(word, 26, 6);
    bool calls = op == BSR || (op == JUMP && (scan_bits(word, 14, 2) & JSR));
    return calls && scan_bits(word, 21, 5) == ALPHA_RA;
}

static bool sw64_is_call(uint32_t word)
{
    enum { CALL = 0x01, BSR = 0x05 };
    uint32_t op = scan_bits(word, 26, 6);
    return (op == CALL || op == BSR) && scan_bits(word, 21, 5) == ALPHA_RA;
}

/* -------------------------------------------------------------------------------------------------------- steps */

static struct scan_instruction scan_decode(enum scan_isa isa, uint32_t word)
{
    return isa == SCAN_MIPS64 ? mips_decode(word)
                              : alpha_decode(isa == SCAN_ALPHA ? &alpha_opcodes : &sw64_opcodes, word);
}

static bool scan_word(const struct scan_memory *m, uint64_t at, uint32_t *word)
{
    return m->read(m->arg, at, word, sizeof *word);
}

/* Whether the instruction before a return address, on MIPS before its delay slot, is a call. */
static bool scan_follows_call(enum scan_isa isa, const struct scan_memory *m, uint64_t address)
{
    uint64_t back = isa == SCAN_MIPS64 ? 2 * WORD : WORD;
    uint32_t word;
    if (address % WORD != 0 || address <= back || !scan_word(m, address - back, &word))
        return false;
    return isa == SCAN_MIPS64 ? mips_is_call(word) : isa == SCAN_ALPHA ? alpha_is_call(word) : sw64_is_call(word);
}

/* A function's frame. Offsets are from the stack pointer after all allocations of a known size. */
struct prologue {
    int64_t size;        /* allocated so far */
    int64_t call, frame; /* where the return address and the caller's frame pointer are stored */
    int64_t pointer;     /* the frame pointer */
    bool has_call, has_frame, has_pointer;
    bool grows; /* by an unknown size: only the frame pointer is certain */
};

/* The constant in a register before `at`. */
static bool scan_constant(enum scan_isa isa, const struct scan_memory *m, uint64_t at, uint32_t reg, int64_t *value)
{
    uint32_t word;
    *value = 0;
    for (int i = 0; i < CONSTANT_WORDS; i++) {
        at -= WORD;
        if (!scan_word(m, at, &word))
            return false;
        struct scan_instruction x = scan_decode(isa, word);
        if ((x.action != SCAN_LOAD && x.action != SCAN_LOAD_MORE) || x.reg != reg)
            continue;
        *value += x.value;
        if (x.action == SCAN_LOAD)
            return true;
    }
    return false;
}

/* An allocation of unknown size. @return false: it comes before the frame pointer is set, so no frame can be found. */
static bool prologue_grow(struct prologue *p)
{
    p->grows = true;
    return !p->has_pointer;
}

/* An allocation whose size is in a register. An unknown one to add is the end of a function. */
static bool prologue_allocate(enum scan_isa isa, const struct scan_memory *m, uint64_t at,
                              const struct scan_instruction *x, struct prologue *p)
{
    int64_t size;
    if (!scan_constant(isa, m, at, x->reg, &size))
        return x->action == SCAN_ADD || prologue_grow(p);
    size = x->action == SCAN_ADD ? -size : size;
    if (size > 0)
        p->size += size;
    return p->size < FRAME_MAX;
}

/* Adds an instruction to what is known. @return false: the frame cannot be found. */
static bool prologue_add(enum scan_isa isa, const struct scan_memory *m, uint64_t at, const struct scan_instruction *x,
                         struct prologue *p)
{
    switch (x->action) {
    case SCAN_ALLOCATE:
        p->size += x->value;
        return p->size < FRAME_MAX;
    case SCAN_SUBTRACT:
    case SCAN_ADD:
        return prologue_allocate(isa, m, at, x, p);
    case SCAN_CHANGE:
        return prologue_grow(p);
    case SCAN_SAVE_CALL:
        p->call = x->value + p->size;
        p->has_call = true;
        return true;
    case SCAN_SAVE_FRAME:
        p->frame = x->value + p->size;
        p->has_frame = true;
        return true;
    case SCAN_SET_FRAME:
        p->pointer = p->size;
        p->has_pointer = true;
        return true;
    default:
        return true;
    }
}

/* Reads a function backwards from `at` to the allocation before the return address is stored. @return whether both are
 * found. */
static bool prologue_scan(enum scan_isa isa, const struct scan_memory *m, uint64_t at, struct prologue *p)
{
    uint32_t word;
    for (int i = 0; i < WORDS_MAX && at > WORD; i++) {
        at -= WORD;
        if (!scan_word(m, at, &word))
            return false;
        struct scan_instruction x = scan_decode(isa, word);
        if (!prologue_add(isa, m, at, &x, p))
            return false;
        if (x.action == SCAN_ALLOCATE && p->has_call)
            return true;
    }
    return false;
}

bool scan_step(enum scan_isa isa, const struct scan_memory *memory, struct scan_frame *frame)
{
    struct prologue p = {0};
    uint64_t address, pointer = frame->pointer;
    if (frame->address % WORD != 0 || !prologue_scan(isa, memory, frame->address - WORD, &p) ||
        (p.grows && !p.has_pointer))
        return false;
    uint64_t base = p.has_pointer ? frame->pointer - (uint64_t)p.pointer : frame->stack;
    uint64_t stack = base + (uint64_t)p.size;
    bool inside = p.call >= 0 && p.call + 8 <= p.size && (!p.has_frame || (p.frame >= 0 && p.frame + 8 <= p.size));
    if (!inside || base % 8 != 0 || base < frame->stack || stack <= frame->stack ||
        !memory->read(memory->arg, base + (uint64_t)p.call, &address, sizeof address) ||
        (p.has_frame && !memory->read(memory->arg, base + (uint64_t)p.frame, &pointer, sizeof pointer)) ||
        !scan_follows_call(isa, memory, address))
        return false;
    *frame = (struct scan_frame){.address = address, .stack = stack, .pointer = pointer};
    return true;
}
