/* SPDX-License-Identifier: MIT */
/* Imported functions of a loaded module: the words that hold their addresses, found and replaced. */
#include "base/elf/imports.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__LP64__)
#define IS_IMPORT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_IMPORT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#elif defined(__riscv) && __riscv_xlen == 64
#define IS_IMPORT(type) ((type) == R_RISCV_JUMP_SLOT || (type) == R_RISCV_64)
#elif defined(__loongarch64)
#define IS_IMPORT(type) ((type) == R_LARCH_JUMP_SLOT || (type) == R_LARCH_64)
#else
#define IS_IMPORT(type) false
#endif

/* Vector arguments in registers of their own: STO_AARCH64_VARIANT_PCS, STO_RISCV_VARIANT_CC, and LoongArch's. Such a function is called directly. */
#if defined(__aarch64__) || defined(__riscv) || defined(__loongarch64)
#define IS_VARIANT(other) (((other)&0x80) != 0)
#else
#define IS_VARIANT(other) false
#endif

enum { VERSION_MASK = 0x7fff }; /* the bit above hides a symbol */

/* Tables of a loaded file. */
struct imports_file {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Half) * versions; /* of each symbol; NULL: they have none */
    uintptr_t needed;            /* versions by the files that have them */
    size_t n_needed;
};

/* The dynamic linker has made the addresses in the dynamic section absolute on most ISAs, but not on all. */
static uintptr_t imports_address(const struct imports_file *f, ElfW(Addr) value)
{
    return value < f->base ? f->base + value : value;
}

static const ElfW(Dyn) * imports_dynamic(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return NULL;
}

static const char *imports_version(const struct imports_file *f, size_t symbol)
{
    unsigned wanted = f->versions ? f->versions[symbol] & VERSION_MASK : VER_NDX_LOCAL;
    const char *file = (const char *)f->needed;
    for (size_t i = 0; file && wanted > VER_NDX_GLOBAL && i < f->n_needed; i++) {
        const ElfW(Verneed) *need = (const void *)file;
        const char *at = file + need->vn_aux;
        for (unsigned k = 0; k < need->vn_cnt; k++) {
            const ElfW(Vernaux) *version = (const void *)at;
            if ((version->vna_other & VERSION_MASK) == wanted)
                return f->strings + version->vna_name;
            at += version->vna_next;
        }
        file += need->vn_next;
    }
    return NULL;
}

struct imports_walk {
    const struct dl_phdr_info *info;
    struct imports_file f;
    int (*each)(const struct dl_phdr_info *, const struct import *, void *);
    void *arg;
};

/* The word at `slot` has the address of a symbol. */
static int imports_symbol(const struct imports_walk *w, size_t number, uintptr_t slot)
{
    const struct imports_file *f = &w->f;
    const ElfW(Sym) *symbol = &f->symbols[number];
    unsigned type = symbol->st_info & 0xf;
    if ((type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC) || IS_VARIANT(symbol->st_other))
        return 0;
    const struct import import = {
        .name = f->strings + symbol->st_name,
        .version = imports_version(f, number),
        .slot = slot,
        .own = symbol->st_shndx != SHN_UNDEF ? f->base + symbol->st_value : 0,
    };
    return w->each(w->info, &import, w->arg);
}

static int imports_table(const struct imports_walk *w, uintptr_t at, size_t bytes)
{
    const ElfW(Rela) *r = (const ElfW(Rela) *)at;
    int rc = 0;
    for (size_t i = 0; at && rc == 0 && i < bytes / sizeof *r; i++)
        if (sizeof(r->r_info) == sizeof(uint64_t) && IS_IMPORT(ELF64_R_TYPE(r[i].r_info)))
            rc = imports_symbol(w, ELF64_R_SYM(r[i].r_info), w->f.base + r[i].r_offset);
    return rc;
}

/* MIPS has no relocations of imports: the last words of a file's global offset table are those of its last symbols. */
static int imports_of_mips(const struct imports_walk *w)
{
    int rc = 0;
#if defined(__mips64)
    uintptr_t table = 0;
    size_t first = 0, symbols = 0, before = 0;
    for (const ElfW(Dyn) *d = imports_dynamic(w->info); d && d->d_tag != DT_NULL; d++) {
        table = d->d_tag == DT_PLTGOT ? imports_address(&w->f, d->d_un.d_ptr) : table;
        first = d->d_tag == DT_MIPS_GOTSYM ? d->d_un.d_val : first;
        symbols = d->d_tag == DT_MIPS_SYMTABNO ? d->d_un.d_val : symbols;
        before = d->d_tag == DT_MIPS_LOCAL_GOTNO ? d->d_un.d_val : before;
    }
    for (size_t i = first; table && rc == 0 && i < symbols; i++)
        rc = imports_symbol(w, i, table + (before + i - first) * sizeof(uintptr_t));
#else
    (void)w;
#endif
    return rc;
}

int imports_each(const struct dl_phdr_info *info,
                 int (*each)(const struct dl_phdr_info *info, const struct import *i, void *arg), void *arg)
{
    struct imports_walk w = {.info = info, .f = {.base = info->dlpi_addr}, .each = each, .arg = arg};
    uintptr_t jump = 0, rela = 0;
    size_t jump_bytes = 0, rela_bytes = 0;
    for (const ElfW(Dyn) *d = imports_dynamic(info); d && d->d_tag != DT_NULL; d++) {
        uintptr_t address = imports_address(&w.f, d->d_un.d_ptr);
        switch (d->d_tag) {
        case DT_SYMTAB:
            w.f.symbols = (const ElfW(Sym) *)address;
            break;
        case DT_STRTAB:
            w.f.strings = (const char *)address;
            break;
        case DT_VERSYM:
            w.f.versions = (const ElfW(Half) *)address;
            break;
        case DT_VERNEED:
            w.f.needed = address;
            break;
        case DT_VERNEEDNUM:
            w.f.n_needed = d->d_un.d_val;
            break;
        case DT_JMPREL:
            jump = address;
            break;
        case DT_PLTRELSZ:
            jump_bytes = d->d_un.d_val;
            break;
        case DT_RELA:
            rela = address;
            break;
        case DT_RELASZ:
            rela_bytes = d->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (!w.f.symbols || !w.f.strings)
        return 0;
    int rc = imports_table(&w, jump, jump_bytes);
    rc = rc ? rc : imports_table(&w, rela, rela_bytes);
    return rc ? rc : imports_of_mips(&w);
}

/* The dynamic linker protects whole pages. */
static bool import_is_protected(const struct dl_phdr_info *info, uintptr_t slot, uintptr_t page)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr, end = begin + p->p_memsz;
        if (p->p_type == PT_GNU_RELRO && slot >= (begin & ~(page - 1)) && slot < (end & ~(page - 1)))
            return true;
    }
    return false;
}

bool import_store(const struct dl_phdr_info *info, const struct import *i, uintptr_t function)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = i->slot & ~(page - 1);
    bool is_protected = import_is_protected(info, i->slot, page);
    if (is_protected && mprotect((void *)begin, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n((uintptr_t *)i->slot, function, __ATOMIC_RELEASE);
    if (is_protected) /* if that fails the page stays writable, as without protection */
        (void)mprotect((void *)begin, page, PROT_READ);
    return true;
}
