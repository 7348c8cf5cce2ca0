/* SPDX-License-Identifier: MIT */
/*
 * Begins of functions by unwind information, which a stripped file still has.
 *
 * .eh_frame_hdr, of the Linux Standard Base: version 1, three encodings, the address of .eh_frame, the number of rows, and
 * rows of two 32-bit offsets from the section's address: the begin of a function, and its description.
 */
#include "symbols/function_starts.h"

#include <byteswap.h>
#include <dwarf.h>
#include <string.h>

enum {
    STARTS_HEADER_BYTES = 12,
    STARTS_ROW_BYTES = 8,
    STARTS_VERSION = 1,
    STARTS_COUNT_ENCODING = DW_EH_PE_udata4,
    STARTS_ROW_ENCODING = DW_EH_PE_datarel | DW_EH_PE_sdata4,
};

static uint32_t starts_word(const struct function_starts *f, const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return f->swapped ? bswap_32(word) : word;
}

static uint64_t starts_row(const struct function_starts *f, size_t row)
{
    return f->base + (uint64_t)(int64_t)(int32_t)starts_word(f, f->rows + row * STARTS_ROW_BYTES);
}

void function_starts_open(struct function_starts *f, Elf *elf)
{
    size_t n_segments;
    GElf_Phdr segment;
    const char *ident = elf ? elf_getident(elf, NULL) : NULL;
    *f = (struct function_starts){0};
    if (!ident || elf_getphdrnum(elf, &n_segments) != 0)
        return;
    f->swapped = ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
    for (size_t i = 0; i < n_segments; i++) {
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_GNU_EH_FRAME)
            continue;
        const Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz, ELF_T_BYTE);
        const unsigned char *bytes = data ? data->d_buf : NULL;
        if (!bytes || data->d_size < STARTS_HEADER_BYTES || bytes[0] != STARTS_VERSION ||
            bytes[2] != STARTS_COUNT_ENCODING || bytes[3] != STARTS_ROW_ENCODING)
            return;
        size_t count = starts_word(f, bytes + STARTS_HEADER_BYTES - 4),
               most = (data->d_size - STARTS_HEADER_BYTES) / STARTS_ROW_BYTES;
        f->rows = bytes + STARTS_HEADER_BYTES;
        f->n = count < most ? count : most;
        f->base = segment.p_vaddr;
        return;
    }
}

/* Number of functions that begin at or before the address. */
static size_t starts_before(const struct function_starts *f, uint64_t address)
{
    size_t low = 0, high = f->n;
    while (low < high) { /* rows before `low` begin at or before the address */
        size_t middle = low + (high - low) / 2;
        if (starts_row(f, middle) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool function_starts_find(const struct function_starts *f, uint64_t address, uint64_t *begin)
{
    size_t n = starts_before(f, address);
    if (n == 0)
        return false;
    *begin = starts_row(f, n - 1);
    return true;
}

bool function_starts_range(const struct function_starts *f, uint64_t address, uint64_t *begin, uint64_t *end)
{
    size_t n = starts_before(f, address);
    if (n == 0 || n == f->n)
        return false;
    *begin = starts_row(f, n - 1);
    *end = starts_row(f, n);
    return *end > address;
}
