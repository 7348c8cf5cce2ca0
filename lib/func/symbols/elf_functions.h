/* SPDX-License-Identifier: MIT */
/** @file Functions of an ELF file's symbol table, without elfutils. */
#ifndef UPMU_FUNC_ELF_FUNCTIONS_H
#define UPMU_FUNC_ELF_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_function {
    uint64_t address, size;
    const char *name; /**< in the mapped file, with a NUL */
};

struct elf_functions {
    void *file;
    size_t bytes;
    struct elf_function *rows; /**< sorted by address */
    size_t n;
};

/** Read .symtab, or .dynsym if there is none. Without either there are none. @return 0; UPMU_E_NOMEM. */
int elf_functions_read(struct elf_functions *f, const char *path);
/** Map the file only, for elf_functions_name(). Allocates nothing. */
void elf_functions_map(struct elf_functions *f, const char *path);
/** Name of the function that covers an address of a mapped file, by a search through its symbol table; NULL. Async-signal-safe. */
const char *elf_functions_name(const struct elf_functions *f, uint64_t address);
/** Address and size of a loaded section of a mapped file. @return false if no section has that name. */
bool elf_functions_section(const struct elf_functions *f, const char *name, uint64_t *address, uint64_t *bytes);
/** Contents of a section of a mapped file; NULL if there is none, or it is compressed. */
const void *elf_functions_contents(const struct elf_functions *f, const char *name, size_t *bytes);
/** The function that covers an address of the file, or NULL. */
const struct elf_function *elf_functions_find(const struct elf_functions *f, uint64_t address);
void elf_functions_free(struct elf_functions *f);

#endif
