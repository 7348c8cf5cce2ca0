/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions that were built without hooks, recorded by stubs in place of their imports.
 *
 * A module calls functions of others through words with their addresses, one for each function. Those of functions that were named become
 * the addresses of stubs, which record the call and continue in the function; its return address is replaced on the stack, as that of
 * functions with a patchable entry is (returns.c). So any function can be recorded, whatever its arguments are. Calls within a module,
 * and by addresses that the program has looked up itself, do not use these words.
 */
#include "func/sleds/wraps.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/elf/imports.h"
#include "base/error.h"
#include "base/process/loaded_module.h"
#include "base/map.h"
#include "base/process/variables.h"
#include "func/format/switch.h"
#include "func/select.h"
#include "func/sleds/calls.h"
#include "func/sleds/returns.h"

#if FUNC_HAS_RETURNS

enum { STUB_TARGET = 24, STUB_HANDLER = 32, WRAP_STUB_BYTES = 48 };

#define WRAPPED "calls of functions without hooks"

struct wrap {
    uint64_t target, stub;
};

/* An import to be replaced. */
struct wrap_slot {
    size_t module;
    struct import import;
    uint64_t target;
};

static struct {
    char *patterns; /* NULL: none */
    bool on;
    pid_t owner;    /* the process whose thread uses the rest */
    uint32_t again; /* a module was loaded meanwhile */
    struct wrap *all;
    size_t n, cap;
    uint64_t *searched; /* hashes of modules */
    size_t n_searched, cap_searched;
} wraps;

/* One search of the modules that were loaded since the last one. */
struct wraps_search {
    struct dl_phdr_info *modules;
    uint64_t *present; /* hashes of all loaded modules */
    struct wrap_slot *slots;
    size_t n_modules, cap_modules, n_present, cap_present, n_slots, cap_slots;
    size_t module; /* that is searched */
    char *pages;   /* of the stubs */
    size_t n_stubs;
    int rc;
};

static int wraps_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory for " WRAPPED);
}

/* -------------------------------------------------------------------------------------------------------- imports */

/* Functions that return twice, look at their caller, never return, or have a calling convention of their own. */
static bool wraps_may_not(const char *name)
{
    static const char *const never[] = {
        "vfork",   "getcontext",     "swapcontext", "dlopen",   "dlmopen",           "dlsym",      "dlvsym", "mcount",
        "_mcount", "__tls_get_addr", "_dl_",        "_Unwind_", "__libc_start_main", "__fentry__", "__cyg_"};
    if (strstr(name, "jmp"))
        return true;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        size_t n = strlen(never[i]);
        if (strncmp(name, never[i], n) == 0 && (!name[n] || never[i][n - 1] == '_'))
            return true;
    }
    return false;
}

static bool wraps_is_named_like(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0;
}

static bool wraps_is_ours(const char *path)
{
    return wraps_is_named_like(path, "libupmu");
}

/* A library that unwinds for others: it calls malloc() while it walks through replaced return addresses. It is no copy of one in a
 * module, which func_returns_check() refuses. */
static bool wraps_is_unwinder(const char *path)
{
    return wraps_is_named_like(path, "libgcc_s.so") || wraps_is_named_like(path, "libunwind.so");
}

/* The C library's own dlopen(): that of open.c searches, which happens right now. */
static void *wraps_hold(const char *name)
{
    static void *(*real)(const char *, int);
    if (!real)
        *(void **)(void *)&real = dlsym(RTLD_NEXT, "dlopen");
    return real ? real(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static void *wraps_symbol(void *handle, const struct import *i)
{
    void *found = i->version ? dlvsym(handle, i->name, i->version) : NULL;
    return found ? found : dlsym(handle, i->name);
}

/* A program at fixed addresses may have a piece of its own code as the address of a function that it imports: dlsym() finds that one. */
static bool wraps_is_piece(const void *address)
{
    Dl_info of;
    const ElfW(Sym) *symbol = NULL;
    return address && dladdr1(address, &of, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol &&
           symbol->st_shndx == SHN_UNDEF;
}

/* What the new modules, and the libraries that they need, have for an import. */
static void *wraps_library_symbol(const struct wraps_search *s, const struct import *i)
{
    void *found = NULL;
    for (size_t k = 0; k < s->n_modules && !found; k++) {
        const char *name = s->modules[k].dlpi_name;
        void *handle = name && name[0] ? wraps_hold(name) : NULL;
        if (!handle)
            continue;
        found = wraps_symbol(handle, i);
        dlclose(handle);
    }
    return found;
}

/* The function that the import stands for. Its word has the address of a piece of code in the module itself until the dynamic linker
 * looks up the function, at its first call. */
static uint64_t wraps_target(const struct wraps_search *s, const struct dl_phdr_info *info, const struct import *i)
{
    uint64_t start, end, value = __atomic_load_n((const uintptr_t *)i->slot, __ATOMIC_ACQUIRE);
    bool inside = loaded_module_extent(info, &start, &end) && value >= start && value < end;
    if (!inside || value == i->own)
        return value;
    void *found = wraps_symbol(RTLD_DEFAULT, i);
    return (uintptr_t)(wraps_is_piece(found) ? wraps_library_symbol(s, i) : found);
}

static bool wraps_are_stubs(uint64_t address)
{
    size_t i = 0;
    while (i < wraps.n && wraps.all[i].stub != address)
        i++;
    return i < wraps.n;
}

static int wraps_import(const struct dl_phdr_info *info, const struct import *i, void *arg)
{
    struct wraps_search *s = arg;
    Dl_info of;
    if (!func_patterns_match(wraps.patterns, &(struct func_names){.name = i->name}) || wraps_may_not(i->name))
        return 0;
    uint64_t target = wraps_target(s, info, i);
    if (!target || wraps_are_stubs(target) || !dladdr((const void *)(uintptr_t)target, &of) || !of.dli_fname ||
        wraps_is_ours(of.dli_fname) ||
        !func_patterns_match(wraps.patterns, &(struct func_names){of.dli_fname, i->name, NULL}))
        return 0;
    struct wrap_slot *slots = array_reserve(s->slots, s->n_slots, &s->cap_slots, sizeof *slots);
    if (!slots)
        return s->rc = wraps_no_memory();
    s->slots = slots;
    slots[s->n_slots++] = (struct wrap_slot){.module = s->module, .import = *i, .target = target};
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- modules */

static uint64_t wraps_hash(const struct dl_phdr_info *info)
{
    uint64_t h = info->dlpi_addr * 31 + (uintptr_t)info->dlpi_phdr;
    for (const char *p = info->dlpi_name; p && *p; p++)
        h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    return h;
}

static bool wraps_have_searched(uint64_t hash)
{
    size_t i = 0;
    while (i < wraps.n_searched && wraps.searched[i] != hash)
        i++;
    return i < wraps.n_searched;
}

static int wraps_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct wraps_search *s = arg;
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    uint64_t hash = wraps_hash(info);
    (void)size;
    if (wraps_is_ours(name) || wraps_is_unwinder(name) || (name[0] && !strchr(name, '/')))
        return 0;
    uint64_t *present = array_reserve(s->present, s->n_present, &s->cap_present, sizeof *present);
    struct dl_phdr_info *modules = array_reserve(s->modules, s->n_modules, &s->cap_modules, sizeof *modules);
    s->present = present ? present : s->present;
    s->modules = modules ? modules : s->modules;
    if (!present || !modules)
        return s->rc = wraps_no_memory();
    present[s->n_present++] = hash;
    if (!wraps_have_searched(hash))
        modules[s->n_modules++] = *info;
    return 0;
}

static int wraps_check_unwinder(const char *path)
{
    struct elf_functions file;
    int rc = elf_functions_read(&file, path);
    if (rc == 0)
        rc = func_returns_check(&file, path, WRAPPED);
    elf_functions_free(&file);
    return rc;
}

/* What a thread unloads between the two looks is not held, or is at another address. */
static void wraps_search_modules(struct wraps_search *s, void **holds)
{
    for (size_t i = 0; i < s->n_modules && s->rc == 0; i++) {
        const struct dl_phdr_info *info = &s->modules[i];
        struct link_map *map = NULL;
        bool is_program = !info->dlpi_name || !info->dlpi_name[0];
        holds[i] = is_program ? NULL : wraps_hold(info->dlpi_name);
        if (!is_program &&
            (!holds[i] || dlinfo(holds[i], RTLD_DI_LINKMAP, &map) != 0 || map->l_addr != info->dlpi_addr))
            continue;
        size_t before = s->n_slots;
        s->module = i;
        (void)imports_each(info, wraps_import, s);
        if (s->rc == 0 && s->n_slots > before)
            s->rc = wraps_check_unwinder(is_program ? "/proc/self/exe" : info->dlpi_name);
    }
}

/* ---------------------------------------------------------------------------------------------------------- stubs */

/* The code of a stub: the address of the word with the function's, and a jump to the handler, in registers that a call may change, as the
 * linker's own stubs do. */
#if defined(__x86_64__)
static const unsigned char wraps_code[] = {
    0xf3,
    0x0f,
    0x1e,
    0xfa, /* endbr64 */
    0x4c,
    0x8d,
    0x1d,
    STUB_TARGET - 11,
    0,
    0,
    0, /* lea target(%rip), %r11: to 11 */
    0xff,
    0x25,
    STUB_HANDLER - 17,
    0,
    0,
    0, /* jmp *handler(%rip): to 17 */
};
#elif defined(__aarch64__)
static const uint32_t wraps_code[] = {
    0x10000010 | (uint32_t)STUB_TARGET / 4 << 5,        /* adr x16, target */
    0x58000011 | (uint32_t)(STUB_HANDLER - 4) / 4 << 5, /* ldr x17, handler: at 4 */
    0xd61f0220,                                         /* br x17 */
};
#elif defined(__loongarch64)
static const uint32_t wraps_code[] = {
    0x1c00000c,                                /* pcaddu12i $t0, 0 */
    0x28c0018d | (uint32_t)STUB_HANDLER << 10, /* ld.d $t1, $t0, handler */
    0x02c0018c | (uint32_t)STUB_TARGET << 10,  /* addi.d $t0, $t0, target */
    0x4c0001a0,                                /* jr $t1 */
};
#elif defined(__mips64)
static const uint32_t wraps_code[] = {
    /* $t9 has the address of what is called, for the handler, too */
    0x67380000 | STUB_TARGET,  /* daddiu $t8, $t9, target */
    0xdf390000 | STUB_HANDLER, /* ld $t9, handler($t9) */
    0x03200008,                /* jr $t9 */
    0,                         /* nop, in its delay slot */
};
#else
static const uint32_t wraps_code[] = {
    0x00000317,                                /* auipc t1, 0 */
    0x00033e03 | (uint32_t)STUB_HANDLER << 20, /* ld t3, handler(t1) */
    0x00030313 | (uint32_t)STUB_TARGET << 20,  /* addi t1, t1, target */
    0x000e0067,                                /* jr t3 */
};
#endif
_Static_assert(sizeof wraps_code <= STUB_TARGET, "the word with the function's address follows");

static void wraps_fill(char *stub, uint64_t target)
{
    const uint64_t handler = (uintptr_t)sled_wrapped;
    memcpy(stub, wraps_code, sizeof wraps_code);
    memcpy(stub + STUB_TARGET, &target, sizeof target);
    memcpy(stub + STUB_HANDLER, &handler, sizeof handler);
}

/* The stub of a function; 0 without memory. */
static uint64_t wraps_stub(struct wraps_search *s, uint64_t target)
{
    for (size_t i = 0; i < wraps.n; i++)
        if (wraps.all[i].target == target)
            return wraps.all[i].stub;
    struct wrap *all = array_reserve(wraps.all, wraps.n, &wraps.cap, sizeof *all);
    if (!all)
        return 0;
    wraps.all = all;
    char *stub = s->pages + s->n_stubs++ * WRAP_STUB_BYTES;
    wraps_fill(stub, target);
    all[wraps.n++] = (struct wrap){.target = target, .stub = (uintptr_t)stub};
    return (uintptr_t)stub;
}

static int wraps_replace(struct wraps_search *s)
{
    size_t bytes = s->n_slots * WRAP_STUB_BYTES; /* at most */
    s->pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s->pages == MAP_FAILED)
        return wraps_no_memory();
    size_t before = wraps.n;
    for (size_t i = 0; i < s->n_slots; i++)
        if (!wraps_stub(s, s->slots[i].target))
            s->rc = wraps_no_memory();
    if (s->rc == 0 && mprotect(s->pages, bytes, PROT_READ | PROT_EXEC) != 0)
        s->rc =
            upmu_fail(UPMU_E_SYSTEM,
                      WRAPPED " are not recorded: memory cannot be made executable: %s. SELinux (execmem), a seccomp "
                              "filter or PR_SET_MDWE forbids it",
                      strerror(errno));
    __builtin___clear_cache(s->pages, s->pages + bytes);
    if (s->rc < 0) {
        munmap(s->pages, bytes);
        wraps.n = before;
        return s->rc;
    }
    size_t refused = 0;
    for (size_t i = 0; i < s->n_slots; i++) {
        const struct wrap_slot *slot = &s->slots[i];
        refused += !import_store(&s->modules[slot->module], &slot->import, wraps_stub(s, slot->target));
    }
    return refused ? upmu_fail(UPMU_E_SYSTEM, WRAPPED " are not all recorded: %zu imports cannot be written", refused)
                   : 0;
}

static int wraps_add(void)
{
    struct wraps_search s = {.rc = 0};
    dl_iterate_phdr(wraps_module, &s);
    void **holds = s.rc == 0 ? calloc(s.n_modules + 1, sizeof *holds) : NULL;
    if (s.rc == 0 && !holds)
        s.rc = wraps_no_memory();
    if (holds)
        wraps_search_modules(&s, holds);
    if (s.rc == 0 && s.n_slots > 0)
        s.rc = func_returns_start(sled_returned, WRAPPED);
    if (s.rc == 0 && s.n_slots > 0)
        s.rc = wraps_replace(&s);
    for (size_t i = 0; holds && i < s.n_modules; i++)
        if (holds[i])
            dlclose(holds[i]);
    free(wraps.searched);
    wraps.searched = s.present;
    wraps.n_searched = s.n_present;
    free(holds);
    free(s.modules);
    free(s.slots);
    return s.rc;
}

/* One thread at a time; a forked child does not wait for a thread that it has not. */
static void wraps_run(void)
{
    pid_t self = getpid();
    __atomic_store_n(&wraps.again, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&wraps.on, __ATOMIC_ACQUIRE) && __atomic_load_n(&wraps.again, __ATOMIC_ACQUIRE)) {
        pid_t owner = __atomic_load_n(&wraps.owner, __ATOMIC_RELAXED);
        if (owner == self ||
            !__atomic_compare_exchange_n(&wraps.owner, &owner, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
        __atomic_store_n(&wraps.again, 0, __ATOMIC_RELEASE);
        if (wraps_add() < 0) {
            variable_report("functions", upmu_error());
            func_wraps_stop();
        }
        __atomic_store_n(&wraps.owner, 0, __ATOMIC_RELEASE);
    }
}

int func_wraps_start(const char *patterns)
{
    char checked[FUNC_PATTERNS_BYTES];
    int rc = patterns ? func_patterns_set(checked, "UPMU_FUNC_WRAP", patterns) : 0;
    if (!patterns || rc < 0)
        return rc;
    wraps.patterns = strdup(patterns);
    if (!wraps.patterns)
        return wraps_no_memory();
#if defined(__x86_64__)
    sled_vectors_find();
#endif
    __atomic_store_n(&wraps.on, true, __ATOMIC_RELEASE);
    wraps_run();
    return 0;
}

void func_wraps_add_opened(void)
{
    if (func_wraps_are_on())
        wraps_run();
}

bool func_wraps_are_on(void)
{
    return __atomic_load_n(&wraps.on, __ATOMIC_RELAXED);
}

void func_wraps_stop(void)
{
    __atomic_store_n(&wraps.on, false, __ATOMIC_RELAXED);
}

static int wraps_is_named(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char **found = arg;
    (void)size;
    if (info->dlpi_name && func_patterns_match(wraps.patterns, &(struct func_names){.module = info->dlpi_name}))
        *found = info->dlpi_name;
    return *found != NULL;
}

void func_wraps_report(void)
{
    const char *found = NULL;
    char text[512];
    if (!func_wraps_are_on() || wraps.n > 0 || !dl_iterate_phdr(wraps_is_named, &found))
        return;
    snprintf(text, sizeof text, "no module calls a function of %s that UPMU_FUNC_WRAP matches", found);
    variable_report("functions", text);
}

#else

int func_wraps_start(const char *patterns)
{
    return patterns ? upmu_fail(UPMU_E_UNSUPPORTED,
                                "calls of functions without hooks are recorded on x86-64, AArch64, RISC-V, "
                                "LoongArch and MIPS of 64 bits only: the return address of a call is replaced")
                    : 0;
}

void func_wraps_add_opened(void)
{
}

bool func_wraps_are_on(void)
{
    return false;
}

void func_wraps_stop(void)
{
}

void func_wraps_report(void)
{
}

#endif
