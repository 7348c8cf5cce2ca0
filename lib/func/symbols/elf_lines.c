/* SPDX-License-Identifier: MIT */
/*
 * Source files of functions, from an ELF file's line table (DWARF 2 to 5, section 6.2 of the standard).
 *
 * Functions are selected by their source within hooks: nothing is allocated, and no library is called. The table is a program for each unit,
 * and a program has a sequence for each run of code: sequences are found once, and for an address only its own is executed. The
 * file is not trusted: a read past the end marks the cursor as failed.
 */
#include "func/symbols/elf_lines.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/own_memory.h"

enum { SEQUENCE_BYTES_MIN = 14 }; /* of the table: a full address, and the opcode that ends the sequence */

/* Names of the standard. */
enum {
    FORM_DATA2 = 5,
    FORM_DATA4,
    FORM_DATA8,
    FORM_STRING,
    FORM_BLOCK,
    FORM_DATA1 = 0x0b,
    FORM_STRP = 0x0e,
    FORM_UDATA
};
enum { FORM_DATA16 = 0x1e, FORM_LINE_STRP, FORM_STRP_SUP = 0x1d, FORM_GNU_STRP_ALT = 0x1f21 };
enum { CONTENT_PATH = 1, CONTENT_DIRECTORY };
enum { OP_EXTENDED, OP_COPY, OP_ADVANCE_PC, OP_ADVANCE_LINE, OP_SET_FILE, OP_CONST_ADD_PC = 8, OP_FIXED_ADVANCE_PC };
enum { EXTENDED_END = 1, EXTENDED_ADDRESS };

struct lines_cursor {
    const unsigned char *at, *end;
    bool wide;    /* 64-bit DWARF: offsets have 8 bytes */
    bool spoiled; /* a read past the end, or an unknown form */
};

struct lines_unit {
    struct lines_cursor names; /* the tables of directories and files */
    const unsigned char *program, *end, *next;
    bool wide;
    uint32_t version, step, line_range, opcode_base;
    const unsigned char *lengths; /* operands of the opcodes below opcode_base, from 1 on */
};

/* ------------------------------------------------------------------------------------------------------ bytes */

static uint64_t lines_fixed(struct lines_cursor *c, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->spoiled = true;
        c->at = c->end;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++) /* the section has this machine's byte order */
        value |= (uint64_t)c->at[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : bytes - 1 - i] << 8 * (i & 7);
    c->at += bytes;
    return value;
}

/* Unsigned LEB128; of a signed one the bytes are read, too. */
static uint64_t lines_uleb(struct lines_cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            return value;
    }
    c->spoiled = true;
    return 0;
}

static void lines_skip(struct lines_cursor *c, uint64_t bytes)
{
    if (bytes > (uint64_t)(c->end - c->at)) {
        c->spoiled = true;
        bytes = (uint64_t)(c->end - c->at);
    }
    c->at += bytes;
}

/* A string with its NUL, which the cursor passes; NULL if it has none. */
static const char *lines_text(struct lines_cursor *c)
{
    const unsigned char *from = c->at, *nul = memchr(from, '\0', (size_t)(c->end - c->at));
    c->spoiled |= !nul;
    c->at = nul ? nul + 1 : c->end;
    return nul ? (const char *)from : NULL;
}

static const char *lines_text_at(const unsigned char *strings, size_t bytes, uint64_t offset)
{
    if (!strings || offset >= bytes || !memchr(strings + offset, '\0', bytes - offset))
        return NULL;
    return (const char *)strings + offset;
}

/* ------------------------------------------------------------------------------------------------------ units */

/* The unit at an offset of the table. @return false at its end, or if the rest cannot be read. */
static bool lines_unit_at(const struct elf_lines *l, size_t offset, struct lines_unit *u)
{
    struct lines_cursor c = {.at = l->table + offset, .end = l->table + l->table_bytes};
    uint64_t bytes = lines_fixed(&c, 4);
    c.wide = bytes == UINT32_MAX;
    bytes = c.wide ? lines_fixed(&c, 8) : bytes;
    if (c.spoiled || bytes > (uint64_t)(c.end - c.at))
        return false;
    c.end = c.at + bytes;
    *u = (struct lines_unit){.end = c.end, .next = c.end, .wide = c.wide};
    u->version = (uint32_t)lines_fixed(&c, 2);
    if (u->version < 2 || u->version > 5) {
        u->version = 0;
        return true;
    }
    lines_skip(&c, u->version == 5 ? 2 : 0); /* sizes of addresses and segments */
    bytes = lines_fixed(&c, c.wide ? 8 : 4);
    u->program = bytes <= (uint64_t)(c.end - c.at) ? c.at + bytes : c.end;
    u->step = (uint32_t)lines_fixed(&c, 1);
    lines_skip(&c, u->version >= 4 ? 3 : 2); /* operations of an instruction, first is_stmt, line_base */
    u->line_range = (uint32_t)lines_fixed(&c, 1);
    u->opcode_base = (uint32_t)lines_fixed(&c, 1);
    u->lengths = c.at - 1;
    lines_skip(&c, u->opcode_base ? u->opcode_base - 1 : 0);
    u->names = c;
    if (c.spoiled || u->line_range == 0 || u->opcode_base == 0)
        u->version = 0; /* passed over */
    return true;
}

/* -------------------------------------------------------------------------------------------------- sequences */

struct lines_row {
    uint64_t address, file;
    bool has_address, ends;
};

static void lines_extended(struct lines_cursor *c, struct lines_row *r)
{
    uint64_t bytes = lines_uleb(c);
    const unsigned char *end = c->at + (bytes <= (uint64_t)(c->end - c->at) ? bytes : 0);
    if (end == c->at) {
        c->spoiled |= bytes > 0;
        return;
    }
    uint64_t what = lines_fixed(c, 1);
    r->ends = what == EXTENDED_END;
    if (what == EXTENDED_ADDRESS && (size_t)(end - c->at) <= sizeof r->address) {
        r->address = lines_fixed(c, (size_t)(end - c->at));
        r->has_address = true;
    }
    c->at = end;
}

/* One opcode. @return whether it makes a row. */
static bool lines_step(const struct lines_unit *u, struct lines_cursor *c, struct lines_row *r)
{
    uint32_t op = (uint32_t)lines_fixed(c, 1);
    if (op >= u->opcode_base) {
        r->address += (uint64_t)u->step * ((op - u->opcode_base) / u->line_range);
        return true;
    }
    switch (op) {
    case OP_EXTENDED:
        lines_extended(c, r);
        return r->ends;
    case OP_COPY:
        return true;
    case OP_ADVANCE_PC:
        r->address += u->step * lines_uleb(c);
        return false;
    case OP_SET_FILE:
        r->file = lines_uleb(c);
        return false;
    case OP_CONST_ADD_PC:
        r->address += (uint64_t)u->step * ((255 - u->opcode_base) / u->line_range);
        return false;
    case OP_FIXED_ADVANCE_PC:
        r->address += lines_fixed(c, 2);
        return false;
    default:
        for (uint32_t i = 0; i < u->lengths[op]; i++)
            (void)lines_uleb(c);
        return false;
    }
}

static struct lines_row lines_first_row(void)
{
    return (struct lines_row){.file = 1};
}

/* Index the sequences of a unit. */
static void lines_index(struct elf_lines *l, const struct lines_unit *u, size_t offset)
{
    struct lines_cursor c = {.at = u->program, .end = u->end};
    while (c.at < c.end && !c.spoiled && l->n < l->cap) {
        struct elf_sequence s = {.low = UINT64_MAX, .unit = offset, .program = (size_t)(c.at - l->table)};
        struct lines_row r = lines_first_row();
        while (c.at < c.end && !c.spoiled && !r.ends) {
            if (lines_step(u, &c, &r) && r.address < s.low)
                s.low = r.address;
        }
        s.high = r.address;
        if (r.ends && r.has_address && s.low < s.high && s.low > 0) /* 0: the linker has removed the code */
            l->sequences[l->n++] = s;
    }
}

void elf_lines_map(struct elf_lines *l, const struct elf_functions *f)
{
    struct lines_unit u;
    *l = (struct elf_lines){0};
    l->table = elf_functions_contents(f, ".debug_line", &l->table_bytes);
    if (!l->table)
        return;
    l->strings = elf_functions_contents(f, ".debug_str", &l->strings_bytes);
    l->line_strings = elf_functions_contents(f, ".debug_line_str", &l->line_strings_bytes);
    l->cap = l->table_bytes / SEQUENCE_BYTES_MIN + 1;
    l->sequences = own_memory_map(l->cap * sizeof *l->sequences, MAP_NORESERVE);
    for (size_t at = 0; l->sequences && lines_unit_at(l, at, &u); at = (size_t)(u.next - l->table))
        if (u.version != 0)
            lines_index(l, &u, at);
}

/* ------------------------------------------------------------------------------------------------------- files */

/* An entry of a table of files or directories. */
struct lines_name {
    const char *text; /* NULL: not known */
    uint64_t directory;
};

static void lines_value(const struct elf_lines *l, struct lines_cursor *c, uint64_t form, uint64_t content,
                        struct lines_name *out)
{
    const char *text = NULL;
    uint64_t number = 0;
    switch (form) {
    case FORM_STRING:
        text = lines_text(c);
        break;
    case FORM_LINE_STRP:
        text = lines_text_at(l->line_strings, l->line_strings_bytes, lines_fixed(c, c->wide ? 8 : 4));
        break;
    case FORM_STRP:
        text = lines_text_at(l->strings, l->strings_bytes, lines_fixed(c, c->wide ? 8 : 4));
        break;
    case FORM_STRP_SUP: /* in another file */
    case FORM_GNU_STRP_ALT:
        lines_skip(c, c->wide ? 8 : 4);
        break;
    case FORM_UDATA:
        number = lines_uleb(c);
        break;
    case FORM_BLOCK:
        lines_skip(c, lines_uleb(c));
        break;
    case FORM_DATA1:
        number = lines_fixed(c, 1);
        break;
    case FORM_DATA2:
        number = lines_fixed(c, 2);
        break;
    case FORM_DATA4:
        number = lines_fixed(c, 4);
        break;
    case FORM_DATA8:
        number = lines_fixed(c, 8);
        break;
    case FORM_DATA16:
        lines_skip(c, 16);
        break;
    default:
        c->spoiled = true;
    }
    if (content == CONTENT_PATH)
        out->text = text;
    else if (content == CONTENT_DIRECTORY)
        out->directory = number;
}

/* Entry `want` of a table of DWARF 5; the cursor passes the table. */
static struct lines_name lines_entry(const struct elf_lines *l, struct lines_cursor *c, uint64_t want)
{
    struct lines_name found = {0};
    uint64_t formats = lines_fixed(c, 1);
    struct lines_cursor format = *c;
    for (uint64_t i = 0; i < 2 * formats; i++)
        (void)lines_uleb(c);
    uint64_t n = lines_uleb(c);
    for (uint64_t i = 0; i < n && !c->spoiled && formats > 0; i++) {
        struct lines_cursor f = format;
        struct lines_name name = {0};
        for (uint64_t k = 0; k < formats && !c->spoiled; k++) {
            uint64_t content = lines_uleb(&f), form = lines_uleb(&f);
            lines_value(l, c, form, content, &name);
        }
        if (i == want && !c->spoiled)
            found = name;
    }
    return found;
}

/* The same before DWARF 5, where entries are numbered from 1 on. */
static struct lines_name lines_old_entry(struct lines_cursor *c, uint64_t want, bool files)
{
    struct lines_name found = {0};
    for (uint64_t i = 1; !c->spoiled; i++) {
        struct lines_name name = {.text = lines_text(c)};
        if (!name.text || !name.text[0])
            break;
        if (files) {
            name.directory = lines_uleb(c);
            (void)lines_uleb(c); /* time and size */
            (void)lines_uleb(c);
        }
        if (i == want)
            found = name;
    }
    return found;
}

static struct lines_name lines_directory(const struct elf_lines *l, const struct lines_unit *u, uint64_t i)
{
    struct lines_cursor c = u->names;
    return u->version == 5 ? lines_entry(l, &c, i) : lines_old_entry(&c, i, false);
}

static struct lines_name lines_file(const struct elf_lines *l, const struct lines_unit *u, uint64_t i)
{
    struct lines_cursor c = u->names;
    if (u->version == 5) {
        (void)lines_entry(l, &c, UINT64_MAX);
        return lines_entry(l, &c, i);
    }
    (void)lines_old_entry(&c, 0, false);
    return lines_old_entry(&c, i, true);
}

/* Put a directory before the path, which ends at out[bytes - 1]. */
static void lines_prepend(char *out, size_t *at, const char *directory)
{
    size_t n = directory ? strlen(directory) : 0, fits = *at > 0 && n > 0 ? *at - 1 : 0;
    if (fits == 0 || out[*at] == '/')
        return;
    out[--*at] = '/';
    fits = n < fits ? n : fits;
    *at -= fits;
    memcpy(out + *at, directory + n - fits, fits);
}

static size_t lines_path(const struct elf_lines *l, const struct lines_unit *u, uint64_t file, char *out, size_t bytes)
{
    struct lines_name name = lines_file(l, u, file);
    size_t n = name.text ? strlen(name.text) : 0;
    if (n == 0)
        return 0;
    n = n < bytes ? n : bytes - 1;
    size_t at = bytes - 1 - n;
    memcpy(out + at, name.text + strlen(name.text) - n, n + 1);
    if (u->version == 5 || name.directory > 0)
        lines_prepend(out, &at, lines_directory(l, u, name.directory).text);
    if (u->version == 5 && name.directory > 0)
        lines_prepend(out, &at, lines_directory(l, u, 0).text);
    n = bytes - 1 - at;
    memmove(out, out + at, n + 1);
    return n;
}

size_t elf_lines_source(const struct elf_lines *l, uint64_t address, char *out, size_t bytes)
{
    const struct elf_sequence *s = NULL;
    struct lines_unit u;
    for (size_t i = 0; i < l->n && !s; i++)
        if (address >= l->sequences[i].low && address < l->sequences[i].high)
            s = &l->sequences[i];
    if (!s || !lines_unit_at(l, s->unit, &u) || u.version == 0)
        return 0;
    struct lines_cursor c = {.at = l->table + s->program, .end = u.end};
    struct lines_row r = lines_first_row();
    uint64_t file = 0;
    bool found = false;
    /* Of several rows of an address, the first one is the function's own: inlined calls come after it. */
    for (bool exact = false; c.at < c.end && !c.spoiled && !r.ends && r.address <= address && !exact;)
        if (lines_step(&u, &c, &r) && r.address <= address && !r.ends) {
            file = r.file;
            found = true;
            exact = r.address == address;
        }
    return found ? lines_path(l, &u, file, out, bytes) : 0;
}
