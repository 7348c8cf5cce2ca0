/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Absolute path of a module that was loaded by a relative one.
 *
 * The dynamic linker keeps the path that dlopen() got, or that a relative search path gave, and the program may have changed its
 * working directory since. The kernel has the absolute one. Async-signal-safe.
 */
#ifndef UPMU_BASE_MODULE_PATH_H
#define UPMU_BASE_MODULE_PATH_H

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/private_table.h"

struct module_path {
    const struct dl_phdr_info *info;
    bool (*is_filtered)(void); /**< whether a filter of system calls may end the process for those made here */
    char text[2 * PATH_MAX];   /**< "": not found */
};

static inline char *module_path_hex(char *out, uintptr_t n)
{
    enum { DIGIT = 4 };
    unsigned shift = 0;
    while (n >> shift >> DIGIT != 0)
        shift += DIGIT;
    for (;; shift -= DIGIT) {
        *out++ = "0123456789abcdef"[n >> shift & 15];
        if (shift == 0)
            return out;
    }
}

/** The path of the file that is mapped from `from` to `to`, whole pages. @return false: they are not those of one mapping. */
static inline bool module_path_mapped(struct module_path *p, uintptr_t from, uintptr_t to)
{
    static const char folder[] = "/proc/self/map_files/", gone[] = " (deleted)";
    char name[sizeof folder + 4 * sizeof from + 1];
    memcpy(name, folder, sizeof folder);
    char *end = module_path_hex(name + sizeof folder - 1, from);
    *end++ = '-';
    *module_path_hex(end, to) = '\0';
    long n = syscall(SYS_readlinkat, AT_FDCWD, name, p->text, sizeof p->text - 1);
    size_t length = n > 0 ? (size_t)n : 0, suffix = sizeof gone - 1;
    if (length > suffix && memcmp(p->text + length - suffix, gone, suffix) == 0)
        length -= suffix;
    p->text[length] = '\0';
    return p->text[0] == '/';
}

/** By the present working directory. */
static inline void module_path_join(struct module_path *p)
{
    long bytes = syscall(SYS_getcwd, p->text, PATH_MAX); /* with the zero; the function may allocate */
    size_t n = strlen(p->info->dlpi_name) + 1;
    if (bytes > 0 && p->text[0] == '/' && (size_t)bytes + n <= sizeof p->text) {
        p->text[bytes - 1] = '/';
        memcpy(p->text + bytes, p->info->dlpi_name, n);
    } else {
        p->text[0] = '\0';
    }
}

/** For private_table_run(). */
static inline int module_path_read(void *path)
{
    struct module_path *p = path;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool found = false;
    if (p->is_filtered())
        return 0;
    for (int i = 0; !found && i < p->info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &p->info->dlpi_phdr[i];
        uintptr_t from = p->info->dlpi_addr + segment->p_vaddr, to = from + segment->p_filesz;
        if (segment->p_type == PT_LOAD && segment->p_filesz > 0)
            found = module_path_mapped(p, from / page * page, (to + page - 1) / page * page);
    }
    if (!found)
        module_path_join(p);
    return 0;
}

/** The path of `p->info`, absolute unless a filter forbids to ask. "" for the program, and a name alone for what has no file. Valid
 *  as long as `p`. Keeps errno. */
static inline const char *module_path_find(struct module_path *p)
{
    const char *name = p->info->dlpi_name ? p->info->dlpi_name : "";
    p->text[0] = '\0';
    if (name[0] == '/' || !strchr(name, '/'))
        return name;
    return private_table_run(module_path_read, p) == 0 && p->text[0] ? p->text : name;
}

#endif
