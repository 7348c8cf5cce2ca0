/* SPDX-License-Identifier: MIT */
/*
 * Signal trampolines, thread entry points, and linker stubs.
 *
 * Unwind information marks signal frames, and outermost frames by an undefined return address, for every C library
 * and without names. A stub is recognized by its section .plt, and on x86-64 by its jump through a slot whose
 * relocation has the name.
 */
#include "symbols/frame_kinds.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "elfutils/elfutils.h"

void frame_kinds_open(struct frame_kinds *k, Elf *elf)
{
    *k = (struct frame_kinds){.elf = elf};
}

/* The linker's code section at an address, if it is in one. */
static Elf_Scn *stub_section(const struct frame_kinds *k, uint64_t address, GElf_Shdr *header)
{
    size_t names;
    if (!k->elf || elf_getshdrstrndx(k->elf, &names) != 0)
        return NULL;
    for (Elf_Scn *s = elf_nextscn(k->elf, NULL); s; s = elf_nextscn(k->elf, s)) {
        if (!gelf_getshdr(s, header) || header->sh_type != SHT_PROGBITS || address < header->sh_addr ||
            address - header->sh_addr >= header->sh_size)
            continue;
        const char *name = elf_strptr(k->elf, names, header->sh_name);
        if (name && strncmp(name, ".plt", 4) == 0 && (name[4] == '\0' || name[4] == '.'))
            return s;
    }
    return NULL;
}

/* Whether this frame is outermost, or a signal frame. */
static int kind_of_frame(Dwarf_Frame *frame)
{
    Dwarf_Addr start, end;
    Dwarf_Op own[3], *ops = NULL;
    size_t n = 0;
    bool signal = false;
    int return_register = dwarf_frame_info(frame, &start, &end, &signal);
    if (signal)
        return UPMU_FRAME_SIGNAL;
    bool known = return_register >= 0 && dwarf_frame_register(frame, return_register, own, &ops, &n) == 0;
    return known && n == 0 && ops == own ? UPMU_FRAME_ROOT : UPMU_FRAME_CODE;
}

#if defined(__x86_64__)
/* Where the stack pointer is the base of the frame, which it is in functions without a frame pointer, and before a frame is set up.
 * @return bytes from it to the return address, or -1. */
static int32_t kind_return_at(Dwarf_Frame *frame)
{
    enum { STACK_POINTER = 7, WORD = 8 }; /* its number in the psABI */
    Dwarf_Op *ops = NULL;
    size_t n = 0;
    if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n != 1)
        return -1;
    bool is_indexed = ops->atom == DW_OP_bregx && ops->number == STACK_POINTER;
    uint64_t size = is_indexed ? ops->number2 : ops->atom == DW_OP_breg0 + STACK_POINTER ? ops->number : 0;
    return size >= WORD && size <= INT32_MAX ? (int32_t)size - WORD : -1;
}
#else
static int32_t kind_return_at(Dwarf_Frame *frame)
{
    (void)frame;
    return -1;
}
#endif

int frame_kind_at(struct frame_kinds *k, uint64_t address, int32_t *return_at)
{
    *return_at = -1;
    GElf_Shdr header;
    Dwarf_Frame *frame = NULL;
    if (!k->elf)
        return UPMU_FRAME_UNKNOWN;
    if (stub_section(k, address, &header)) {
        *return_at = 0;
        return UPMU_FRAME_STUB;
    }
    if (!k->asked)
        k->cfi = dwarf_getcfi_elf(k->elf);
    k->asked = true;
    if (!k->cfi)
        return UPMU_FRAME_UNKNOWN;
    if (dwarf_cfi_addrframe(k->cfi, address, &frame) != 0)
        return UPMU_FRAME_CODE; /* no unwind information */
    int kind = kind_of_frame(frame);
    *return_at = kind == UPMU_FRAME_CODE ? kind_return_at(frame) : -1;
    free(frame);
    return kind;
}

/* ------------------------------------------------------------------------------------------------------- stubs */

/* The slot that the stub at `address` jumps through: [endbr64] [bnd] jmp *slot(%rip). @return false if it is no
 * stub. */
static bool stub_slot(const Elf_Data *code, const GElf_Shdr *header, uint64_t address, uint64_t *slot)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    enum { STUB_BYTES = 16, JUMP_BYTES = 6 };
    size_t at = (size_t)(address - header->sh_addr) / STUB_BYTES * STUB_BYTES;
    const unsigned char *bytes = code->d_buf;
    if (at + STUB_BYTES > code->d_size)
        return false;
    if (memcmp(bytes + at, endbr64, sizeof endbr64) == 0)
        at += sizeof endbr64;
    at += bytes[at] == 0xf2;
    if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
        return false;
    int32_t distance;
    memcpy(&distance, bytes + at + 2, sizeof distance);
    *slot = header->sh_addr + at + JUMP_BYTES + (uint64_t)(int64_t)distance;
    return true;
}

/* The symbol whose address the loader stores in the slot. */
static const char *stub_slot_name(Elf *elf, uint64_t slot)
{
    GElf_Shdr header, symbols;
    GElf_Rela rela;
    GElf_Sym symbol;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        if (!gelf_getshdr(s, &header) || header.sh_type != SHT_RELA || header.sh_entsize == 0)
            continue;
        Elf_Data *data = elf_getdata(s, NULL);
        Elf_Scn *table = elf_getscn(elf, header.sh_link);
        Elf_Data *names = table && gelf_getshdr(table, &symbols) ? elf_getdata(table, NULL) : NULL;
        for (size_t i = 0; data && names && i < header.sh_size / header.sh_entsize; i++)
            if (gelf_getrela(data, (int)i, &rela) && rela.r_offset == slot)
                return gelf_getsym(names, (int)GELF_R_SYM(rela.r_info), &symbol)
                           ? elf_strptr(elf, symbols.sh_link, symbol.st_name)
                           : NULL;
    }
    return NULL;
}

/* Without memory the stub has no name. */
static const char *stub_keep(struct frame_kinds *k, uint64_t slot, const char *name)
{
    struct frame_stub *all = array_reserve(k->stubs, k->n_stubs, &k->cap_stubs, sizeof *all);
    char *text;
    if (all)
        k->stubs = all;
    if (!all || asprintf(&text, "%s@plt", name) < 0)
        return NULL;
    all[k->n_stubs++] = (struct frame_stub){.slot = slot, .name = text};
    return text;
}

const char *frame_stub_name(struct frame_kinds *k, uint64_t address)
{
    GElf_Ehdr file;
    GElf_Shdr header;
    uint64_t slot;
    Elf_Scn *section = stub_section(k, address, &header);
    Elf_Data *code = section ? elf_getdata(section, NULL) : NULL;
    bool is_known = code && code->d_buf && gelf_getehdr(k->elf, &file) && file.e_machine == EM_X86_64 &&
                    stub_slot(code, &header, address, &slot);
    for (size_t i = 0; is_known && i < k->n_stubs; i++)
        if (k->stubs[i].slot == slot)
            return k->stubs[i].name;
    const char *name = is_known ? stub_slot_name(k->elf, slot) : NULL;
    return name && name[0] ? stub_keep(k, slot, name) : NULL;
}

void frame_kinds_free(struct frame_kinds *k)
{
    for (size_t i = 0; i < k->n_stubs; i++)
        free(k->stubs[i].name);
    free(k->stubs);
    if (k->cfi)
        (void)dwarf_cfi_end(k->cfi); /* fails for NULL only */
    *k = (struct frame_kinds){0};
}
