/* SPDX-License-Identifier: MIT */
/*
 * What symbol lookup costs with libdw alone, beside our own tables: CPU time and heap.
 *
 *     peers_libdw FILE [ADDRESSES]
 *
 * FILE is a program or library with DWARF; ADDRESSES of its .text (default: 1000) are looked up as functions, inlined
 * functions and lines, by both. The last two rows read all line tables of the file.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/dwarf/dwarf_lines.h"
#include "symbols/symbols.h"

enum { FRAMES = 64 };

static const char *path;
static uint64_t text, text_bytes, addresses = 1000;

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "peers_libdw: %s\n", what);
    exit(2);
}

static Dwarf *libdw_open(void)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
    must(dwarf != NULL, "the file cannot be read, or has no DWARF");
    return dwarf;
}

static void find_text(void)
{
    Dwarf *dwarf = libdw_open();
    Elf *elf = dwarf_getelf(dwarf);
    GElf_Shdr header;
    size_t names;
    must(elf_getshdrstrndx(elf, &names) == 0, path);
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        const char *name = gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || strcmp(name, ".text") != 0)
            continue;
        text = header.sh_addr;
        text_bytes = header.sh_size;
    }
    must(text_bytes > addresses, "the file has no code");
    dwarf_end(dwarf);
}

/* In no order: 7919 has no factor in common with any sensible number of addresses. */
static uint64_t address_at(uint64_t i)
{
    return text + i * 7919 % addresses * (text_bytes / addresses);
}

static uint64_t ours(void)
{
    struct symbols *s;
    struct symbol_frame frames[FRAMES];
    uint32_t module;
    uint64_t found = 0;
    must(symbols_open(&s, NULL) == 0 && symbols_module(s, path, "", &module) == 0, "out of memory");
    for (uint64_t i = 0; i < addresses; i++) {
        int n = symbols_find(s, module, address_at(i), frames, FRAMES);
        found += n > 0 ? (uint64_t)n : 0;
    }
    return found; /* not closed: its memory is measured */
}

/* The named functions at an address, with their lines. */
static uint64_t libdw_functions(Dwarf *dwarf, uint64_t address)
{
    Dwarf_Die unit, *scopes;
    int line;
    uint64_t functions = 0;
    if (!dwarf_addrdie(dwarf, address, &unit))
        return 0;
    Dwarf_Line *row = dwarf_getsrc_die(&unit, address);
    if (row)
        (void)dwarf_lineno(row, &line);
    int n = dwarf_getscopes(&unit, address, &scopes);
    for (int i = 0; i < n; i++) {
        int tag = dwarf_tag(&scopes[i]);
        functions += (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram) && dwarf_diename(&scopes[i]);
    }
    if (n > 0)
        free(scopes);
    return functions;
}

static uint64_t libdw(void)
{
    Dwarf *dwarf = libdw_open();
    uint64_t found = 0;
    for (uint64_t i = 0; i < addresses; i++)
        found += libdw_functions(dwarf, address_at(i));
    return found;
}

static uint64_t tables(bool by_libdw)
{
    struct dwarf_sections sections;
    struct dwarf_lines lines;
    Dwarf *dwarf = libdw_open();
    Dwarf_Die die;
    uint8_t type;
    uint64_t rows = 0;
    dwarf_sections_find(&sections, dwarf);
    sections.usual &= !by_libdw;
    for (Dwarf_CU *cu = NULL; dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0; rows += lines.n_rows)
        must(dwarf_lines_read(&lines, &sections, &die) == 0, "out of memory");
    return rows;
}

static uint64_t tables_ours(void)
{
    return tables(false);
}

static uint64_t tables_libdw(void)
{
    return tables(true);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *what, *unit;
        uint64_t (*run)(void);
    } rows[] = {
        {"lookup, libdw", "functions", libdw},
        {"lookup, ours", "functions", ours},
        {"line tables, libdw", "rows", tables_libdw},
        {"line tables, ours", "rows", tables_ours},
    };
    must(argc == 2 || argc == 3, "usage: peers_libdw FILE [ADDRESSES]");
    path = argv[1];
    if (argc == 3)
        addresses = strtoull(argv[2], NULL, 10);
    must(addresses > 0, "ADDRESSES is not a number");
    find_text();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mallinfo2 before = mallinfo2(), after;
        clock_t start = clock();
        uint64_t n = rows[i].run();
        double ms = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
        after = mallinfo2();
        printf("%-20s %10.1f ms %8.1f MB  %9llu %s\n", rows[i].what, ms,
               (double)(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / 1e6, (unsigned long long)n,
               rows[i].unit);
    }
    return 0;
}
