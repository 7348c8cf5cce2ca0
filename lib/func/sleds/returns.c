/* SPDX-License-Identifier: MIT */
/*
 * Replaced return addresses.
 *
 * The original of the return address at an address A of the stack is in a shadow of the 64 MiB around it: at the same offset, in
 * memory of which only the pages that are used exist. The shadows' addresses are in a table at a fixed address, so that an
 * expression in the unwind tables can read them without any symbol. An original is stored before its address is replaced, and is
 * never removed: the next call at the same place replaces it.
 */
#include "func/sleds/returns.h"

#if FUNC_HAS_RETURNS

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "func/state.h"

/* Two of these numbers are in FUNC_RETURNS_EXPRESSION, too. */
enum { SHADOW_BITS = 26, ADDRESS_BITS = 48 };
#define SHADOW_BYTES ((size_t)1 << SHADOW_BITS)
#define ROOT_ENTRIES ((size_t)1 << (ADDRESS_BITS - SHADOW_BITS))
#define ROOT ((char **)FUNC_RETURNS_ROOT)

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static uintptr_t replaced_by; /* 0: not started */

static char *returns_map(void *at, size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (at && p != at) { /* a kernel before 4.17 takes the address as a hint */
        munmap(p, bytes);
        return NULL;
    }
    (void)madvise(p, bytes, MADV_DONTDUMP);
    return p;
}

/* A shadow stack has the original, with which the processor compares the replaced one. */
static bool returns_has_shadow_stack(void)
{
    enum { ENABLED = 1 };
    unsigned long features = 0;
#if defined(__x86_64__)
    enum { ARCH_SHSTK_STATUS = 0x5005 };
    return syscall(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features) == 0 && (features & ENABLED);
#else
    enum { GET_SHADOW_STACK_STATUS = 74 };
    return prctl(GET_SHADOW_STACK_STATUS, &features, 0, 0, 0) == 0 && (features & ENABLED);
#endif
}

/* The unwinder of gcc distinguishes frames by their CFA: that of a frame without bytes is the CFA of its caller, too. It needs an entry
 * of its own, of a frame of a signal, which has another one; other unwinders would look for a signal's registers. The address
 * before the original is taken as it is in such an entry. */
static struct gcc_entry {
    uint32_t cie_bytes, cie_id;
    unsigned char cie[48];
    uint32_t fde_bytes, fde_cie; /* back to the CIE */
    uint64_t begin, range;
    unsigned char fde[8];
    uint32_t end;
} gcc_entry = {
    .cie_bytes = sizeof gcc_entry.cie + sizeof gcc_entry.cie_id,
    .cie = {1,    'z',
            'R',  'S',
            0,    1,
            0x78, FUNC_RETURNS_ADDRESS,
            1,    0, /* version to augmentation */
            0x0c, FUNC_RETURNS_STACK,
            0, /* CFA: stack pointer + 0 */
            0x16, FUNC_RETURNS_ADDRESS,
            30,   FUNC_RETURNS_EXPRESSION,
            0x06, 0x31,
            0x1c}, /* read, less 1 */
    .fde_bytes = sizeof gcc_entry.fde_cie + sizeof gcc_entry.begin + sizeof gcc_entry.range + sizeof gcc_entry.fde,
    .fde_cie = offsetof(struct gcc_entry, fde_cie),
    .range = 1,
};

/* By the C library's own dlopen(): that of open.c looks for sleds, which happens right now. */
static void returns_register(void)
{
    void *(*real_dlopen)(const char *, int);
    void (*registers)(void *);
    void *address = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&real_dlopen, &address, sizeof real_dlopen);
    void *gcc = address ? real_dlopen("libgcc_s.so.1", RTLD_LAZY) : NULL;
    void *symbol = gcc ? dlsym(gcc, "__register_frame") : NULL;
    memcpy(&registers, &symbol, sizeof registers);
    gcc_entry.begin = replaced_by - 1;
    if (symbol)
        registers(&gcc_entry);
}

int func_returns_start(void (*replacement)(void), const char *what)
{
    if (replaced_by)
        return 0;
    if (returns_has_shadow_stack())
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "%s are not recorded: the program has a shadow stack. Use -finstrument-functions", what);
    if (!returns_map(ROOT, ROOT_ENTRIES * sizeof *ROOT))
        return upmu_fail(UPMU_E_NOMEM, "%s are not recorded: no memory at 0x%llx", what,
                         (unsigned long long)(uintptr_t)ROOT);
    replaced_by = (uintptr_t)replacement;
    returns_register();
    return 0;
}

/* A copy of gcc's unwinder in the module itself has no entry for replaced return addresses: it would end the program. */
int func_returns_check(const struct elf_functions *file, const char *path, const char *what)
{
    for (size_t i = 0; i < file->n; i++)
        if (strcmp(file->rows[i].name, "_Unwind_RaiseException") == 0)
            return upmu_fail(UPMU_E_UNSUPPORTED,
                             "%s are not recorded: %s has libgcc in itself. Link it without -static-libgcc and -static",
                             what, path);
    return 0;
}

static uint64_t *returns_place(char *shadow, const uint64_t *slot)
{
    return (uint64_t *)(void *)(shadow + ((uintptr_t)slot & (SHADOW_BYTES - 1)));
}

/* @return false without memory */
static bool returns_make_shadow(const uint64_t *slot)
{
    size_t i = (uintptr_t)slot >> SHADOW_BITS;
    if (i >= ROOT_ENTRIES)
        return false;
    char *none = NULL;
    if (__atomic_load_n(&ROOT[i], __ATOMIC_ACQUIRE))
        return true;
    int saved = errno;
    char *made = returns_map(NULL, SHADOW_BYTES);
    if (made && !__atomic_compare_exchange_n(&ROOT[i], &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        munmap(made, SHADOW_BYTES);
    errno = saved;
    return made != NULL;
}

FUNC_PLAIN uint64_t func_returns_original(const uint64_t *slot)
{
    return *returns_place(__atomic_load_n(&ROOT[(uintptr_t)slot >> SHADOW_BITS], __ATOMIC_ACQUIRE), slot);
}

FUNC_PLAIN uint64_t func_returns_to(const uint64_t *slot, uint64_t address)
{
    return LIKELY(address != replaced_by) ? address : func_returns_original(slot);
}

FUNC_PLAIN bool func_returns_replace_known(uint64_t *slot, uint64_t original)
{
    size_t i = (uintptr_t)slot >> SHADOW_BITS;
    char *shadow = i < ROOT_ENTRIES ? __atomic_load_n(&ROOT[i], __ATOMIC_ACQUIRE) : NULL;
    if (UNLIKELY(!shadow))
        return false;
    *returns_place(shadow, slot) = original;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#if defined(__x86_64__)
    __atomic_store_n(slot, replaced_by, __ATOMIC_RELAXED);
#endif
    return true;
}

FUNC_PLAIN bool func_returns_replace(uint64_t *slot, uint64_t original)
{
    return returns_make_shadow(slot) && func_returns_replace_known(slot, original);
}

#endif
