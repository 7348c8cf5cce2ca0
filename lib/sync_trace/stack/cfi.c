/* SPDX-License-Identifier: MIT */
/* Unwinding of another thread's stack by call frame information, from a copy of its memory. */
#include "sync_trace/stack/cfi.h"

#include <dlfcn.h>
#include <string.h>

#if defined(__x86_64__) && defined(__LP64__) && defined(DLFO_STRUCT_HAS_EH_DBASE)

#pragma weak _dl_find_object

enum { REG_BP = 6, REG_SP = 7, REG_RA = 16 };

enum { ENC_PCREL_S4 = 0x1b, ENC_U4 = 0x03, ENC_DATAREL_S4 = 0x3b, ENC_OMIT = 0xff };

/* A position in a table of a module; `failed` once it ran beyond the end. */
struct cursor {
    const uint8_t *p, *end;
    bool failed;
};

static uint64_t take_fixed(struct cursor *c, size_t bytes)
{
    uint64_t value = 0;
    if (c->failed || bytes > sizeof value || (size_t)(c->end - c->p) < bytes) {
        c->failed = true;
        return 0;
    }
    memcpy(&value, c->p, bytes);
    c->p += bytes;
    return value;
}

static uint64_t take_uleb(struct cursor *c)
{
    enum { MORE = 0x80, BITS = 7, WIDTH = 64 };
    uint64_t value = 0;
    unsigned shift = 0, byte;
    do {
        byte = (unsigned)take_fixed(c, 1);
        if (shift < WIDTH)
            value |= (uint64_t)(byte & ~(unsigned)MORE) << shift;
        shift += BITS;
    } while (byte & MORE);
    return value;
}

static int64_t take_sleb(struct cursor *c)
{
    enum { MORE = 0x80, SIGN = 0x40, BITS = 7, WIDTH = 64 };
    uint64_t value = 0;
    unsigned shift = 0, byte;
    do {
        byte = (unsigned)take_fixed(c, 1);
        if (shift < WIDTH)
            value |= (uint64_t)(byte & ~(unsigned)MORE) << shift;
        shift += BITS;
    } while (byte & MORE);
    if (byte & SIGN && shift < WIDTH)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

/* Size of an encoded pointer; 0: not one of a fixed size. */
static size_t encoded_bytes(unsigned encoding)
{
    static const uint8_t bytes[16] = {[0] = 8, [2] = 2, [3] = 4, [4] = 8, [10] = 2, [11] = 4, [12] = 8};
    return bytes[encoding & 0x0f];
}

/* ------------------------------------------------------------------------------------------------ finding an entry */

/* The entry for `pc` in the sorted table of .eh_frame_hdr; NULL. */
static const uint8_t *cfi_find(const uint8_t *header, uintptr_t pc)
{
    enum { HEAD = 12, ENTRY = 8 };
    struct entry {
        int32_t pc, fde;
    };
    uint32_t n;
    if (header[0] != 1 || header[1] != ENC_PCREL_S4 || header[2] != ENC_U4 || header[3] != ENC_DATAREL_S4)
        return NULL;
    memcpy(&n, header + ENTRY, sizeof n);
    uint32_t low = 0, high = n;
    struct entry e;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        memcpy(&e, header + HEAD + (size_t)middle * ENTRY, sizeof e);
        if ((uintptr_t)header + (uintptr_t)(intptr_t)e.pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    memcpy(&e, header + HEAD + (size_t)(low - 1) * ENTRY, sizeof e);
    return (const uint8_t *)((uintptr_t)header + (uintptr_t)(intptr_t)e.fde);
}

/* A CIE and one of its FDEs. */
struct description {
    struct cursor initial, program;
    uint64_t code_align;
    int64_t data_align;
    uintptr_t start, range;
    unsigned encoding;
    bool augmented;
};

/* `c` is after the length. */
static bool description_read_cie(struct description *d, struct cursor c)
{
    enum { LONGEST = 8 };
    unsigned version = (unsigned)take_fixed(&c, 1);
    char augmentation[LONGEST];
    size_t n = 0;
    do
        augmentation[n] = (char)take_fixed(&c, 1);
    while (!c.failed && augmentation[n] != '\0' && ++n < LONGEST);
    if (c.failed || n == LONGEST || (version != 1 && version != 3))
        return false;
    d->code_align = take_uleb(&c);
    d->data_align = take_sleb(&c);
    uint64_t returns = version == 1 ? take_fixed(&c, 1) : take_uleb(&c);
    d->augmented = augmentation[0] == 'z';
    d->encoding = 0;
    if (returns != REG_RA || (n > 0 && !d->augmented))
        return false;
    uint64_t bytes = d->augmented ? take_uleb(&c) : 0;
    if (c.failed || bytes > (uint64_t)(c.end - c.p))
        return false;
    struct cursor a = {c.p, c.p + bytes, false};
    for (size_t i = 1; i < n; i++) {
        unsigned encoding = augmentation[i] == 'S' || augmentation[i] == 'B' ? 0 : (unsigned)take_fixed(&a, 1);
        if (augmentation[i] == 'S')
            return false; /* a signal frame */
        if (augmentation[i] == 'P')
            (void)take_fixed(&a, encoded_bytes(encoding));
        if (augmentation[i] == 'R')
            d->encoding = encoding;
    }
    d->initial = (struct cursor){c.p + bytes, c.end, false};
    return !a.failed && encoded_bytes(d->encoding) != 0;
}

/* Read a frame description entry (FDE) of .eh_frame, and the CIE that it refers to. */
static bool description_read(struct description *d, const uint8_t *fde)
{
    enum { LENGTH_BYTES = 4, BODY = 8, PCREL = 0x10, SIGNED = 0x08, APPLICATION = 0x70 }; /* of DW_EH_PE_... */
    uint32_t length, back, cie_length;
    memcpy(&length, fde, sizeof length);
    memcpy(&back, fde + LENGTH_BYTES, sizeof back);
    if (length < LENGTH_BYTES || length >= UINT32_MAX - LENGTH_BYTES || back == 0)
        return false;
    const uint8_t *cie = fde + LENGTH_BYTES - back;
    memcpy(&cie_length, cie, sizeof cie_length);
    if (cie_length < LENGTH_BYTES || cie_length >= UINT32_MAX - LENGTH_BYTES)
        return false;
    const struct cursor in_cie = {cie + BODY, cie + LENGTH_BYTES + cie_length, false};
    struct cursor c = {fde + BODY, fde + LENGTH_BYTES + length, false};
    if (!description_read_cie(d, in_cie))
        return false;
    size_t bytes = encoded_bytes(d->encoding);
    uintptr_t here = (uintptr_t)c.p;
    uint64_t start = take_fixed(&c, bytes);
    if (d->encoding & SIGNED && bytes == sizeof(int32_t))
        start = (uint64_t)(int64_t)(int32_t)start;
    if ((d->encoding & APPLICATION) != 0 && (d->encoding & APPLICATION) != PCREL)
        return false;
    d->start = start + (d->encoding & PCREL ? here : 0);
    d->range = take_fixed(&c, bytes);
    if (d->augmented) {
        uint64_t more = take_uleb(&c);
        if (more > (uint64_t)(c.end - c.p))
            return false;
        c.p += more;
    }
    d->program = c;
    return !c.failed;
}

/* --------------------------------------------------------------------------------------------------- its program */

enum rule { RULE_SAME, RULE_AT, RULE_NONE /**< there is no caller, or it is not known */ };

struct rules {
    uint64_t cfa_reg;
    int64_t cfa_offset;
    bool cfa_known;
    enum rule ra, bp;
    int64_t ra_at, bp_at; /**< from the canonical frame address */
};

static void rule_set(struct rules *r, uint64_t reg, enum rule rule, int64_t at)
{
    if (reg == REG_RA) {
        r->ra = rule;
        r->ra_at = at;
    } else if (reg == REG_BP) {
        r->bp = rule;
        r->bp_at = at;
    }
}

static void rule_restore(struct rules *r, const struct rules *initial, uint64_t reg)
{
    if (reg == REG_RA)
        rule_set(r, reg, initial->ra, initial->ra_at);
    if (reg == REG_BP)
        rule_set(r, reg, initial->bp, initial->bp_at);
}

static void skip_block(struct cursor *c)
{
    uint64_t bytes = take_uleb(c);
    if (c->failed || bytes > (uint64_t)(c->end - c->p))
        c->failed = true;
    else
        c->p += bytes;
}

enum {
    CFA_ADVANCE = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_HIGH = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE1 = 0x02,
    CFA_ADVANCE2 = 0x03,
    CFA_ADVANCE4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF = 0x0c,
    CFA_DEF_REGISTER = 0x0d,
    CFA_DEF_OFFSET = 0x0e,
    CFA_DEF_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_SF = 0x11,
    CFA_DEF_SF = 0x12,
    CFA_DEF_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_ARGS_SIZE = 0x2e,
};

enum { REMEMBERED = 8 };

/* An instruction that changes the rules. @return false: an unknown one. */
static bool rules_change(struct rules *r, const struct rules *initial, const struct description *d, unsigned op,
                         struct cursor *c)
{
    uint64_t reg;
    switch (op) {
    case CFA_NOP:
        return true;
    case CFA_OFFSET_EXTENDED:
        reg = take_uleb(c);
        rule_set(r, reg, RULE_AT, (int64_t)take_uleb(c) * d->data_align);
        return true;
    case CFA_OFFSET_SF:
        reg = take_uleb(c);
        rule_set(r, reg, RULE_AT, take_sleb(c) * d->data_align);
        return true;
    case CFA_RESTORE_EXTENDED:
        rule_restore(r, initial, take_uleb(c));
        return true;
    case CFA_UNDEFINED:
        rule_set(r, take_uleb(c), RULE_NONE, 0);
        return true;
    case CFA_SAME_VALUE:
        rule_set(r, take_uleb(c), RULE_SAME, 0);
        return true;
    case CFA_REGISTER:
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
        rule_set(r, take_uleb(c), RULE_NONE, 0);
        (void)take_uleb(c);
        return true;
    case CFA_EXPRESSION:
    case CFA_VAL_EXPRESSION:
        rule_set(r, take_uleb(c), RULE_NONE, 0);
        skip_block(c);
        return true;
    case CFA_DEF:
        r->cfa_reg = take_uleb(c);
        r->cfa_offset = (int64_t)take_uleb(c);
        r->cfa_known = true;
        return true;
    case CFA_DEF_SF:
        r->cfa_reg = take_uleb(c);
        r->cfa_offset = take_sleb(c) * d->data_align;
        r->cfa_known = true;
        return true;
    case CFA_DEF_REGISTER:
        r->cfa_reg = take_uleb(c);
        return true;
    case CFA_DEF_OFFSET:
        r->cfa_offset = (int64_t)take_uleb(c);
        return true;
    case CFA_DEF_OFFSET_SF:
        r->cfa_offset = take_sleb(c) * d->data_align;
        return true;
    case CFA_DEF_EXPRESSION:
        r->cfa_known = false;
        skip_block(c);
        return true;
    case CFA_ARGS_SIZE:
        (void)take_uleb(c);
        return true;
    default:
        return false;
    }
}

/* Run a program up to the row of `pc`. @return false: it is malformed, or has an unknown instruction. */
static bool rules_run(struct rules *r, const struct rules *initial, const struct description *d, struct cursor c,
                      uintptr_t pc)
{
    enum { LOW = 0x3f };
    struct rules remembered[REMEMBERED];
    unsigned n_remembered = 0;
    uintptr_t at = d->start;
    while (!c.failed && c.p < c.end) {
        unsigned op = (unsigned)take_fixed(&c, 1), low = op & LOW;
        bool advances = (op & CFA_HIGH) == CFA_ADVANCE || (op >= CFA_ADVANCE1 && op <= CFA_ADVANCE4);
        if (advances) {
            uint64_t by = (op & CFA_HIGH) == CFA_ADVANCE ? low : take_fixed(&c, (size_t)1 << (op - CFA_ADVANCE1));
            at += by * d->code_align;
            if (at > pc)
                return !c.failed;
        } else if ((op & CFA_HIGH) == CFA_OFFSET) {
            rule_set(r, low, RULE_AT, (int64_t)take_uleb(&c) * d->data_align);
        } else if ((op & CFA_HIGH) == CFA_RESTORE) {
            rule_restore(r, initial, low);
        } else if (op == CFA_REMEMBER && n_remembered < REMEMBERED) {
            remembered[n_remembered++] = *r;
        } else if (op == CFA_RESTORE_STATE && n_remembered > 0) {
            *r = remembered[--n_remembered];
        } else if (!rules_change(r, initial, d, op, &c)) {
            return false;
        }
    }
    return !c.failed;
}

/* --------------------------------------------------------------------------------------------------------- a walk */

static bool memory_word(const struct cfi_memory *parts, size_t n, uintptr_t at, uintptr_t *out)
{
    for (size_t i = 0; i < n; i++) {
        if (at < parts[i].at || at - parts[i].at > parts[i].bytes || parts[i].bytes - (at - parts[i].at) < sizeof *out)
            continue;
        memcpy(out, (const char *)parts[i].copy + (at - parts[i].at), sizeof *out);
        return true;
    }
    return false;
}

/* Whether the instruction before a return address is a call: direct, or through a register or memory. */
static bool follows_call(uintptr_t pc, uintptr_t start)
{
    enum { DIRECT = 5, SHORTEST = 2, LONGEST = 7, CALL = 0xe8, GROUP = 0xff, KIND = 0x38, INDIRECT = 0x10 };
    const uint8_t *p = (const uint8_t *)pc;
    if (pc - start >= DIRECT && p[-DIRECT] == CALL)
        return true;
    for (int n = SHORTEST; n <= LONGEST && pc - start >= (uintptr_t)n; n++)
        if (p[-n] == GROUP && (p[1 - n] & KIND) == INDIRECT)
            return true;
    return false;
}

/* The entry of the function that has `pc`. @return false: there is none. */
static bool description_find(struct description *d, uintptr_t pc)
{
    struct dl_find_object module;
    if (_dl_find_object((void *)pc, &module) != 0 || !module.dlfo_eh_frame)
        return false;
    const uint8_t *fde = cfi_find(module.dlfo_eh_frame, pc);
    return fde && description_read(d, fde) && pc >= d->start && pc - d->start < d->range;
}

/* The caller's frame. @return 1; 0: there is none; -1: unknown. */
static int cfi_step(struct cfi_frame *f, const struct cfi_memory *parts, size_t n_parts)
{
    struct description d, caller;
    struct rules initial = {.ra = RULE_NONE}, r;
    uintptr_t cfa, ra;
    if (!description_find(&d, f->pc - 1) || !rules_run(&initial, &initial, &d, d.initial, UINTPTR_MAX))
        return -1;
    r = initial;
    if (!rules_run(&r, &initial, &d, d.program, f->pc - 1) || !r.cfa_known ||
        (r.cfa_reg != REG_SP && r.cfa_reg != REG_BP))
        return -1;
    if (r.ra == RULE_NONE)
        return 0;
    cfa = (r.cfa_reg == REG_SP ? f->sp : f->bp) + (uintptr_t)r.cfa_offset;
    if (r.ra != RULE_AT || cfa <= f->sp || !memory_word(parts, n_parts, cfa + (uintptr_t)r.ra_at, &ra))
        return -1;
    if (r.bp == RULE_AT && !memory_word(parts, n_parts, cfa + (uintptr_t)r.bp_at, &f->bp))
        return -1;
    if (r.bp == RULE_NONE)
        f->bp = 0;
    if (ra == 0)
        return 0;
    /* Code is read only where a function is: a module may have gaps. */
    if (!description_find(&caller, ra - 1) || !follows_call(ra, caller.start))
        return -1;
    f->pc = ra;
    f->sp = cfa;
    return 1;
}

uint32_t cfi_walk(struct cfi_frame f, const struct cfi_memory *parts, size_t n_parts, void **frames, uint32_t max,
                  bool *whole)
{
    uint32_t n = 0;
    int more = _dl_find_object ? 1 : -1;
    frames[n++] = (void *)f.pc;
    while (more > 0 && n < max) {
        more = cfi_step(&f, parts, n_parts);
        if (more > 0)
            frames[n++] = (void *)f.pc;
    }
    *whole = more == 0;
    return n;
}

#else

uint32_t cfi_walk(struct cfi_frame f, const struct cfi_memory *parts, size_t n_parts, void **frames, uint32_t max,
                  bool *whole)
{
    (void)parts;
    (void)n_parts;
    (void)max;
    frames[0] = (void *)f.pc;
    *whole = false;
    return 1;
}
#endif
