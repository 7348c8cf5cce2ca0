/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: an ELF file with symbols and DWARF, and addresses looked up in it. The last 8 bytes are an address. The file is also the separate
 * debug file "debug" beside it, as its link may name it, and once more read as a module of another build-id.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text/textbuf.h"
#include "fuzz.h"
#include "symbols/symbols.h"

static void look_up_frames(struct symbols *s, uint32_t module, uint64_t address)
{
    struct symbol_frame frames[16];

    int n = symbols_find(s, module, address, frames, sizeof frames / sizeof frames[0]);
    for (int i = 0; i < n; i++)
        (void)symbols_is_wrapper(s, &frames[i], "module");
    (void)symbols_tail_caller(s, module, address, frames);
}

static void look_up(struct symbols *s, uint32_t module, uint64_t address)
{
    struct symbol_code code;
    uint64_t begin, end;

    look_up_frames(s, module, address);
    (void)symbols_code(s, module, address, &code);
    (void)symbols_range(s, module, address, &begin, &end);
    (void)symbols_passes_on(s, module, address);
}

static void look_up_variable(struct symbols *s, uint32_t module, uint64_t address)
{
    struct textbuf path = {0};
    bool is_bytes;

    (void)symbols_variable(s, module, address, &path, &is_bytes);
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
    (void)fuzz_file("debug", data, size);
    const char *path = fuzz_file("module", data, size);
    if (symbols_open(&s, fuzz_folder()) != 0)
        return 0;
    if (symbols_module(s, path, "", &module) == 0)
        for (uint64_t a = 0x1000; a <= 0x1100; a += 8) { /* the code of the seeds */
            look_up(s, module, a);
            for (uint64_t within = 1; within < 8; within++) /* calls that are inlined, or return here */
                look_up_frames(s, module, a + within);
            look_up_variable(s, module, 0x4000 + 4 * (a & 0xfff)); /* and their data */
        }
    look_up(s, module, address);
    look_up_variable(s, module, address);
    if (symbols_module(s, path, "0123456789abcdef0123456789abcdef01234567", &module) == 0)
        look_up(s, module, address);
    symbols_close(s);
    return 0;
}
