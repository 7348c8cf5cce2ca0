/* SPDX-License-Identifier: MIT */
/*
 * Locks of LLVM's runtime, which are not those of the program.
 *
 * Its threads sleep on POSIX mutexes and condition variables, which libupmu_sync would record as the program's. The runtime's
 * file gets the C library's functions in its own table of imports, so that no lock of the program pays for a comparison.
 */
#include "openmp/quiet.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/elf/imports.h"
#include "base/process/loaded_module.h"

#ifdef __GLIBC__
#include <gnu/lib-names.h>
#else
#define LIBC_SO "libc.so"
#endif

/* Of libupmu_sync, if it is there. */
extern uint32_t upmu_sync_stack_(uint64_t tick, uintptr_t site, const void *frame) __attribute__((weak));

/* What is looked for, and the C library. */
struct quiet_search {
    uintptr_t address;
    void *libc;
    struct dl_phdr_info found; /* without a name: nothing */
};

static bool quiet_is_lock(const char *name)
{
    return strncmp(name, "pthread_mutex_", strlen("pthread_mutex_")) == 0 ||
           strncmp(name, "pthread_cond_", strlen("pthread_cond_")) == 0 || strcmp(name, "syscall") == 0;
}

static int quiet_import(const struct dl_phdr_info *info, const struct import *i, void *arg)
{
    const struct quiet_search *q = arg;
    void *function = quiet_is_lock(i->name) ? dlsym(q->libc, i->name) : NULL;
    if (function)
        (void)import_store(info, i, (uintptr_t)function); /* else it is recorded */
    return 0;
}

/* A program that contains the runtime has one table for both, and no name. */
static int quiet_find(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct quiet_search *q = arg;
    uint64_t start, end;
    (void)size;
    if (!loaded_module_extent(info, &start, &end) || q->address < start || q->address >= end)
        return 0;
    if (info->dlpi_name && info->dlpi_name[0])
        q->found = *info;
    return 1;
}

void omp_quiet(const void *address)
{
    int saved = errno;
    struct quiet_search q = {.address = (uintptr_t)address};
    q.libc = upmu_sync_stack_ ? dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (q.libc && dl_iterate_phdr(quiet_find, &q) && q.found.dlpi_name)
        (void)imports_each(&q.found, quiet_import, &q); /* outside of the loader's lock, as dlsym() takes another one */
    if (q.libc)
        dlclose(q.libc);
    errno = saved;
}
