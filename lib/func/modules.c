/* SPDX-License-Identifier: MIT */
/*
 * Loaded modules of the process, recorded to resolve addresses of functions later.
 *
 * dl_iterate_phdr() takes a lock of the loader, which a thread that waits for this one may hold: hooks ask
 * _dl_find_object(), which takes none, and leave a scan to the next dlclose() or the end where the C library has no such
 * function.
 *
 * Another module may be loaded at the address of an unloaded one. dlclose() marks the functions of modules that are gone in
 * all trees, so that calls of functions at the same addresses become nodes of their own.
 */
#include "func/modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/process/loaded_module.h"
#include "base/process/module_path.h"
#include "func/files.h"
#include "func/select.h"
#include "func/state.h"
#include "region/recorder.h"

enum { SEEN_WORDS = FUNC_MODULES_MAX / 64 };

static int (*real_dlclose)(void *);

#ifdef DLFO_STRUCT_HAS_EH_COUNT
static int (*find_object)(void *, struct dl_find_object *);

static bool modules_find(uint64_t address, struct dl_phdr_info *info)
{
    struct dl_find_object o;
    return find_object && find_object((void *)(uintptr_t)address, &o) == 0 && loaded_module_from_object(&o, info);
}
#else
static void *find_object;

static bool modules_find(uint64_t address, struct dl_phdr_info *info)
{
    (void)address;
    (void)info;
    return false;
}
#endif

void func_modules_start(void)
{
    *(void **)(void *)&real_dlclose = dlsym(RTLD_NEXT, "dlclose");
    *(void **)(void *)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
}

/* Try-lock of the module table. A caller that finds it busy sets `modules_stale`, for a later scan. */
static bool modules_claim(struct func_shared *s)
{
    return !__atomic_exchange_n(&s->modules_busy, 1, __ATOMIC_ACQUIRE);
}

static void modules_release(struct func_shared *s)
{
    __atomic_store_n(&s->modules_busy, 0, __ATOMIC_RELEASE);
}

static uint64_t modules_hash(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h * 31;
}

/* ------------------------------------------------------------------------------------------------------ notes */

static struct func_note *modules_note(struct func_process_header *h, uint32_t at)
{
    return (struct func_note *)(void *)((char *)h + FUNC_HEADER_BYTES + at);
}

/* @return the note's offset; UINT32_MAX if there is no space. */
static uint32_t modules_write_note(struct func_process_header *h, const struct dl_phdr_info *info,
                                   const struct func_range *m, const char *id, const char *path)
{
    size_t a = strlen(id) + 1, b = strlen(path) + 1, bytes = (sizeof(struct func_note) + a + b + 7) / 8 * 8;
    uint32_t at = h->notes, step = FUNC_STEP_BYTES;
    size_t reserved = ((size_t)at + step - 1) / step * step, end = at + bytes;
    size_t wanted = (end + step - 1) / step * step;
    if (end > FUNC_NOTES_BYTES ||
        (wanted > reserved &&
         !func_file_reserve(FUNC_PROCESS_FILE, FUNC_HEADER_BYTES + reserved, FUNC_HEADER_BYTES + wanted))) {
        h->notes_lost++;
        return UINT32_MAX;
    }
    struct func_note *n = modules_note(h, at);
    n->base = info->dlpi_addr;
    n->start = m->start;
    n->end = m->end;
    memcpy((char *)(n + 1), id, a);
    memcpy((char *)(n + 1) + a, path, b);
    __atomic_store_n(&n->bytes, (uint32_t)bytes, __ATOMIC_RELEASE);
    __atomic_store_n(&h->notes, (uint32_t)end, __ATOMIC_RELEASE);
    return at;
}

/* Address range and file hash of a loaded module. @param id out, build id as text of BUILD_ID_TEXT bytes, "" if it has none.
 * @return false if no segment of it is loaded. */
static bool modules_identify(const struct dl_phdr_info *info, struct func_range *m, char *id)
{
    *m = (struct func_range){0};
    if (!loaded_module_extent(info, &m->start, &m->end))
        return false;
    loaded_module_build_id(info, id);
    m->file = modules_hash(modules_hash(0xcbf29ce484222325u, id), info->dlpi_name ? info->dlpi_name : "");
    return true;
}

/* Index of a loaded module; `n_modules` if it is new. */
static uint32_t modules_index(const struct func_shared *s, const struct func_range *m)
{
    uint32_t i = 0;
    while (i < s->n_modules &&
           (s->module[i].start != m->start || s->module[i].end != m->end || s->module[i].file != m->file))
        i++;
    return i;
}

/* Not inlined: the caller may run on a small stack, and only the first module needs the space for this path. */
__attribute__((noinline)) static uint32_t modules_note_program(struct func_process_header *h,
                                                               const struct dl_phdr_info *info,
                                                               const struct func_range *m, const char *id)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return modules_write_note(h, info, m, id, path);
}

/* The caller holds `modules_busy`, which protects the static buffer. */
static void modules_add(struct func_shared *s, const struct dl_phdr_info *info)
{
    static struct module_path path;
    char id[BUILD_ID_TEXT];
    struct func_range m;
    struct func_process_header *h = s->header;
    if (!h || !modules_identify(info, &m, id) || modules_index(s, &m) < s->n_modules)
        return;
    if (s->n_modules == FUNC_MODULES_MAX) {
        h->notes_lost++;
        return;
    }
    path.info = info;
    path.is_filtered = upmu_recorder_filtered_;
    const char *name = module_path_find(&path);
    if (s->n_modules == 0 && !name[0])
        m.note = modules_note_program(h, info, &m, id);
    else
        m.note = modules_write_note(h, info, &m, id, name);
    m.number = m.note == UINT32_MAX ? FUNC_NO_MODULE : ++s->n_notes;
    s->module[s->n_modules] = m;
    __atomic_store_n(&s->n_modules, s->n_modules + 1, __ATOMIC_RELEASE);
}

static int modules_add_one(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    modules_add(arg, info);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- gone */

static int modules_mark_seen(struct dl_phdr_info *info, size_t size, void *arg)
{
    uint64_t *seen = arg;
    char id[BUILD_ID_TEXT];
    struct func_range m;
    const struct func_shared *s = func_process.shared;
    (void)size;
    uint32_t i = modules_identify(info, &m, id) ? modules_index(s, &m) : s->n_modules;
    if (i < s->n_modules)
        seen[i / 64] |= UINT64_C(1) << i % 64;
    return 0;
}

/* Tag the nodes of an unloaded module's functions with its number. No thread runs them, so none looks these nodes up. */
static void modules_retire_nodes(struct func_tree *t, uint64_t start, uint64_t end, uint64_t number)
{
    struct func_node *nodes = (struct func_node *)(uintptr_t)t->nodes_start;
    uint32_t n = __atomic_load_n(&t->nodes, __ATOMIC_ACQUIRE),
             ready = __atomic_load_n(&t->nodes_ready, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n && i < ready; i++) {
        uint64_t function = __atomic_load_n(&nodes[i].function, __ATOMIC_RELAXED);
        if (function >> FUNC_ADDRESS_BITS == FUNC_SAME_MODULE)
            function &= FUNC_ADDRESS_MASK;
        if (function >= start && function < end)
            __atomic_store_n(&nodes[i].function, function | number << FUNC_ADDRESS_BITS, __ATOMIC_RELAXED);
    }
}

/* The caller holds `modules_busy`. */
static void modules_retire(struct func_shared *s, uint32_t i)
{
    struct func_range *m = &s->module[i];
    uint32_t n = __atomic_load_n(&s->trees, __ATOMIC_ACQUIRE);
    for (uint32_t k = 0; k < n; k++) {
        struct func_tree *t = __atomic_load_n(&s->thread[k].tree, __ATOMIC_ACQUIRE);
        if (t)
            modules_retire_nodes(t, m->start, m->end, m->number);
    }
    if (m->note != UINT32_MAX)
        __atomic_store_n(&modules_note(s->header, m->note)->gone, 1, __ATOMIC_RELAXED);
    func_select_forget(m->start, m->end);
    m->start = m->end = 0;
}

void func_modules_scan(void)
{
    struct func_shared *s = func_process.shared;
    uint64_t seen[SEEN_WORDS] = {0};
    if (!modules_claim(s)) {
        __atomic_store_n(&s->modules_stale, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(&s->modules_stale, 0, __ATOMIC_RELAXED);
    dl_iterate_phdr(modules_mark_seen, seen);
    for (uint32_t i = 0; i < s->n_modules; i++)
        if (s->module[i].end != 0 && !(seen[i / 64] >> i % 64 & 1))
            modules_retire(s, i);
    dl_iterate_phdr(modules_add_one, s);
    modules_release(s);
}

void func_modules_check(void)
{
    if (__atomic_load_n(&func_process.shared->modules_stale, __ATOMIC_RELAXED))
        func_modules_scan();
}

void func_modules_see(uint64_t function)
{
    struct func_shared *s = func_process.shared;
    struct dl_phdr_info info;
    uint32_t n = __atomic_load_n(&s->n_modules, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++)
        if (function >= s->module[i].start && function < s->module[i].end)
            return;
    if (modules_find(function, &info) && modules_claim(s)) {
        modules_add(s, &info);
        modules_release(s);
    } else {
        __atomic_store_n(&s->modules_stale, 1, __ATOMIC_RELAXED);
    }
}

/* Calls to addresses of unloaded modules get new nodes from here on. RTLD_NEXT chains to other wrappers of dlclose(). */
UPMU_API FUNC_PLAIN int dlclose(void *handle)
{
    int (*real)(void *) = real_dlclose;
    if (UNLIKELY(!real)) {
        *(void **)(void *)&real = dlsym(RTLD_NEXT, "dlclose");
        if (!real)
            return -1;
    }
    int rc = real(handle), saved = errno;
    struct func_shared *s = func_process.shared;
    if (func_process.begun && !func_process.ended && s && __atomic_load_n(&s->alive, __ATOMIC_ACQUIRE))
        func_modules_scan();
    errno = saved;
    return rc;
}
