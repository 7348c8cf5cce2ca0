/* SPDX-License-Identifier: MIT */
/* Fuzz target: the map of functions that a JIT compiler writes for perf, kept in a recording and read from there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "symbols/jit_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t addresses[] = {0, 1, 0x1000, 0x7f0000001000, UINT64_MAX};
    const pid_t pid = getpid();
    char of_compiler[64], kept[128];
    struct jit_map map;

    snprintf(of_compiler, sizeof of_compiler, "/tmp/perf-%ld.map", (long)pid);
    snprintf(kept, sizeof kept, "%s/jit.map", fuzz_folder());
    (void)unlink(kept);
    fuzz_write(of_compiler, data, size);
    int rc = jit_map_keep(fuzz_folder(), pid, 0);
    (void)unlink(of_compiler);
    if (rc < 0)
        abort();
    memset(&map, 0, sizeof map);
    if (jit_map_read(&map, fuzz_folder(), pid, 0) == 0)
        for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
            const struct jit_name *name = jit_map_find(&map, addresses[i]);
            if (name && strlen(name->name) > size)
                abort();
        }
    jit_map_free(&map);
    return 0;
}
