/* SPDX-License-Identifier: MIT */
/* Fuzz target: an ELF file with symbols and DWARF, and addresses looked up in it. The last 8 bytes are an address. */
#include <stdlib.h>
#include <string.h>

#include "base/text/textbuf.h"
#include "fuzz.h"
#include "symbols/symbols.h"

static void look_up(struct symbols *s, uint32_t module, uint64_t address)
{
    struct symbol_frame frames[16];
    struct symbol_code code;
    uint64_t begin, end;

    int n = symbols_find(s, module, address, frames, sizeof frames / sizeof frames[0]);
    for (int i = 0; i < n; i++)
        (void)symbols_is_wrapper(s, &frames[i], "module");
    (void)symbols_code(s, module, address, &code);
    (void)symbols_range(s, module, address, &begin, &end);
    (void)symbols_tail_caller(s, module, address, frames);
    (void)symbols_passes_on(s, module, address);
}

static void look_up_variable(struct symbols *s, uint32_t module, uint64_t address)
{
    struct textbuf path = {0};

    (void)symbols_variable(s, module, address, &path);
    textbuf_free(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct symbols *s;
    uint64_t address;
    uint32_t module;

    if (size < sizeof address)
        return -1;
    memcpy(&address, data + size - sizeof address, sizeof address);
    const char *path = fuzz_file("module", data, size);
    if (symbols_open(&s, fuzz_folder()) != 0)
        return 0;
    if (symbols_module(s, path, "", &module) == 0)
        for (uint64_t a = 0x1000; a <= 0x1400; a += 0x40) { /* the code of the seeds */
            look_up(s, module, a);
            look_up(s, module, address);
            look_up_variable(s, module, 0x4000 + (a & 0xfff)); /* and their data */
            look_up_variable(s, module, address);
        }
    symbols_close(s);
    return 0;
}
