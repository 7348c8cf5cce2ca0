/* SPDX-License-Identifier: MIT */
/** @file Modules noted in a process's file of recorded functions. */
#ifndef UPMU_FUNC_NOTES_H
#define UPMU_FUNC_NOTES_H

#include <stdbool.h>

#include "func/format/layout.h"

struct func_module {
    uint64_t base, start, end;
    const char *build_id, *path; /**< in the file */
    uint32_t gone;
};

struct func_modules {
    struct func_module *module;
    size_t n, cap;
};

/** Read the notes of a mapped file of `bytes` bytes, as far as they are valid. @return false without memory. */
bool func_modules_read(struct func_modules *m, const struct func_process_header *h, size_t bytes);
/** The module of a function as a node has it, or NULL. */
const struct func_module *func_modules_find(const struct func_modules *m, uint64_t function);
void func_modules_free(struct func_modules *m);

#endif
