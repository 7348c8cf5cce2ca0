/* SPDX-License-Identifier: MIT */
/* Fuzz target: the map of functions that a JIT compiler writes for perf, kept in a recording and read from there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "symbols/jit_map.h"
#include "upmu/upmu.h"

static void find_some(struct jit_map *map, const char *folder, pid_t pid, size_t size)
{
    static const uint64_t addresses[] = {0, 1, 0x1000, 0x7f0000001000, UINT64_MAX};
    memset(map, 0, sizeof *map);
    if (jit_map_read(map, folder, pid, 0) == 0)
        for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
            const struct jit_name *name = jit_map_find(map, addresses[i]);
            if (name && strlen(name->name) > size)
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const pid_t pid = getpid();
    char of_compiler[64], kept[128];
    struct jit_map map, again;

    snprintf(of_compiler, sizeof of_compiler, "/tmp/perf-%ld.map", (long)pid);
    snprintf(kept, sizeof kept, "%s/jit.map", fuzz_folder());
    (void)unlink(kept);
    fuzz_write(of_compiler, data, size);
    find_some(&map, fuzz_folder(), pid, size); /* the compiler's own */
    if (jit_map_keep(fuzz_folder(), pid, 0) < 0)
        abort();
    /* A kept one is not replaced; what a map of no bytes leaves is none. */
    if (access(kept, F_OK) == 0 && jit_map_keep(fuzz_folder(), pid, 0) != UPMU_E_IO)
        abort();
    (void)unlink(of_compiler);
    find_some(&again, fuzz_folder(), pid, size);
    if (again.n != map.n)
        abort();
    jit_map_free(&map);
    jit_map_free(&again);
    find_some(&map, "/nowhere", pid, size);
    jit_map_free(&map);
    return 0;
}
