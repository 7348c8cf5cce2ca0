/* SPDX-License-Identifier: MIT */
/* Fuzz target: the text of /proc/cpuinfo, parsed, and the CPU matched with an event table. */
#include <stdlib.h>

#include "core/arch_ops.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct arch_cpu cpu;

    if (arch_cpu_parse(text, &cpu) == 0 && !arch_family_of(&cpu))
        abort(); /* an unknown CPU has the generic table */
    free(text);
    return 0;
}
