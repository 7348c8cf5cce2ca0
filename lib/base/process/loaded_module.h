/* SPDX-License-Identifier: MIT */
/** @file Address range and build-id of a module that the dynamic linker has loaded. Async-signal-safe but for loaded_module_find(). */
#ifndef UPMU_BASE_LOADED_MODULE_H
#define UPMU_BASE_LOADED_MODULE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

enum { BUILD_ID_MAX = 64, BUILD_ID_TEXT = 2 * BUILD_ID_MAX + 1 };

/** Address range of a module. @return false if nothing of it is mapped. */
static inline bool loaded_module_extent(const struct dl_phdr_info *info, uint64_t *start, uint64_t *end)
{
    *start = UINT64_MAX;
    *end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uint64_t at = info->dlpi_addr + p->p_vaddr;
        *start = at < *start ? at : *start;
        *end = at + p->p_memsz > *end ? at + p->p_memsz : *end;
    }
    return *start < *end;
}

/** The module that has `address`, and its range. */
struct loaded_module_range {
    uint64_t address, start, end;
};

static inline int loaded_module_has(struct dl_phdr_info *info, size_t size, void *range)
{
    struct loaded_module_range *r = range;
    (void)size;
    return loaded_module_extent(info, &r->start, &r->end) && r->address >= r->start && r->address < r->end;
}

/** Fills in the range by `r->address`. Takes the loader's lock. @return false if no module has the address. */
static inline bool loaded_module_find(struct loaded_module_range *r)
{
    return dl_iterate_phdr(loaded_module_has, r) != 0;
}

static inline size_t loaded_module_align(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static inline void build_id_hex(char *out, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    out[2 * n] = '\0';
}

/** The build-id among the notes of one segment; false if it is not there. */
static inline bool note_build_id(const unsigned char *at, size_t bytes, size_t align, char *out)
{
    ElfW(Nhdr) n;
    while (bytes >= sizeof n) {
        memcpy(&n, at, sizeof n);
        size_t name = loaded_module_align(n.n_namesz, 4), desc = loaded_module_align(sizeof n + name, align);
        size_t all = loaded_module_align(desc + n.n_descsz, align);
        if (n.n_namesz > bytes || n.n_descsz > bytes || desc + n.n_descsz > bytes)
            return false;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(at + sizeof n, "GNU", 4) == 0 &&
            n.n_descsz <= BUILD_ID_MAX) {
            build_id_hex(out, at + desc, n.n_descsz);
            return true;
        }
        if (all >= bytes)
            return false;
        at += all;
        bytes -= all;
    }
    return false;
}

/** The build-id in hexadecimal, BUILD_ID_TEXT bytes; "" if the module has none. */
static inline void loaded_module_build_id(const struct dl_phdr_info *info, char *out)
{
    out[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE && note_build_id((const unsigned char *)(info->dlpi_addr + p->p_vaddr), p->p_memsz,
                                                  p->p_align == 8 ? 8 : 4, out))
            return;
    }
}

#ifdef DLFO_STRUCT_HAS_EH_COUNT
/** The module of an address by glibc's _dl_find_object(), which takes no lock. Its program headers are in its first page, if
 *  its file begins there; those of the program itself are known from the kernel. The module must not be unloaded meanwhile. */
static inline bool loaded_module_from_object(const struct dl_find_object *o, struct dl_phdr_info *info)
{
    ElfW(Ehdr) head;
    memcpy(&head, o->dlfo_map_start, sizeof head);
    bool begins = memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_phentsize == sizeof(ElfW(Phdr));
    if (!begins && o->dlfo_link_map->l_prev) /* the program is the first one, and may be found by each segment */
        return false;
    *info = (struct dl_phdr_info){
        .dlpi_addr = o->dlfo_link_map->l_addr,
        .dlpi_name = o->dlfo_link_map->l_name,
        .dlpi_phdr = (const ElfW(Phdr) *)(const void *)((const char *)o->dlfo_map_start + head.e_phoff),
        .dlpi_phnum = head.e_phnum,
    };
    if (!begins) {
        info->dlpi_phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR);
        info->dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM);
    }
    return true;
}
#endif

#endif
