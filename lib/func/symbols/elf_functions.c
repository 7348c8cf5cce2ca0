/* SPDX-License-Identifier: MIT */
/* Functions of an ELF file's symbol table. The file may be damaged: all offsets are checked. */
#include "func/symbols/elf_functions.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static bool elf_map(struct elf_functions *f, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size >= sizeof(ElfW(Ehdr));
    f->file = good ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    f->bytes = good ? (size_t)st.st_size : 0;
    close(fd);
    if (f->file == MAP_FAILED)
        f->file = NULL;
    return f->file != NULL;
}

static bool elf_within(const struct elf_functions *f, uint64_t at, uint64_t bytes)
{
    return at <= f->bytes && bytes <= f->bytes - at;
}

/* Section `i`, with its contents within the file; false if there is none. */
static bool elf_section(const struct elf_functions *f, size_t i, ElfW(Shdr) * s)
{
    ElfW(Ehdr) e;
    memcpy(&e, f->file, sizeof e);
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_shentsize != sizeof *s || i >= e.e_shnum ||
        !elf_within(f, e.e_shoff, (uint64_t)e.e_shnum * sizeof *s))
        return false;
    memcpy(s, (const char *)f->file + e.e_shoff + i * sizeof *s, sizeof *s);
    return s->sh_type == SHT_NOBITS || elf_within(f, s->sh_offset, s->sh_size);
}

/* The symbol table of a type and its strings, which end with a NUL. */
static bool elf_find_table(const struct elf_functions *f, uint32_t type, ElfW(Shdr) * table, ElfW(Shdr) * strings)
{
    for (size_t i = 0; elf_section(f, i, table); i++)
        if (table->sh_type == type)
            return elf_section(f, table->sh_link, strings) && strings->sh_type == SHT_STRTAB && strings->sh_size > 0 &&
                   ((const char *)f->file)[strings->sh_offset + strings->sh_size - 1] == '\0';
    return false;
}

static int elf_compare(const void *a, const void *b)
{
    const struct elf_function *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size; /* of several names the one with a size comes last */
}

static bool elf_find_symbols(const struct elf_functions *f, ElfW(Shdr) * table, ElfW(Shdr) * strings)
{
    return f->file && (elf_find_table(f, SHT_SYMTAB, table, strings) || elf_find_table(f, SHT_DYNSYM, table, strings));
}

/* Function `i` of a table; false if the symbol is none. */
static bool elf_function_at(const struct elf_functions *f, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                            size_t i, struct elf_function *out)
{
    ElfW(Sym) s;
    memcpy(&s, (const char *)f->file + table->sh_offset + i * sizeof s, sizeof s);
    if ((s.st_info & 15) != STT_FUNC || s.st_shndx == SHN_UNDEF || s.st_name >= strings->sh_size)
        return false;
    *out = (struct elf_function){s.st_value, s.st_size, (const char *)f->file + strings->sh_offset + s.st_name};
    return true;
}

static bool elf_function_covers(const struct elf_function *r, uint64_t address)
{
    return address == r->address || address - r->address < r->size;
}

void elf_functions_map(struct elf_functions *f, const char *path)
{
    *f = (struct elf_functions){0};
    (void)elf_map(f, path); /* without the file there are no names */
}

const char *elf_functions_name(const struct elf_functions *f, uint64_t address)
{
    ElfW(Shdr) table, strings;
    struct elf_function r;
    if (!elf_find_symbols(f, &table, &strings))
        return NULL;
    for (size_t i = 0; i < table.sh_size / sizeof(ElfW(Sym)); i++)
        if (elf_function_at(f, &table, &strings, i, &r) && elf_function_covers(&r, address))
            return r.name;
    return NULL;
}

/* The section of that name; false if there is none. */
static bool elf_find_section(const struct elf_functions *f, const char *name, ElfW(Shdr) * s)
{
    ElfW(Ehdr) e;
    ElfW(Shdr) names;
    if (!f->file)
        return false;
    memcpy(&e, f->file, sizeof e);
    if (!elf_section(f, e.e_shstrndx, &names) || names.sh_type != SHT_STRTAB || names.sh_size == 0 ||
        ((const char *)f->file)[names.sh_offset + names.sh_size - 1] != '\0')
        return false;
    for (size_t i = 0; elf_section(f, i, s); i++)
        if (s->sh_name < names.sh_size && strcmp((const char *)f->file + names.sh_offset + s->sh_name, name) == 0)
            return true;
    return false;
}

bool elf_functions_section(const struct elf_functions *f, const char *name, uint64_t *address, uint64_t *bytes)
{
    ElfW(Shdr) s;
    if (!elf_find_section(f, name, &s))
        return false;
    *address = s.sh_addr;
    *bytes = s.sh_size;
    return (s.sh_flags & SHF_ALLOC) != 0;
}

const void *elf_functions_contents(const struct elf_functions *f, const char *name, size_t *bytes)
{
    ElfW(Shdr) s;
    if (!elf_find_section(f, name, &s) || s.sh_type == SHT_NOBITS || (s.sh_flags & SHF_COMPRESSED) != 0)
        return NULL;
    *bytes = (size_t)s.sh_size;
    return (const char *)f->file + s.sh_offset;
}

int elf_functions_read(struct elf_functions *f, const char *path)
{
    ElfW(Shdr) table, strings;
    elf_functions_map(f, path);
    if (!elf_find_symbols(f, &table, &strings))
        return 0;
    size_t n = table.sh_size / sizeof(ElfW(Sym));
    f->rows = malloc((n + 1) * sizeof *f->rows);
    if (!f->rows)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading symbols");
    for (size_t i = 0; i < n; i++)
        f->n += elf_function_at(f, &table, &strings, i, &f->rows[f->n]);
    qsort(f->rows, f->n, sizeof *f->rows, elf_compare);
    return 0;
}

const struct elf_function *elf_functions_find(const struct elf_functions *f, uint64_t address)
{
    size_t low = 0, high = f->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct elf_function *r = low > 0 ? &f->rows[low - 1] : NULL;
    return r && elf_function_covers(r, address) ? r : NULL;
}

void elf_functions_free(struct elf_functions *f)
{
    if (f->file)
        munmap(f->file, f->bytes);
    free(f->rows);
    *f = (struct elf_functions){0};
}
