/* SPDX-License-Identifier: MIT */
/** @file Instructions of a file, as objdump prints them. */
#ifndef UPMU_TOOL_OBJDUMP_H
#define UPMU_TOOL_OBJDUMP_H

#include <stddef.h>
#include <stdint.h>

struct objdump_line {
    uint64_t address;
    char *text;   /**< the instruction; of a label its name */
    int is_label; /**< "name:" before the instruction at the address */
};

struct objdump {
    struct objdump_line *lines;
    size_t n;
};

/** Disassemble addresses `begin` to `end` of the ELF file `path` by the objdump in PATH, within 60 seconds and 64 MiB of output.
 *  @return NULL, or why there are no instructions, which is to be freed. */
char *objdump_read(struct objdump *d, const char *path, uint64_t begin, uint64_t end);
void objdump_free(struct objdump *d);

#endif
