/* SPDX-License-Identifier: MIT */
/*
 * Locks of LLVM's runtime, which are not those of the program.
 *
 * Its threads sleep on POSIX mutexes and condition variables, which libupmu_sync would record as the program's. The runtime's
 * file gets the C library's functions in its own table of imports, so that no lock of the program pays for a comparison.
 */
#include "openmp/quiet.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/lib-names.h>
#else
#define LIBC_SO "libc.so"
#endif

/* Of libupmu_sync, if it is there. */
extern uint32_t upmu_sync_stack_(uint64_t tick, uintptr_t site) __attribute__((weak));

#if defined(__x86_64__)
#define IS_IMPORT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_IMPORT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#elif defined(__riscv)
#define IS_IMPORT(type) ((type) == R_RISCV_JUMP_SLOT || (type) == R_RISCV_64)
#else
#define IS_IMPORT(type) false /* the locks of the runtime are recorded */
#endif

/* Tables of a loaded file. */
struct quiet_file {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *strings;
    void *libc;
    uintptr_t protected_begin, protected_end; /* imports that are read-only since the file was loaded */
};

/* The dynamic linker has made the addresses in the dynamic section absolute on most ISAs, but not on all. */
static uintptr_t quiet_address(const struct link_map *map, ElfW(Addr) value)
{
    return value < map->l_addr ? map->l_addr + value : value;
}

static bool quiet_is_lock(const char *name)
{
    return strncmp(name, "pthread_mutex_", strlen("pthread_mutex_")) == 0 ||
           strncmp(name, "pthread_cond_", strlen("pthread_cond_")) == 0 || strcmp(name, "syscall") == 0;
}

/* Where the file's imports are read-only they become so again; the page stays readable meanwhile. Other threads see one of both
 * addresses. */
static void quiet_store(const struct quiet_file *f, uintptr_t slot, uintptr_t function)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = slot & ~(page - 1);
    bool is_protected = slot >= f->protected_begin && slot < f->protected_end;
    if (is_protected && mprotect((void *)begin, page, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n((uintptr_t *)slot, function, __ATOMIC_RELEASE);
    if (is_protected)
        (void)mprotect((void *)begin, page,
                       PROT_READ); /* if that fails the page stays writable, as without protection */
}

static void quiet_imports(const struct quiet_file *f, uintptr_t at, size_t bytes)
{
    const ElfW(Rela) *r = (const ElfW(Rela) *)at;
    for (size_t i = 0; at && i < bytes / sizeof *r; i++) {
        if (sizeof(r->r_info) != sizeof(uint64_t) || !IS_IMPORT(ELF64_R_TYPE(r[i].r_info)))
            continue;
        const char *name = f->strings + f->symbols[ELF64_R_SYM(r[i].r_info)].st_name;
        void *function = quiet_is_lock(name) ? dlsym(f->libc, name) : NULL;
        if (function)
            quiet_store(f, f->base + r[i].r_offset, (uintptr_t)function);
    }
}

/* The dynamic linker protects whole pages. */
static void quiet_find_protected(struct quiet_file *f, const ElfW(Ehdr) * head)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const ElfW(Phdr) *p = (const ElfW(Phdr) *)((const char *)head + head->e_phoff);
    for (int i = 0; i < head->e_phnum; i++) {
        if (p[i].p_type != PT_GNU_RELRO)
            continue;
        f->protected_begin = (f->base + p[i].p_vaddr) & ~(page - 1);
        f->protected_end = (f->base + p[i].p_vaddr + p[i].p_memsz) & ~(page - 1);
    }
}

static void quiet_file(const struct link_map *map, const void *head, void *libc)
{
    struct quiet_file f = {.base = map->l_addr, .libc = libc};
    uintptr_t jump = 0, rela = 0;
    size_t jump_bytes = 0, rela_bytes = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            f.symbols = (const ElfW(Sym) *)quiet_address(map, d->d_un.d_ptr);
            break;
        case DT_STRTAB:
            f.strings = (const char *)quiet_address(map, d->d_un.d_ptr);
            break;
        case DT_JMPREL:
            jump = quiet_address(map, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            jump_bytes = d->d_un.d_val;
            break;
        case DT_RELA:
            rela = quiet_address(map, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            rela_bytes = d->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (!f.symbols || !f.strings)
        return;
    quiet_find_protected(&f, head);
    quiet_imports(&f, jump, jump_bytes);
    quiet_imports(&f, rela, rela_bytes);
}

void omp_quiet(const void *address)
{
    Dl_info info;
    void *extra = NULL;
    int saved = errno;
    void *libc = upmu_sync_stack_ ? dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    /* A program that contains the runtime has one table for both. */
    if (libc && dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) && extra && *((const struct link_map *)extra)->l_name)
        quiet_file(extra, info.dli_fbase, libc);
    if (libc)
        dlclose(libc);
    errno = saved;
}
