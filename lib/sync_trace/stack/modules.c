/* SPDX-License-Identifier: MIT */
/*
 * Loaded modules, recorded so that addresses can be resolved later.
 *
 * dl_iterate_phdr() takes a lock of the loader, which the program may hold in its own callbacks: it is not called on the
 * traced path. If the C library can be asked without a lock (_dl_find_object()), a module that a stack leads into is
 * recorded at once; otherwise the next safe call scans.
 *
 * Another module may be loaded at the address of an unloaded one, perhaps with the same extent: a module is identified by
 * its file, too; dlclose() checks which modules are gone, and the trace has both events.
 *
 * libunwind calls dl_iterate_phdr() within a walk: a thread that walks while it holds a mutex that such a callback waits
 * for would never return. So that function is interposed and served, on the traced path, from this table, for modules
 * that are still mapped according to _dl_find_object().
 */
#include "sync_trace/stack/modules.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/own_memory.h"
#include "base/process/loaded_module.h"
#include "base/process/module_path.h"
#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/stack/cfi.h"
#include "sync_trace/stack/stacks.h"
#include "sync_trace/state/notes.h"
#include "trace/write/writer.h"

enum { MODULES_MAX = 2048, PHDRS_MAX = 16 };

struct module {
    uint64_t base, start, end;
    uint64_t file; /**< hash of its build-id and path */
};

enum module_state {
    MODULE_LOADED,
    MODULE_UNLOADED, /**< not written to the trace yet */
    MODULE_UNLOAD_WRITTEN,
};

/* What an unwinder needs of a module. */
struct unwind_info {
    const void *eh_frame; /**< as _dl_find_object() returns it; NULL: not served */
    ElfW(Half) n;
    ElfW(Phdr) phdr[PHDRS_MAX];
};

/* Only grows, by the thread that has `busy`; read without a lock up to `n`. On the traced path no thread waits for
 * `busy`: it sets `stale` instead. */
static struct module_table {
    uint32_t n;
    uint32_t stale; /**< a stack has an address in no known module, or a module may be gone */
    uint32_t busy;
    uint32_t replaced;  /**< a module was loaded where one with recorded stacks was */
    uint32_t unwritten; /**< some module is MODULE_UNLOADED */
    struct module module[MODULES_MAX];
    uint8_t state[MODULES_MAX];    /**< enum module_state */
    uint8_t in_stack[MODULES_MAX]; /**< it is part of a stack */
    struct unwind_info unwind[MODULES_MAX];
    struct module_path path; /**< of the module that is added */
} * table;

#ifdef DLFO_STRUCT_HAS_EH_COUNT
static int (*find_object)(void *, struct dl_find_object *);

static void module_lookup_start(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "_dl_find_object");
    *(void **)(void *)&find_object = symbol;
}

/* The .eh_frame of the module mapped at this address, if it has the recorded start. */
static const void *module_eh_frame(const struct module *m)
{
    struct dl_find_object o;
    if (find_object((void *)(uintptr_t)m->start, &o) != 0 || (uintptr_t)o.dlfo_map_start != m->start)
        return NULL;
    return o.dlfo_eh_frame;
}

/* The module of a running thread's stack, which therefore cannot be unloaded. */
static bool module_find_without_lock(uintptr_t address, struct dl_phdr_info *info)
{
    struct dl_find_object o;
    return find_object && find_object((void *)address, &o) == 0 && loaded_module_from_object(&o, info);
}
#else
/* glibc before 2.35, and others: there is no query without a lock. */
static void *const find_object;

static bool module_find_without_lock(uintptr_t address, struct dl_phdr_info *info)
{
    (void)address;
    (void)info;
    return false;
}

static void module_lookup_start(void)
{
}

static const void *module_eh_frame(const struct module *m)
{
    (void)m;
    return NULL;
}
#endif

int sync_modules_start(void)
{
    table = own_memory_map_wiped(sizeof *table);
    module_lookup_start();
    return table ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory");
}

static void module_keep_unwind_info(const struct dl_phdr_info *info, const struct module *m, struct unwind_info *out)
{
    if (!find_object || info->dlpi_phnum > PHDRS_MAX)
        return;
    out->n = info->dlpi_phnum;
    memcpy(out->phdr, info->dlpi_phdr, info->dlpi_phnum * sizeof *out->phdr);
    out->eh_frame = module_eh_frame(m);
}

static uint64_t module_hash_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h * 31;
}

static bool module_identify(const struct dl_phdr_info *info, struct module *m, char *id)
{
    *m = (struct module){.base = info->dlpi_addr};
    if (!loaded_module_extent(info, &m->start, &m->end))
        return false;
    loaded_module_build_id(info, id);
    m->file = module_hash_text(module_hash_text(0xcbf29ce484222325u, id), info->dlpi_name ? info->dlpi_name : "");
    return true;
}

/* Index of a module, loaded or unloaded; `n` if it is new. */
static uint32_t module_find(const struct module *m, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && memcmp(&table->module[i], m, sizeof *m) != 0)
        i++;
    return i;
}

static bool module_is_loaded(uint32_t i)
{
    return __atomic_load_n(&table->state[i], __ATOMIC_RELAXED) == MODULE_LOADED;
}

static void module_set_state(uint32_t i, enum module_state state)
{
    __atomic_store_n(&table->state[i], (uint8_t)state, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------------------------------------------- gone */

/* The caller holds `busy`. Stacks and call sites cached for its addresses are not found again. */
static void module_set_unloaded(uint32_t i)
{
    const struct module *m = &table->module[i];
    /* Changes all keys of call sites: on 64 bits where an address has zeros, so that no new key equals an old one; on 32 bits two
     * may be equal by chance. */
    const uintptr_t step = (uintptr_t)1 << (sizeof(uintptr_t) == 8 ? 47 : 16);
    module_set_state(i, MODULE_UNLOADED);
    cfi_forget();
    __atomic_store_n(&table->unwritten, 1, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&table->in_stack[i], __ATOMIC_RELAXED))
        return;
    sync_stacks_retire(m->start, m->end);
    __atomic_fetch_add(&sync_process.unloads, step, __ATOMIC_RELAXED);
}

/* The caller holds `busy`. Records that do not fit in the trace are written the next time. */
static void modules_write_unloaded(struct sync_thread *t)
{
    if (LIKELY(!__atomic_exchange_n(&table->unwritten, 0, __ATOMIC_RELAXED)))
        return;
    for (uint32_t i = 0; i < table->n; i++) {
        const struct module *m = &table->module[i];
        if (__atomic_load_n(&table->state[i], __ATOMIC_RELAXED) != MODULE_UNLOADED)
            continue;
        if (upmu_trace_module_gone_(t->stream, tick_now(), m->base, m->start, m->end))
            module_set_state(i, MODULE_UNLOAD_WRITTEN);
        else
            __atomic_store_n(&table->unwritten, 1, __ATOMIC_RELAXED);
    }
}

static bool modules_overlap(const struct module *a, const struct module *b)
{
    return a->start < b->end && b->start < a->end;
}

/* Whether another module is, or was since, at these addresses: then this one is recorded again. */
static bool module_was_replaced(uint32_t index, const struct module *m, bool *by_stacks)
{
    bool disputed = false;
    *by_stacks = false;
    for (uint32_t i = 0; i < table->n; i++) {
        if (i == index || !modules_overlap(&table->module[i], m))
            continue;
        disputed = true;
        *by_stacks |= __atomic_load_n(&table->in_stack[i], __ATOMIC_RELAXED) != 0;
        if (module_is_loaded(i)) /* its unloading was not seen */
            module_set_unloaded(i);
    }
    return disputed;
}

/* --------------------------------------------------------------------------------------------------- there */

static bool write_module(struct sync_thread *t, const struct module *m, const char *id, const char *path, bool noted)
{
    if (!upmu_trace_module_(t->stream, tick_now(), m->base, m->start, m->end, id, path))
        return false;
    if (!noted)
        sync_note_module(m->base, m->start, m->end, id, path);
    return true;
}

/* The main program has no name there, and is found first, when tracing begins. Not inlined: later modules may be found
 * on a small stack, which has no space for this path. */
__attribute__((noinline)) static bool module_write_program(struct sync_thread *t, const struct module *m,
                                                           const char *id)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return write_module(t, m, id, path, false);
}

/* The caller holds `busy`. */
static void module_add(struct dl_phdr_info *info, struct sync_thread *t)
{
    char id[BUILD_ID_TEXT];
    struct module m;
    bool by_stacks;
    if (!module_identify(info, &m, id))
        return;
    uint32_t i = module_find(&m, table->n);
    if (i == MODULES_MAX || (i < table->n && module_is_loaded(i)))
        return;
    table->path.info = info;
    table->path.is_filtered = upmu_recorder_filtered_;
    const char *name = module_path_find(&table->path);
    bool disputed = module_was_replaced(i, &m, &by_stacks);
    if (by_stacks)
        __atomic_store_n(&table->replaced, 1, __ATOMIC_RELAXED);
    modules_write_unloaded(t);
    bool program = table->n == 0 && !name[0];
    if (!(program ? module_write_program(t, &m, id) : write_module(t, &m, id, name, i < table->n && !disputed)))
        return;
    table->module[i] = m;
    module_keep_unwind_info(info, &m, &table->unwind[i]);
    module_set_state(i, MODULE_LOADED);
    if (i == table->n)
        __atomic_store_n(&table->n, i + 1, __ATOMIC_RELEASE);
}

static bool modules_claim(void)
{
    return !__atomic_exchange_n(&table->busy, 1, __ATOMIC_ACQUIRE);
}

static void modules_release(void)
{
    __atomic_store_n(&table->busy, 0, __ATOMIC_RELEASE);
}

static int modules_add_one(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    if (!modules_claim()) {
        __atomic_store_n(&table->stale, 1, __ATOMIC_RELAXED);
        return 0;
    }
    module_add(info, arg);
    modules_release();
    return 0;
}

static int modules_see(struct dl_phdr_info *info, size_t size, void *arg)
{
    uint8_t *seen = arg;
    char id[BUILD_ID_TEXT];
    struct module m;
    (void)size;
    uint32_t i = module_identify(info, &m, id) ? module_find(&m, table->n) : MODULES_MAX;
    if (i < table->n)
        seen[i] = 1;
    return 0;
}

void sync_modules_unloaded(struct sync_thread *t)
{
    uint8_t seen[MODULES_MAX] = {0};
    if (!table || !modules_claim()) {
        if (table)
            __atomic_store_n(&table->stale, 1, __ATOMIC_RELAXED);
        return;
    }
    SYNC_REAL(iterate_phdr)(modules_see, seen);
    for (uint32_t i = 0; i < table->n; i++)
        if (!seen[i] && module_is_loaded(i))
            module_set_unloaded(i);
    if (t)
        modules_write_unloaded(t);
    modules_release();
}

bool sync_modules_were_replaced(void)
{
    return __atomic_load_n(&table->replaced, __ATOMIC_RELAXED);
}

void sync_modules_scan(struct sync_thread *t)
{
    __atomic_store_n(&table->stale, 0, __ATOMIC_RELAXED);
    sync_modules_unloaded(t);
    SYNC_REAL(iterate_phdr)(modules_add_one, t);
}

/* Index of the module at an address; `n` if there is none. */
static uint32_t module_at(uintptr_t address, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && (address < table->module[i].start || address >= table->module[i].end || !module_is_loaded(i)))
        i++;
    return i;
}

bool sync_modules_add_stack(struct sync_thread *t, const void *const *frames, uint32_t n_frames)
{
    uint32_t before = __atomic_load_n(&table->n, __ATOMIC_ACQUIRE), n = before, last = before;
    struct dl_phdr_info info;
    for (uint32_t i = 0; i < n_frames; i++) {
        uintptr_t address = (uintptr_t)frames[i];
        if (last < n && address >= table->module[last].start && address < table->module[last].end)
            continue;
        last = module_at(address, n);
        if (last == n && module_find_without_lock(address, &info)) {
            (void)modules_add_one(&info, sizeof info, t);
            n = __atomic_load_n(&table->n, __ATOMIC_ACQUIRE);
            last = module_at(address, n);
        }
        if (last < n && !__atomic_load_n(&table->in_stack[last], __ATOMIC_RELAXED))
            __atomic_store_n(&table->in_stack[last], 1, __ATOMIC_RELAXED);
    }
    return n != before;
}

void sync_modules_note_unknown(const void *const *frames, uint32_t n_frames)
{
    uint32_t n = __atomic_load_n(&table->n, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n_frames; i++)
        if (module_at((uintptr_t)frames[i], n) == n)
            __atomic_store_n(&table->stale, 1, __ATOMIC_RELAXED);
}

void sync_modules_check(struct sync_thread *t)
{
    if (UNLIKELY(__atomic_load_n(&table->stale, __ATOMIC_RELAXED)))
        sync_modules_scan(t);
}

/* A sanitizer's runtime iterates modules before its own memory is set up, when instrumented code cannot run: a
 * sanitizer build does not interpose the function. */
#if !SYNC_UNDER_SANITIZER
static int modules_iterate_known(int (*callback)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    uint32_t n = __atomic_load_n(&table->n, __ATOMIC_ACQUIRE);
    int rc = 0;
    for (uint32_t i = 0; i < n && rc == 0; i++) {
        const struct unwind_info *u = &table->unwind[i];
        if (!u->eh_frame || !module_is_loaded(i) || module_eh_frame(&table->module[i]) != u->eh_frame)
            continue;
        struct dl_phdr_info info = {
            .dlpi_addr = table->module[i].base,
            .dlpi_name = "",
            .dlpi_phdr = u->phdr,
            .dlpi_phnum = u->n,
            .dlpi_adds = n,
        };
        rc = callback(&info, sizeof info, arg);
    }
    return rc;
}

UPMU_API int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    const struct sync_thread *t = sync_tls.thread;
    bool unwinding = t && t->used && !sync_is_ready(t);
    return unwinding && find_object ? modules_iterate_known(callback, arg) : SYNC_REAL(iterate_phdr)(callback, arg);
}
#endif
