/* SPDX-License-Identifier: MIT */
/*
 * Line table of one compile unit: DWARF 2 to 5, section 6.2 of the standard.
 *
 * The table is a program whose state is a row. Its content is not trusted: a read past the end marks the cursor as
 * failed, and the table is ignored.
 */
#include "symbols/dwarf/dwarf_lines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/error.h"
#include "elfutils/elfutils.h"

enum { ENTRY_FORMATS_MAX = 16, FIRST_FILE = 1 };

/* Read position in a section. */
struct cursor {
    const unsigned char *at, *end;
    bool wide;      /* 64-bit DWARF: offsets have 8 bytes */
    bool spoilt;    /* a read past the end, or an unsupported form */
    bool no_memory; /* of memory */
};

struct header {
    uint32_t version;
    uint32_t address_bytes;
    uint32_t step; /* minimum instruction length */
    int32_t line_base;
    uint32_t line_range;
    uint32_t opcode_base;
    unsigned char lengths[256]; /* operands of the opcodes below opcode_base */
    const unsigned char *program;
};

/* ------------------------------------------------------------------------------------------------------ bytes */

static uint64_t cursor_fixed(struct cursor *c, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->spoilt = true;
        c->at = c->end;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++) { /* the section has this machine's byte order */
        size_t at = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : bytes - 1 - i;
        value |= (uint64_t)c->at[at] << 8 * i;
    }
    c->at += bytes;
    return value;
}

static uint64_t cursor_uleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    c->spoilt = true;
    return 0;
}

static int64_t cursor_sleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end;) {
        unsigned char byte = *c->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        return (int64_t)(shift < 64 && (byte & 0x40) ? value | UINT64_MAX << shift : value);
    }
    c->spoilt = true;
    return 0;
}

static void cursor_skip(struct cursor *c, uint64_t bytes)
{
    if (bytes > (uint64_t)(c->end - c->at)) {
        c->spoilt = true;
        bytes = (uint64_t)(c->end - c->at);
    }
    c->at += bytes;
}

static const char *cursor_text(struct cursor *c)
{
    const unsigned char *from = c->at, *end = memchr(from, '\0', (size_t)(c->end - from));
    if (!end) {
        c->spoilt = true;
        return "";
    }
    c->at = end + 1;
    return (const char *)from;
}

/* A string in another section. */
static const char *cursor_text_in(struct cursor *c, const struct dwarf_bytes *section)
{
    uint64_t offset = cursor_fixed(c, c->wide ? 8 : 4);
    if (offset >= section->n || !memchr(section->at + offset, '\0', section->n - offset)) {
        c->spoilt = true;
        return "";
    }
    return (const char *)section->at + offset;
}

/* ------------------------------------------------------------------------------------------- folders and files */

static void lines_add_file(struct dwarf_lines *l, struct cursor *c, const char *folder, const char *name)
{
    struct dwarf_source *all = array_reserve(l->files, l->n_files, &l->cap_files, sizeof *all);
    if (!all) {
        c->no_memory = true;
        return;
    }
    l->files = all;
    all[l->n_files++] = (struct dwarf_source){.folder = folder, .name = name};
}

struct folders {
    const char **names;
    size_t n, cap;
};

static void folders_add(struct folders *f, struct cursor *c, const char *name)
{
    const char **all = array_reserve(f->names, f->n, &f->cap, sizeof *all);
    if (!all) {
        c->no_memory = true;
        return;
    }
    f->names = all;
    all[f->n++] = name;
}

static const char *folders_at(const struct folders *f, struct cursor *c, uint64_t i)
{
    if (i < f->n)
        return f->names[i];
    c->spoilt = true;
    return NULL;
}

static bool cursor_has_more(const struct cursor *c)
{
    return !c->spoilt && !c->no_memory;
}

/* Up to version 4: lists that end with an empty name. Folder 0 is the unit's own; there is no file 0. */
static void lines_read_names_v4(struct dwarf_lines *l, struct cursor *c, struct folders *folders, const char *own)
{
    const char *name;
    folders_add(folders, c, own);
    while (cursor_has_more(c) && *(name = cursor_text(c)))
        folders_add(folders, c, name);
    lines_add_file(l, c, NULL, NULL);
    while (cursor_has_more(c) && *(name = cursor_text(c))) {
        const char *folder = folders_at(folders, c, cursor_uleb(c));
        (void)cursor_uleb(c); /* modification time */
        (void)cursor_uleb(c); /* length */
        lines_add_file(l, c, folder, name);
    }
}

/* Value of an entry's field: a number, a string, or neither. */
struct field {
    uint64_t number;
    const char *text;
};

static struct field cursor_field(struct cursor *c, uint64_t form, const struct dwarf_sections *s)
{
    switch (form) {
    case DW_FORM_string:
        return (struct field){.text = cursor_text(c)};
    case DW_FORM_line_strp:
        return (struct field){.text = cursor_text_in(c, &s->line_str)};
    case DW_FORM_strp:
        return (struct field){.text = cursor_text_in(c, &s->str)};
    case DW_FORM_udata:
        return (struct field){.number = cursor_uleb(c)};
    case DW_FORM_data1:
        return (struct field){.number = cursor_fixed(c, 1)};
    case DW_FORM_data2:
        return (struct field){.number = cursor_fixed(c, 2)};
    case DW_FORM_data4:
        return (struct field){.number = cursor_fixed(c, 4)};
    case DW_FORM_data8:
        return (struct field){.number = cursor_fixed(c, 8)};
    case DW_FORM_data16:
        cursor_skip(c, 16);
        return (struct field){0};
    case DW_FORM_block:
        cursor_skip(c, cursor_uleb(c));
        return (struct field){0};
    default:
        c->spoilt = true;
        return (struct field){0};
    }
}

/* A list of version 5, which begins with the format of its entries. @return the number of entries read. */
static void lines_read_entries_v5(struct dwarf_lines *l, struct cursor *c, const struct dwarf_sections *s,
                                  struct folders *folders, bool files)
{
    uint64_t kinds[ENTRY_FORMATS_MAX], forms[ENTRY_FORMATS_MAX];
    uint64_t formats = cursor_fixed(c, 1);
    for (uint64_t i = 0; i < formats && i < ENTRY_FORMATS_MAX; i++) {
        kinds[i] = cursor_uleb(c);
        forms[i] = cursor_uleb(c);
    }
    uint64_t n = cursor_uleb(c);
    c->spoilt |= formats > ENTRY_FORMATS_MAX || (formats == 0 && n > 0);
    for (uint64_t i = 0; i < n && cursor_has_more(c); i++) {
        const char *name = NULL;
        uint64_t folder = 0;
        for (uint64_t k = 0; k < formats && cursor_has_more(c); k++) {
            struct field f = cursor_field(c, forms[k], s);
            if (kinds[k] == DW_LNCT_path)
                name = f.text;
            else if (kinds[k] == DW_LNCT_directory_index)
                folder = f.number;
        }
        c->spoilt |= name == NULL;
        if (!cursor_has_more(c))
            return;
        if (files)
            lines_add_file(l, c, folders_at(folders, c, folder), name);
        else
            folders_add(folders, c, name);
    }
}

/* ----------------------------------------------------------------------------------------------------- header */

static void lines_read_header(struct header *h, struct cursor *c)
{
    uint64_t length = cursor_fixed(c, 4);
    c->wide = length == UINT32_MAX;
    if (c->wide)
        length = cursor_fixed(c, 8);
    if (length < (uint64_t)(c->end - c->at))
        c->end = c->at + length;
    h->version = (uint32_t)cursor_fixed(c, 2);
    h->address_bytes = sizeof(void *);
    if (h->version >= 5) {
        h->address_bytes = (uint32_t)cursor_fixed(c, 1);
        c->spoilt |= cursor_fixed(c, 1) != 0; /* segment selector size */
    }
    uint64_t rest = cursor_fixed(c, c->wide ? 8 : 4);
    c->spoilt |= h->version < 2 || h->version > 5 || rest > (uint64_t)(c->end - c->at);
    if (c->spoilt)
        return;
    h->program = c->at + rest;
    h->step = (uint32_t)cursor_fixed(c, 1);
    if (h->version >= 4)
        c->spoilt |= cursor_fixed(c, 1) != 1; /* VLIW: several operations per instruction */
    (void)cursor_fixed(c, 1);                 /* default_is_stmt */
    int32_t base = (int32_t)cursor_fixed(c, 1);
    h->line_base = base <= INT8_MAX ? base : base - (UINT8_MAX + 1);
    h->line_range = (uint32_t)cursor_fixed(c, 1);
    h->opcode_base = (uint32_t)cursor_fixed(c, 1);
    c->spoilt |= h->line_range == 0 || h->opcode_base == 0;
    for (uint32_t i = 1; i < h->opcode_base; i++)
        h->lengths[i] = (unsigned char)cursor_fixed(c, 1);
}

/* ---------------------------------------------------------------------------------------------------- program */

struct machine {
    struct dwarf_lines *l;
    uint64_t address, file, line, column;
};

static void machine_begin_sequence(struct machine *m)
{
    *m = (struct machine){.l = m->l, .file = FIRST_FILE, .line = 1};
}

static void machine_add_row(struct machine *m, struct cursor *c, bool end)
{
    struct dwarf_lines *l = m->l;
    struct dwarf_row *all = array_reserve(l->rows, l->n_rows, &l->cap_rows, sizeof *all);
    if (!all) {
        c->no_memory = true;
        return;
    }
    l->rows = all;
    all[l->n_rows] = (struct dwarf_row){
        .address = m->address,
        .line = m->line <= UINT32_MAX ? (uint32_t)m->line : 0,
        .file = m->file <= UINT32_MAX ? (uint32_t)m->file : UINT32_MAX,
        .order = (uint32_t)l->n_rows & (UINT32_MAX >> 1),
        .end = end,
        .column = m->column <= UINT32_MAX ? (uint32_t)m->column : 0,
    };
    l->n_rows++;
}

static void machine_run_extended(struct machine *m, struct cursor *c, const struct header *h)
{
    uint64_t length = cursor_uleb(c);
    if (length == 0 || length > (uint64_t)(c->end - c->at)) {
        c->spoilt = true;
        return;
    }
    const unsigned char *next = c->at + length;
    switch (cursor_fixed(c, 1)) {
    case DW_LNE_end_sequence:
        machine_add_row(m, c, true);
        machine_begin_sequence(m);
        break;
    case DW_LNE_set_address:
        c->spoilt |= length - 1 != 8 && length - 1 != 4;
        m->address = cursor_fixed(c, (size_t)length - 1 <= 8 ? (size_t)length - 1 : 0);
        break;
    case DW_LNE_define_file:
        c->spoilt |= h->version < 5; /* never in practice */
        break;
    default:
        break;
    }
    c->at = next;
}

static void machine_run_standard(struct machine *m, struct cursor *c, const struct header *h, uint32_t opcode)
{
    switch (opcode) {
    case DW_LNS_copy:
        machine_add_row(m, c, false);
        break;
    case DW_LNS_advance_pc:
        m->address += cursor_uleb(c) * h->step;
        break;
    case DW_LNS_advance_line:
        m->line += (uint64_t)cursor_sleb(c);
        break;
    case DW_LNS_set_file:
        m->file = cursor_uleb(c);
        break;
    case DW_LNS_set_column:
        m->column = cursor_uleb(c);
        break;
    case DW_LNS_const_add_pc:
        m->address += (uint64_t)((255 - h->opcode_base) / h->line_range) * h->step;
        break;
    case DW_LNS_fixed_advance_pc:
        m->address += cursor_fixed(c, 2);
        break;
    default:
        for (uint32_t i = 0; i < h->lengths[opcode]; i++)
            (void)cursor_uleb(c);
        break;
    }
}

static void machine_run(struct dwarf_lines *l, struct cursor *c, const struct header *h)
{
    struct machine m = {.l = l};
    machine_begin_sequence(&m);
    while (c->at < c->end && cursor_has_more(c)) {
        uint32_t opcode = *c->at++;
        if (opcode >= h->opcode_base) {
            uint32_t adjusted = opcode - h->opcode_base;
            m.address += (uint64_t)(adjusted / h->line_range) * h->step;
            m.line += (uint64_t)(int64_t)(h->line_base + (int32_t)(adjusted % h->line_range));
            machine_add_row(&m, c, false);
        } else if (opcode == 0) {
            machine_run_extended(&m, c, h);
        } else {
            machine_run_standard(&m, c, h, opcode);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- both */

/* `own` is the unit's folder, NULL if it has none. */
static void lines_read_table(struct dwarf_lines *l, struct cursor *c, const struct dwarf_sections *s, const char *own)
{
    struct header h = {0};
    struct folders folders = {0};
    lines_read_header(&h, c);
    if (h.version >= 5) {
        lines_read_entries_v5(l, c, s, &folders, false);
        lines_read_entries_v5(l, c, s, &folders, true);
    } else if (cursor_has_more(c)) {
        lines_read_names_v4(l, c, &folders, own);
    }
    free(folders.names);
    if (cursor_has_more(c) && h.program) {
        c->at = h.program;
        machine_run(l, c, &h);
    }
}

/* Reads the table through libdw. @return 0; UPMU_E_NOMEM. */
static int lines_read_by_libdw(struct dwarf_lines *l, Dwarf_Die *unit)
{
    struct cursor c = {0};
    Dwarf_Lines *lines;
    Dwarf_Files *files;
    size_t n = 0, n_files = 0;
    struct machine m = {.l = l};
    if (dwarf_getsrclines(unit, &lines, &n) != 0 || dwarf_getsrcfiles(unit, &files, &n_files) != 0)
        return 0;
    for (size_t i = 0; i < n_files && cursor_has_more(&c); i++)
        lines_add_file(l, &c, NULL, dwarf_filesrc(files, i, NULL, NULL));
    for (size_t i = 0; i < n && cursor_has_more(&c); i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address = 0;
        int number = 0, column = 0;
        bool end = true;
        size_t file = 0;
        if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineno(line, &number) != 0 || number < 0)
            continue;
        if (dwarf_linecol(line, &column) != 0 || column < 0)
            column = 0;
        if (dwarf_line_file(line, &files, &file) != 0)
            file = UINT32_MAX;
        m.address = address;
        m.line = (uint64_t)number;
        m.column = (uint64_t)column;
        m.file = file;
        machine_add_row(&m, &c, dwarf_lineendsequence(line, &end) != 0 || end);
    }
    return c.no_memory ? UPMU_E_NOMEM : 0;
}

static int line_row_by_address(const void *a, const void *b)
{
    const struct dwarf_row *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->end != y->end)
        return x->end ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Compilers write one sequence per function, mostly in order already. */
static void lines_sort(struct dwarf_lines *l)
{
    for (size_t i = 1; i < l->n_rows; i++) {
        if (line_row_by_address(&l->rows[i - 1], &l->rows[i]) <= 0)
            continue;
        qsort(l->rows, l->n_rows, sizeof *l->rows, line_row_by_address);
        return;
    }
}

static void lines_clear(struct dwarf_lines *l)
{
    l->n_rows = l->n_files = 0;
}

int dwarf_lines_read(struct dwarf_lines *lines, const struct dwarf_sections *s, Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    struct cursor c = {0};
    int rc = 0;
    *lines = (struct dwarf_lines){0};
    if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &offset) != 0)
        return 0;
    const char *own = dwarf_attr(unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;
    lines->base = own;
    c.spoilt = !s->usual || offset >= s->line.n;
    if (!c.spoilt) {
        c.at = s->line.at + offset;
        c.end = s->line.at + s->line.n;
        lines_read_table(lines, &c, s, own);
    }
    if (c.spoilt && !c.no_memory) {
        lines_clear(lines);
        rc = lines_read_by_libdw(lines, unit);
    }
    if (c.no_memory || rc != 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading debug information");
    lines_sort(lines);
    return 0;
}

const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file)
{
    struct dwarf_source *f = file < lines->n_files ? &lines->files[file] : NULL;
    if (!f || !f->name)
        return NULL;
    if (f->name[0] == '/' || !f->folder)
        return f->name;
    if (f->path)
        return f->path;
    bool below = f->folder[0] != '/' && lines->base;
    const char *base = below ? lines->base : "";
    size_t n = strlen(base) + strlen(f->folder) + strlen(f->name) + 3;
    f->path = malloc(n);
    if (f->path)
        (void)snprintf(f->path, n, "%s%s%s/%s", base, below ? "/" : "", f->folder, f->name);
    return f->path;
}

const struct dwarf_row *dwarf_lines_at(const struct dwarf_lines *lines, uint64_t address)
{
    size_t low = 0, high = lines->n_rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && !lines->rows[low - 1].end ? &lines->rows[low - 1] : NULL;
}

void dwarf_lines_free(struct dwarf_lines *lines)
{
    for (size_t i = 0; i < lines->n_files; i++)
        free(lines->files[i].path);
    free(lines->files);
    free(lines->rows);
    *lines = (struct dwarf_lines){0};
}

/* --------------------------------------------------------------------------------------------------- sections */

static struct dwarf_bytes dwarf_section_bytes(Elf_Scn *section)
{
    const Elf_Data *data = elf_getdata(section, NULL);
    return data && data->d_buf ? (struct dwarf_bytes){.at = data->d_buf, .n = data->d_size} : (struct dwarf_bytes){0};
}

void dwarf_sections_find(struct dwarf_sections *s, Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    GElf_Ehdr file;
    GElf_Shdr header;
    size_t names;
    const int ours = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    *s = (struct dwarf_sections){0};
    if (!elf || !gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &names) != 0)
        return;
    s->usual = file.e_ident[EI_DATA] == ours && file.e_type != ET_REL;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || header.sh_type == SHT_NOBITS)
            continue;
        if (header.sh_flags & SHF_COMPRESSED) /* libdw decompresses the sections that it supports */
            s->usual = false;
        else if (strcmp(name, ".debug_line") == 0)
            s->line = dwarf_section_bytes(scn);
        else if (strcmp(name, ".debug_line_str") == 0)
            s->line_str = dwarf_section_bytes(scn);
        else if (strcmp(name, ".debug_str") == 0)
            s->str = dwarf_section_bytes(scn);
    }
}
