/* SPDX-License-Identifier: MIT */
/* Unwinding by call frame information. */
#include "sync_trace/stack/cfi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/process/loaded_module.h"

/** Of the loader: the stack of the first thread begins there. */
extern void *__libc_stack_end __attribute__((weak)); // NOLINT(clang-diagnostic-reserved-identifier)

/* Beside the stack that the thread began with there may be a coroutine's, whose first frame has no caller: what is read there may be beyond its
 * end. A thread's descriptor is above its frames, in the same memory; from the first thread's stack the kernel keeps other memory away. */
uintptr_t cfi_own_top(uintptr_t at, uintptr_t low)
{
    const uintptr_t first_bytes = (uintptr_t)1 << 27;
    uintptr_t self = (uintptr_t)pthread_self(), first = &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;
    if (low != 0 && at >= low && at < self)
        return self;
    return first - at < first_bytes ? first : 0;
}

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

/* ---------------------------------------------------------------------------------------------------- its parts */

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

enum found { FOUND, FOUND_NONE, FOUND_UNREADABLE };

/* The entry of the function that has `pc`. */
static enum found description_find(struct description *d, const struct dl_find_object *module, uintptr_t pc)
{
    const uint8_t *fde = module->dlfo_eh_frame ? cfi_find(module->dlfo_eh_frame, pc) : NULL;
    if (fde && !description_read(d, fde))
        return FOUND_UNREADABLE;
    return fde && pc >= d->start && pc - d->start < d->range ? FOUND : FOUND_NONE;
}

/* The segment of code that has `pc`; 0: there is none. Code is read only there: a module may have gaps. */
static uintptr_t code_start(const struct dl_find_object *module, uintptr_t pc)
{
    struct dl_phdr_info info;
    if (!loaded_module_from_object(module, &info))
        return 0;
    for (int i = 0; i < info.dlpi_phnum; i++) {
        uintptr_t start = info.dlpi_addr + info.dlpi_phdr[i].p_vaddr;
        if (info.dlpi_phdr[i].p_type == PT_LOAD && (info.dlpi_phdr[i].p_flags & PF_X) && pc >= start &&
            pc - start < info.dlpi_phdr[i].p_memsz)
            return start;
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- rows */

enum row_kind {
    ROW_UNKNOWN,     /* there are no tables, or it is not the address after a call */
    ROW_UNSUPPORTED, /* the tables have something else for it */
    ROW_OUTERMOST,   /* there is no caller */
    ROW_STEP,        /* the canonical frame address is by the stack pointer, */
    ROW_STEP_BY_BP,  /* or by the frame pointer */
    ROW_GUESS, /* there are no tables, as in the whole of a program that was linked without: by the frame pointer, if it is near */
    ROW_GENERATED, /* it is in no module, as the code of a JIT compiler: the same guess, without a test for a call */
};

/* What the tables have for a return address. The caller's return address is below the canonical frame address. */
struct row {
    int32_t cfa_offset; /* from the stack pointer, or the frame pointer */
    int16_t bp_at;      /* from the canonical frame address */
    uint8_t kind;       /* enum row_kind */
    uint8_t bp;         /* enum rule */
};

_Static_assert(sizeof(struct row) == sizeof(uint64_t), "kept in one word");

/* Of the rules: ROW_STEP if they fit in a row. */
static struct row row_of_rules(const struct rules *r)
{
    enum { WORD_BYTES = sizeof(uintptr_t) };
    struct row row = {.kind = ROW_UNSUPPORTED};
    if (!r->cfa_known || (r->cfa_reg != REG_SP && r->cfa_reg != REG_BP))
        return row;
    if (r->ra == RULE_NONE)
        return (struct row){.kind = ROW_OUTERMOST};
    row.cfa_offset = (int32_t)r->cfa_offset;
    row.bp_at = (int16_t)r->bp_at;
    row.bp = (uint8_t)r->bp;
    bool fits = r->ra == RULE_AT && r->ra_at == -WORD_BYTES && row.cfa_offset == r->cfa_offset && row.bp_at == r->bp_at;
    if (fits)
        row.kind = r->cfa_reg == REG_BP ? ROW_STEP_BY_BP : ROW_STEP;
    return row;
}

/* By the frame pointer. libunwind makes the same guess, and tests memory by system calls. */
static struct row row_guess(enum row_kind kind)
{
    enum { WORD_BYTES = sizeof(uintptr_t) };
    return (struct row){.kind = (uint8_t)kind, .cfa_offset = 2 * WORD_BYTES, .bp = RULE_AT, .bp_at = -2 * WORD_BYTES};
}

/* Of the function of a call before `pc`, which has no tables. */
static struct row row_without_tables(const struct dl_find_object *module, uintptr_t pc)
{
    uintptr_t start = code_start(module, pc - 1);
    return start != 0 && follows_call(pc, start) ? row_guess(ROW_GUESS) : (struct row){.kind = ROW_UNKNOWN};
}

/* Of code before `pc`; `is_return`: that must be a call. */
static struct row row_read(uintptr_t pc, bool is_return)
{
    const struct row unknown = {.kind = ROW_UNKNOWN}, unsupported = {.kind = ROW_UNSUPPORTED};
    struct dl_find_object module;
    struct description d;
    struct rules initial = {.ra = RULE_NONE}, r;
    if (_dl_find_object((void *)(pc - 1), &module) != 0)
        return row_guess(ROW_GENERATED);
    enum found found = description_find(&d, &module, pc - 1);
    if (found != FOUND)
        return found == FOUND_NONE && is_return ? row_without_tables(&module, pc) : unknown;
    if (is_return && !follows_call(pc, d.start))
        return unknown;
    if (!rules_run(&initial, &initial, &d, d.initial, UINTPTR_MAX))
        return unsupported;
    r = initial;
    return rules_run(&r, &initial, &d, d.program, pc - 1) ? row_of_rules(&r) : unsupported;
}

/* The rows of the process, in sets of two, the newer one first. Threads and signal handlers read and write a slot at any time without
 * a lock: `check` has the key and the row, so that the halves of two writes are not taken for a row. A forked child has its
 * parent's modules, and so its rows. */
enum { ROW_SET_BITS = 11, ROW_WAYS = 2 };
static struct row_slot {
    uint64_t check, row; /* atomic */
} row_slots[1 << ROW_SET_BITS][ROW_WAYS];

static uint32_t row_generation; /* atomic; of the keys */

static const uint64_t row_mix = 0x9e3779b97f4a7c15u;

void cfi_forget(void)
{
    __atomic_fetch_add(&row_generation, 1, __ATOMIC_RELAXED);
}

static inline bool row_slot_read(const struct row_slot *s, uint64_t key, struct row *row)
{
    uint64_t check = __atomic_load_n(&s->check, __ATOMIC_RELAXED), word = __atomic_load_n(&s->row, __ATOMIC_RELAXED);
    memcpy(row, &word, sizeof word);
    return (check ^ word * row_mix) == key;
}

static void row_slot_write(struct row_slot *s, uint64_t key, const struct row *row)
{
    uint64_t word;
    memcpy(&word, row, sizeof word);
    __atomic_store_n(&s->check, key ^ word * row_mix, __ATOMIC_RELAXED);
    __atomic_store_n(&s->row, word, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) struct row row_learn(struct row_slot *set, uintptr_t pc, uint64_t key)
{
    struct row row = row_read(pc, true);
    if (row.kind == ROW_UNKNOWN || row.kind == ROW_GENERATED) /* a module may be loaded there */
        return row;
    uint64_t check = __atomic_load_n(&set[0].check, __ATOMIC_RELAXED);
    uint64_t word = __atomic_load_n(&set[0].row, __ATOMIC_RELAXED);
    __atomic_store_n(&set[1].check, check, __ATOMIC_RELAXED);
    __atomic_store_n(&set[1].row, word, __ATOMIC_RELAXED);
    row_slot_write(&set[0], key, &row);
    return row;
}

/* Of a return address. */
static inline struct row row_find(uintptr_t pc)
{
    uint64_t key = pc + __atomic_load_n(&row_generation, __ATOMIC_RELAXED) * row_mix;
    struct row_slot *set = row_slots[key * row_mix >> (64 - ROW_SET_BITS)];
    struct row row;
    if (row_slot_read(&set[0], key, &row) || row_slot_read(&set[1], key, &row))
        return row;
    return row_learn(set, pc, key);
}

/* ----------------------------------------------------------------------------------------------------------- walks */

/* The canonical frame address of `f`, and where the caller's frame pointer is. @return false: `f` has another row. */
static inline bool row_place(const struct row *row, const struct cfi_frame *f, uintptr_t *cfa, uintptr_t *bp_at)
{
    enum { GUESS_BYTES = 0x4000 }; /* a frame pointer farther away is used for something else */
    *cfa = (row->kind != ROW_STEP ? f->bp : f->sp) + (uintptr_t)(intptr_t)row->cfa_offset;
    *bp_at = *cfa + (uintptr_t)(intptr_t)row->bp_at;
    if (*cfa <= f->sp || *cfa % sizeof *cfa != 0 || (row->kind >= ROW_GUESS && *cfa - f->sp > GUESS_BYTES))
        return false;
    return row->bp != RULE_AT || (*bp_at >= f->sp && *bp_at < *cfa && *bp_at % sizeof *bp_at == 0);
}

/* To the caller's frame. @return 1; 0: there is none; -1: unknown. `row`: of `f`, then of the caller's. */
static int cfi_step(struct cfi_frame *f, struct row *row, const struct cfi_memory *parts, size_t n_parts)
{
    uintptr_t cfa, bp_at, ra;
    if (row->kind < ROW_STEP || !row_place(row, f, &cfa, &bp_at))
        return row->kind == ROW_OUTERMOST ? 0 : -1;
    if (!memory_word(parts, n_parts, cfa - sizeof ra, &ra) ||
        (row->bp == RULE_AT && !memory_word(parts, n_parts, bp_at, &f->bp)))
        return -1;
    if (row->bp == RULE_NONE)
        f->bp = 0;
    if (ra == 0)
        return 0;
    *row = row_find(ra);
    f->pc = ra;
    f->sp = cfa;
    return row->kind == ROW_UNKNOWN ? -1 : 1;
}

/* Return addresses that a walk stores. `certain`: how many of them are, while the last ones are in generated code, each found by the guess
 * in the one before; 0: all. */
struct found_frames {
    void **at;
    uint32_t n, certain;
};

static inline void found_add(struct found_frames *found, uintptr_t pc, enum row_kind kind)
{
    found->at[found->n++] = (void *)pc;
    if (kind != ROW_GENERATED)
        found->certain = 0;
    else if (found->certain == 0)
        found->certain = found->n;
}

/* Their number where a walk cannot be continued: guesses count once they have led back into a module, to an address after a call. */
static inline uint32_t found_until(const struct found_frames *found)
{
    return found->certain ? found->certain : found->n;
}

uint32_t cfi_walk(struct cfi_frame f, const struct cfi_memory *parts, size_t n_parts, void **frames, uint32_t max,
                  bool *whole)
{
    struct found_frames found = {.at = frames};
    int more = _dl_find_object ? 1 : -1;
    struct row row = {.kind = ROW_UNKNOWN};
    if (more > 0)
        row = row_find(f.pc);
    if (more > 0 && row.kind == ROW_UNKNOWN) /* where a signal came: it is hardly ever the same address, and not kept */
        row = row_read(f.pc, false);
    found_add(&found, f.pc, row.kind);
    while (more > 0 && found.n < max) {
        more = cfi_step(&f, &row, parts, n_parts);
        if (more > 0)
            found_add(&found, f.pc, row.kind);
    }
    *whole = more == 0 && found.certain == 0;
    return more > 0 ? found.n : found_until(&found);
}

/* A word of another function's frame, which a sanitizer would report. */
__attribute__((no_sanitize("address", "thread"))) static inline uintptr_t own_word(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

static inline void own_depends(const struct cfi_own_walk *w, uintptr_t address)
{
    if (w->depends)
        w->depends(w->arg, address);
}

/* As cfi_step(), in memory below `top`. `*bp_from`: address of the word from which `f->bp` is, of which the result depends once it
 * is used; 0: none. */
static inline int own_step(const struct cfi_own_walk *w, struct cfi_frame *f, struct row row, uintptr_t *bp_from,
                           uintptr_t top)
{
    uintptr_t cfa, bp_at;
    if (row.kind != ROW_STEP && *bp_from != 0) {
        own_depends(w, *bp_from);
        *bp_from = 0;
    }
    if (!row_place(&row, f, &cfa, &bp_at) || cfa > top)
        return -1;
    own_depends(w, cfa - sizeof f->pc);
    f->pc = own_word(cfa - sizeof f->pc);
    if (row.bp == RULE_AT) {
        f->bp = own_word(bp_at);
        *bp_from = bp_at;
    } else if (row.bp == RULE_NONE) {
        f->bp = *bp_from = 0;
    }
    f->sp = cfa;
    return f->pc != 0;
}

uint32_t cfi_walk_own(const struct cfi_own_walk *w, void **frames, uint32_t max, enum cfi_end *end)
{
    enum { OWN_MAX = 16 };
    const uintptr_t returns = w->frame + sizeof(uintptr_t);
    uintptr_t bp_from = w->frame, top = cfi_own_top(w->frame, w->low);
    struct found_frames found = {.at = frames};
    uint32_t own = 0;
    int more = 1;
    bool at_site = false, guessed = false;
    *end = CFI_CUT;
    if (!_dl_find_object || top == 0)
        return 0;
    struct cfi_frame f = {own_word(returns), returns + sizeof(uintptr_t), own_word(w->frame)};
    own_depends(w, returns);
    while (more > 0) {
        at_site = at_site || f.pc == w->site;
        if ((at_site && found.n == max) || (!at_site && own++ == OWN_MAX))
            return found.n;
        struct row row = row_find(f.pc);
        if (row.kind == ROW_UNSUPPORTED || (row.kind == ROW_UNKNOWN && guessed))
            return 0;
        if (at_site)
            found_add(&found, f.pc, row.kind);
        if (row.kind == ROW_UNKNOWN) {
            *end = CFI_FOREIGN;
            return found.n;
        }
        guessed = row.kind >= ROW_GUESS;
        more = row.kind == ROW_OUTERMOST ? 0 : own_step(w, &f, row, &bp_from, top);
        if (more < 0 && !guessed)
            return 0;
    }
    if (found.certain != 0)
        *end = CFI_GENERATED;
    else if (more == 0)
        *end = CFI_WHOLE;
    return found_until(&found);
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

uint32_t cfi_walk_own(const struct cfi_own_walk *w, void **frames, uint32_t max, enum cfi_end *end)
{
    (void)w;
    (void)frames;
    (void)max;
    *end = CFI_CUT;
    return 0;
}

void cfi_forget(void)
{
}
#endif
