/* SPDX-License-Identifier: MIT */
/* Names of functions and static variables from symbol tables, sorted once. */
#include "symbols/elf_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/error.h"
#include "elfutils/elfutils.h"

/* The table of that section type, or NULL. */
static Elf_Scn *symbol_section(Elf *elf, uint32_t type, GElf_Shdr *header)
{
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s))
        if (gelf_getshdr(s, header) && header->sh_type == type && header->sh_entsize > 0)
            return s;
    return NULL;
}

/* Preference among names of one address: global first, leading underscores last. */
static uint32_t name_rank(const GElf_Sym *symbol, const char *name)
{
    uint32_t binding = GELF_ST_BIND(symbol->st_info) == STB_GLOBAL ? 0
                       : GELF_ST_BIND(symbol->st_info) == STB_WEAK ? 1
                                                                   : 2;
    return binding * 2 + (name[0] == '_');
}

/* The end of the symbol's section; UINT64_MAX if not known. */
static uint64_t elf_section_end(Elf *elf, const GElf_Sym *symbol)
{
    GElf_Shdr header;
    Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol->st_shndx) : NULL;
    return section && gelf_getshdr(section, &header) ? header.sh_addr + header.sh_size : UINT64_MAX;
}

static int add_symbol(struct elf_names *names, Elf *elf, const GElf_Sym *symbol, const char *name,
                      enum elf_names_kind kind)
{
    uint32_t type = GELF_ST_TYPE(symbol->st_info);
    bool wanted =
        kind == ELF_VARIABLES ? type == STT_OBJECT && symbol->st_size > 0 : type == STT_FUNC || type == STT_GNU_IFUNC;
    if (!wanted || symbol->st_shndx == SHN_UNDEF || !name || name[0] == '\0')
        return 0;
    struct elf_name *rows = array_reserve(names->rows, names->n, &names->cap, sizeof *rows);
    if (!rows)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading symbols");
    names->rows = rows;
    uint64_t high = symbol->st_size > UINT64_MAX - symbol->st_value ? UINT64_MAX : symbol->st_value + symbol->st_size;
    rows[names->n++] = (struct elf_name){
        .low = symbol->st_value,
        .high = high,
        .reach = symbol->st_size == 0 ? elf_section_end(elf, symbol) : 0,
        .name = name,
        .rank = name_rank(symbol, name),
    };
    return 0;
}

static int elf_name_by_address(const void *a, const void *b)
{
    const struct elf_name *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return strcmp(y->name, x->name);
}

/* A function without a size, as in assembly, ends at the next name or at the end of its section (after `_init` the
 * linker's stubs may follow). */
static void sort_names(struct elf_names *names)
{
    uint64_t reach = 0;
    if (names->n > 0)
        qsort(names->rows, names->n, sizeof *names->rows, elf_name_by_address);
    for (size_t i = 0; i < names->n; i++) {
        struct elf_name *row = &names->rows[i];
        uint64_t end = row->reach;
        bool open = row->high == row->low;
        for (size_t k = i + 1; row->high == row->low && k < names->n; k++)
            row->high = names->rows[k].low;
        if (open && row->high > end && end > row->low)
            row->high = end;
        reach = row->high > reach ? row->high : reach;
        row->reach = reach;
    }
}

int elf_names_read(struct elf_names *names, Elf *elf, enum elf_names_kind kind)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    int rc = 0;
    Elf_Scn *section = symbol_section(elf, SHT_SYMTAB, &header);
    if (!section)
        section = symbol_section(elf, SHT_DYNSYM, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    size_t n = data ? data->d_size / header.sh_entsize : 0;
    for (size_t i = 0; rc == 0 && i < n && i < INT32_MAX; i++)
        if (gelf_getsym(data, (int)i, &symbol))
            rc = add_symbol(names, elf, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name), kind);
    sort_names(names);
    return rc;
}

/* Number of names that begin at or before the address. */
static size_t elf_names_count_before(const struct elf_names *names, uint64_t address)
{
    size_t low = 0, high = names->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->rows[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *elf_names_before(const struct elf_names *names, uint64_t address, uint64_t *distance)
{
    size_t n = elf_names_count_before(names, address);
    *distance = n > 0 ? address - names->rows[n - 1].low : 0;
    return n > 0 ? names->rows[n - 1].name : NULL;
}

const struct elf_name *elf_names_find(const struct elf_names *names, uint64_t address)
{
    size_t low = elf_names_count_before(names, address);
    /* Functions may nest; `reach` bounds the search backwards. */
    for (size_t i = low; i > 0 && names->rows[i - 1].reach > address; i--)
        if (names->rows[i - 1].high > address)
            return &names->rows[i - 1];
    return NULL;
}

void elf_names_free(struct elf_names *names)
{
    free(names->rows);
    *names = (struct elf_names){0};
}
