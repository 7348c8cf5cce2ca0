/* SPDX-License-Identifier: MIT */
/* Fuzz target: the map of functions that a JIT compiler writes for perf. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "symbols/jit_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t addresses[] = {0, 1, 0x1000, 0x7f0000001000, UINT64_MAX};
    struct jit_map map;

    (void)fuzz_file("jit.map", data, size);
    memset(&map, 0, sizeof map);
    if (jit_map_read(&map, fuzz_folder(), 1, 0) == 0)
        for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
            const struct jit_name *name = jit_map_find(&map, addresses[i]);
            if (name && strlen(name->name) > size)
                abort();
        }
    jit_map_free(&map);
    return 0;
}
