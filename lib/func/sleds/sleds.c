/* SPDX-License-Identifier: MIT */
/*
 * Sleds, patched in and out while other threads run.
 *
 * Of XRay, an entry sled is "jmp +9" and nine bytes that it skips; an exit sled is a return and ten bytes that are never executed. The skipped
 * bytes are written first; then every CPU that runs this process is serialized (membarrier); then one byte makes the sled live: the
 * jump's distance becomes 4, and ends at a call, or the return becomes the first byte of a move. A store of one byte cannot be
 * seen half done, and what it leads to is complete on all CPUs by then. That byte switches the sled off again, too. The skipped
 * bytes are restored only if there is no other thread: one that was descheduled within the sled would execute them.
 *
 * A patchable entry is five nops, or one of five bytes; its first byte becomes that of a call. The bytes after it, the distance of the
 * call, are harmless as instructions (stubs.c), and are written before that, one at a time.
 *
 * Code is written through /proc/self/mem: no page is writable and executable at any time, nor loses its execute permission
 * while threads run in it.
 */
#include "func/sleds/sleds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"
#include "base/private_table.h"
#include "base/process/variables.h"
#include "func/symbols/elf_functions.h"
#include "func/sleds/module.h"
#include "func/sleds/returns.h"
#include "func/state.h"
#include "region/recorder.h"

/* Whether the addresses are in one segment of the module that has these permissions, and no write permission. */
static bool sled_in_segment(const struct dl_phdr_info *info, uint64_t address, uint64_t bytes, uint32_t flags)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags && address >= start && bytes <= p->p_filesz &&
            address - start <= p->p_filesz - bytes)
            return true;
    }
    return false;
}

#define SECTION_XRAY "xray_instr_map"
#define SECTION_PATCHABLE "__patchable_function_entries"

/* A section, as it is loaded. */
static bool sleds_section(const struct elf_functions *file, const struct dl_phdr_info *info, const char *name,
                          uint64_t *at, uint64_t *bytes)
{
    bool found = file->file && elf_functions_section(file, name, at, bytes);
    *at += info->dlpi_addr;
    return found && sled_in_segment(info, *at, *bytes, PF_R);
}

#if defined(__x86_64__) && defined(__LP64__)

enum { SLED_VERSION = 2 };

/** An entry of xray_instr_map: addresses are relative to the field's own address. */
struct sled_entry_raw {
    int64_t sled, function;
    uint8_t kind, always, version, reserved[13];
};
_Static_assert(sizeof(struct sled_entry_raw) == 32, "size of an entry of xray_instr_map");

static struct {
    pid_t owner; /* the process whose thread uses the rest */
    struct sled_module *modules;
    size_t n_modules, cap_modules;
    uint32_t n_functions;
    uint32_t foreign; /* sleds that another runtime has patched; UINT32_MAX: reported */
    uint32_t
        short_entries; /* patchable ones with less than five bytes after the function's begin; UINT32_MAX: reported */
    uint32_t on;
    bool registered;  /* for membarrier() */
    uint32_t filters; /* of system calls, when the first sleds were looked for, plus 1 */
    bool is_late;     /* modules that are found were loaded before */
    uint32_t n_late;
    char late[256]; /* path of the last one */
} sleds;

static int sleds_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory for the sleds of functions");
}

/* -------------------------------------------------------------------------------------------------------- writing */

static bool sled_write(int memory, uint64_t address, const void *bytes, size_t n)
{
    return pwrite(memory, bytes, n, (off_t)address) == (ssize_t)n;
}

/* All CPUs that run this process execute a serializing instruction. A process with one thread needs none. */
static bool sleds_serialize(void)
{
    enum { PRIVATE_SYNC_CORE = 1 << 5, REGISTER_PRIVATE_SYNC_CORE = 1 << 6 };
    if (!sleds.registered && syscall(SYS_membarrier, REGISTER_PRIVATE_SYNC_CORE, 0, 0) != 0)
        return false;
    sleds.registered = true;
    return syscall(SYS_membarrier, PRIVATE_SYNC_CORE, 0, 0) == 0;
}

static bool sled_switch(int memory, const struct sled *s, bool on)
{
    unsigned char byte = sled_byte(s, on);
    return sled_write(memory, s->address + sled_byte_at(s), &byte, 1);
}

/* On: exits first; off: entries first. So each entry has its exit. */
static bool sleds_switch(int memory, struct sled_module *m, bool on)
{
    bool ok = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->n; i++)
            if ((m->all[i].kind != SLED_EXIT && m->all[i].kind != SLED_TAIL) == ((pass == 1) == on))
                ok = sled_switch(memory, &m->all[i], on) && ok;
    return ok;
}

/* The bytes that follow the one that makes a sled live. */
static bool sled_prepare(int memory, const struct sled_module *m, const struct sled *s)
{
    unsigned char bytes[SLED_BYTES];
    size_t skip = sled_byte_at(s) + 1;
    sled_body(m, s, bytes);
    return sled_write(memory, s->address + skip, bytes + skip, sled_length(s) - skip);
}

/* One byte of each patchable entry. @return whether none was written; -1: it cannot be */
static int sleds_prepare_byte(int memory, const struct sled_module *m, size_t at)
{
    int none = 1;
    for (size_t i = 0; i < m->n; i++) {
        const struct sled *s = &m->all[i];
        unsigned char bytes[SLED_BYTES];
        sled_body(m, s, bytes);
        if (!sled_is_patchable(s) || ((const unsigned char *)(uintptr_t)s->address)[at] == bytes[at])
            continue;
        if (!sled_write(memory, s->address + at, &bytes[at], 1))
            return -1;
        none = 0;
    }
    return none;
}

/* Threads may execute the bytes of patchable entries meanwhile. */
static bool sleds_prepare(int memory, const struct sled_module *m, bool alone)
{
    for (size_t i = 0; i < m->n; i++)
        if ((alone || !sled_is_patchable(&m->all[i])) && !sled_prepare(memory, m, &m->all[i]))
            return false;
    for (size_t at = SLED_PATCH_BYTES - 1; at > 0 && !alone; at--) {
        int none = sleds_prepare_byte(memory, m, at);
        if (none < 0 || (none == 0 && !sleds_serialize()))
            return false;
    }
    return true;
}

static void sleds_restore(int memory, struct sled_module *m)
{
    for (size_t i = 0; i < m->n; i++)
        (void)sled_write(memory, m->all[i].address, m->all[i].before, sled_length(&m->all[i]));
}

/* -------------------------------------------------------------------------------------------------------- finding */

static uint32_t sled_function(struct sled_module *m, uint64_t function)
{
    uint32_t last = sleds.n_functions - 1;
    if (m->n > 0 && sled_functions[last] == function)
        return last;
    sled_functions[sleds.n_functions] = function;
    return sleds.n_functions++;
}

static int sled_keep(struct sled_module *m, const struct sled *s)
{
    struct sled *all = array_reserve(m->all, m->n, &m->cap, sizeof *all);
    if (!all)
        return sleds_no_memory();
    m->all = all;
    all[m->n++] = *s;
    return 0;
}

static int sled_add(struct sled_module *m, const struct sled_entry_raw *at)
{
    struct sled_entry_raw e;
    memcpy(&e, at, sizeof e);
    struct sled s = {.address = (uint64_t)(uintptr_t)at + (uint64_t)e.sled, .kind = e.kind};
    uint64_t function = (uint64_t)(uintptr_t)at + offsetof(struct sled_entry_raw, function) + (uint64_t)e.function;
    bool inside = s.address >= m->start && s.address < m->end && m->end - s.address >= SLED_BYTES;
    if (e.version != SLED_VERSION || e.kind > SLED_TAIL || !inside || sleds.n_functions == SLED_FUNCTIONS_MAX)
        return 0;
    memcpy(s.before, (const void *)(uintptr_t)s.address, SLED_BYTES);
    if (!sled_is_whole(&s)) {
        sleds.foreign += sleds.foreign < UINT32_MAX;
        return 0;
    }
    s.function = sled_function(m, function);
    return sled_keep(m, &s);
}

/* Nops before the function's begin are never executed: a symbol shows where that is. */
static bool sled_is_at_begin(const struct elf_functions *file, uint64_t address)
{
    enum { ENDBR_BYTES = 4 };
    const struct elf_function *f = elf_functions_find(file, address);
    const struct elf_function *later = elf_functions_find(file, address + SLED_PATCH_BYTES);
    if (f)
        return address == f->address || address == f->address + ENDBR_BYTES;
    return !later || later->address > address + SLED_PATCH_BYTES;
}

#define PATCHABLE "functions built with -fpatchable-function-entry"

static int sleds_add_patchable(const struct dl_phdr_info *info, const char *path, struct sled_module *m, uint64_t at,
                               uint64_t bytes)
{
    struct elf_functions file;
    int rc = elf_functions_read(&file, path);
    if (rc == 0)
        rc = func_returns_check(&file, path, PATCHABLE);
    if (rc == 0)
        rc = func_returns_start(sled_returned, PATCHABLE);
    for (uint64_t i = 0; rc == 0 && i < bytes / sizeof(uint64_t); i++) {
        struct sled s = {.address = ((const uint64_t *)(uintptr_t)at)[i]};
        if (!sled_in_segment(info, s.address, SLED_PATCH_BYTES, PF_R | PF_X))
            continue; /* of a function that the linker has left out */
        memcpy(s.before, (const void *)(uintptr_t)s.address, SLED_PATCH_BYTES);
        int kind = sled_patchable_kind(s.before);
        s.kind = (uint8_t)kind;
        if (kind >= 0 && sled_is_at_begin(&file, s.address - info->dlpi_addr))
            rc = sled_keep(m, &s);
        else
            sleds.short_entries += sleds.short_entries < UINT32_MAX;
    }
    elf_functions_free(&file);
    return rc;
}

static bool sleds_identify(const struct dl_phdr_info *info, struct sled_module *m)
{
    m->layout = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD)
            m->layout = (((m->layout * 31 + p->p_vaddr) * 31 + p->p_filesz) * 31 + p->p_flags) * 31;
    }
    loaded_module_build_id(info, m->id);
    return loaded_module_extent(info, &m->start, &m->end);
}

static struct sled_module *sleds_known(const struct sled_module *m)
{
    for (size_t i = 0; i < sleds.n_modules; i++)
        if (sleds.modules[i].start == m->start && sleds.modules[i].end == m->end &&
            sleds.modules[i].layout == m->layout && strcmp(sleds.modules[i].id, m->id) == 0)
            return &sleds.modules[i];
    return NULL;
}

static void sleds_note_late(const char *path)
{
    if (!sleds.is_late)
        return;
    sleds.n_late++;
    snprintf(sleds.late, sizeof sleds.late, "%s", path);
}

/* The sections are mapped with the module's constants; the file has their places. */
static int sleds_add_all(const struct dl_phdr_info *info, const char *path, struct sled_module *m)
{
    struct elf_functions file;
    uint64_t xray = 0, xray_bytes = 0, entries = 0, entries_bytes = 0;
    elf_functions_map(&file, path);
    bool has_xray = sleds_section(&file, info, SECTION_XRAY, &xray, &xray_bytes);
    bool has_entries = sleds_section(&file, info, SECTION_PATCHABLE, &entries, &entries_bytes);
    elf_functions_free(&file);
    const struct sled_entry_raw *all = (const struct sled_entry_raw *)(uintptr_t)xray;
    int rc = 0;
    for (size_t i = 0; has_xray && rc == 0 && i < xray_bytes / sizeof *all; i++)
        if (sled_in_segment(info, (uint64_t)(uintptr_t)&all[i] + (uint64_t)all[i].sled, SLED_BYTES, PF_R | PF_X))
            rc = sled_add(m, &all[i]);
    return has_entries && rc == 0 ? sleds_add_patchable(info, path, m, entries, entries_bytes) : rc;
}

/* Nonzero on failure. */
static int sleds_add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct sled_module m = {.start = 0};
    const char *name = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    int *rc = arg;
    (void)size;
    if (!strchr(name, '/') || !sleds_identify(info, &m) || sleds_known(&m))
        return 0;
    *rc = sleds_add_all(info, name, &m);
    struct sled_module *modules =
        *rc == 0 && m.n > 0 ? array_reserve(sleds.modules, sleds.n_modules, &sleds.cap_modules, sizeof *modules) : NULL;
    if (modules) {
        sleds.modules = modules;
        modules[sleds.n_modules++] = m;
        sleds_note_late(name);
        return 0;
    }
    if (*rc == 0 && m.n > 0)
        *rc = sleds_no_memory();
    free(m.all);
    return *rc;
}

static int sleds_mark_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct sled_module m = {.start = 0};
    (void)size;
    (void)arg;
    if (!sleds_identify(info, &m))
        return 0;
    struct sled_module *known = sleds_known(&m);
    if (known)
        known->loaded = true;
    return 0;
}

/* The sleds as they were left, or as the linker made them: the module was loaded again, where it was. @return false if they are
 * neither. */
static bool sleds_check(struct sled_module *m)
{
    size_t live = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct sled *s = &m->all[i];
        unsigned char body[SLED_BYTES];
        const unsigned char *is = (const unsigned char *)(uintptr_t)s->address;
        size_t at = sled_byte_at(s);
        bool is_live = is[at] == sled_byte(s, true);
        sled_body(m, s, body);
        if (memcmp(is, s->before, at) != 0 || (!is_live && is[at] != s->before[at]))
            return false;
        if (memcmp(is + at + 1, body + at + 1, sled_length(s) - at - 1) != 0 &&
            (is_live || memcmp(is, s->before, sled_length(s)) != 0))
            return false;
        live += is_live;
    }
    m->on = live > 0;
    return true;
}

/* Of modules that are gone, their code is, too. */
static void sleds_drop(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < sleds.n_modules; i++)
        sleds.modules[i].loaded = false;
    dl_iterate_phdr(sleds_mark_loaded, NULL);
    for (size_t i = 0; i < sleds.n_modules; i++) {
        struct sled_module *m = &sleds.modules[i];
        if (m->loaded && (!m->has_stubs || sleds_check(m))) {
            sleds.modules[kept++] = *m;
            continue;
        }
        stubs_free(m);
        free(m->all);
    }
    sleds.n_modules = kept;
}

/* ------------------------------------------------------------------------------------------------------- patching */

static bool sleds_are_alone(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3; /* itself, its parent, one thread */
}

static int sleds_refused(const char *what)
{
    return upmu_fail(UPMU_E_SYSTEM, "functions are not patched: %s: %s", what, strerror(errno));
}

/* A filter that was installed since recording began was not judged by the calls that patch code: it may end the process. */
static int sleds_permit(void)
{
    uint32_t filters = upmu_recorder_filters_() + 1;
    if (sleds.filters == 0)
        sleds.filters = filters;
    return sleds.filters == filters
               ? 0
               : upmu_fail(UPMU_E_STATE, "functions are not patched any more: the program has restricted its system "
                                         "calls since recording began");
}

struct sled_job {
    bool on, alone;
    int rc;
};

static int sleds_patch_all(int memory, const struct sled_job *job)
{
    for (size_t i = 0; i < sleds.n_modules; i++)
        if (!sleds.modules[i].on && !sleds_prepare(memory, &sleds.modules[i], job->alone))
            return sleds_refused("the kernel refuses to write code through /proc/self/mem");
    if (!job->alone && !sleds_serialize())
        return sleds_refused("membarrier() cannot serialize the threads that run");
    for (size_t i = 0; i < sleds.n_modules; i++) {
        struct sled_module *m = &sleds.modules[i];
        bool was = m->on;
        m->on = true;
        if (!was && !sleds_switch(memory, m, true))
            return sleds_refused("the kernel refuses to write code through /proc/self/mem");
    }
    return 0;
}

static int sleds_unpatch_all(int memory, const struct sled_job *job)
{
    bool ok = true;
    for (size_t i = 0; i < sleds.n_modules; i++)
        if (sleds.modules[i].on)
            ok = sleds_switch(memory, &sleds.modules[i], false) && ok;
    if (!ok)
        return sleds_refused("the kernel refuses to write code through /proc/self/mem");
    for (size_t i = 0; i < sleds.n_modules; i++) {
        if (sleds.modules[i].on && job->alone)
            sleds_restore(memory, &sleds.modules[i]);
        sleds.modules[i].on = false;
    }
    return job->alone || sleds_serialize() ? 0 : sleds_refused("membarrier() cannot serialize the threads that run");
}

static int sleds_run_now(void *arg)
{
    struct sled_job *job = arg;
    int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    if (memory < 0) {
        job->rc = sleds_refused("/proc/self/mem cannot be opened");
        return 0;
    }
    job->rc = job->on ? sleds_patch_all(memory, job) : sleds_unpatch_all(memory, job);
    close(memory);
    return 0;
}

/* In a thread with descriptors of its own, if there can be one. */
static int sleds_run(struct sled_job *job)
{
    if (sleds.n_modules > 0 && (job->alone || private_table_run(sleds_run_now, job) != 0))
        (void)sleds_run_now(job);
    return job->rc;
}

/* One thread at a time; a forked child does not wait for a thread that it has not. */
static void sleds_claim(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    pid_t self = getpid(), owner = 0;
    while (!__atomic_compare_exchange_n(&sleds.owner, &owner, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (owner == self) {
            (void)nanosleep(&pause, NULL);
            owner = 0;
        }
    }
}

static int sleds_release(int rc)
{
    size_t n = 0;
    for (size_t i = 0; i < sleds.n_modules; i++)
        n += sleds.modules[i].n;
    __atomic_store_n(&sleds.owner, 0, __ATOMIC_RELEASE);
    return rc < 0 ? rc : (int)n;
}

static int sleds_find_all(void)
{
    int rc = 0;
    if (!sled_functions) {
        void *p = mmap(NULL, SLED_FUNCTIONS_MAX * sizeof *sled_functions, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            return sleds_no_memory();
        sled_functions = p;
        sled_vectors_find();
    }
    sleds_drop();
    dl_iterate_phdr(sleds_add_module, &rc);
    for (size_t i = 0; rc == 0 && i < sleds.n_modules; i++)
        rc = stubs_make(&sleds.modules[i]);
    return rc;
}

static void sleds_report_foreign(void)
{
    if (sleds.foreign == 0 || sleds.foreign == UINT32_MAX)
        return;
    sleds.foreign = UINT32_MAX;
    variable_report("functions",
                    "functions that another runtime of XRay has patched are not recorded. Unset XRAY_OPTIONS");
}

static void sleds_report_short(void)
{
    char text[256];
    if (sleds.short_entries == 0 || sleds.short_entries == UINT32_MAX)
        return;
    snprintf(text, sizeof text,
             "%u functions with a patchable entry are not recorded: it has less than five bytes. Build with "
             "-fpatchable-function-entry=5",
             (unsigned)sleds.short_entries);
    sleds.short_entries = UINT32_MAX;
    variable_report("functions", text);
}

static void sleds_report_late(void)
{
    char text[512];
    if (sleds.n_late == 0)
        return;
    snprintf(text, sizeof text,
             "%u modules were patched late, %s for one: dlopen() with a name that is not a path does not show them. "
             "Call upmu_func_patch()",
             (unsigned)sleds.n_late, sleds.late);
    sleds.n_late = 0;
    variable_report("functions", text);
}

static int sleds_patch(bool is_late)
{
    struct sled_job job = {.on = true};
    sleds_claim();
    sleds.is_late = is_late;
    int rc = sleds_permit();
    job.alone = rc == 0 && sleds_are_alone();
    if (rc == 0)
        rc = sleds_find_all();
    if (rc == 0)
        rc = sleds_run(&job);
    sleds_report_foreign();
    sleds_report_short();
    sleds_report_late();
    if (rc == 0)
        __atomic_store_n(&sleds.on, 1, __ATOMIC_RELAXED);
    return sleds_release(rc);
}

int func_sleds_patch(void)
{
    return sleds_patch(false);
}

/* Without permission it stays off. */
static void sleds_patch_or_report(bool is_late)
{
    int rc = func_sleds_are_on() ? sleds_patch(is_late) : 0;
    if (rc == UPMU_E_STATE)
        __atomic_store_n(&sleds.on, 0, __ATOMIC_RELAXED);
    if (rc < 0)
        variable_report("functions", upmu_error());
}

void func_sleds_patch_opened(void)
{
    sleds_patch_or_report(false);
}

void func_sleds_patch_late(void)
{
    sleds_patch_or_report(true);
}

int func_sleds_unpatch(void)
{
    struct sled_job job = {.on = false};
    sleds_claim();
    int rc = sleds_permit();
    if (rc == 0) {
        job.alone = sleds_are_alone();
        __atomic_store_n(&sleds.on, 0, __ATOMIC_RELAXED);
        sleds_drop();
        rc = sleds_run(&job);
    }
    return sleds_release(rc);
}

int func_sleds_are_on(void)
{
    return (int)__atomic_load_n(&sleds.on, __ATOMIC_RELAXED);
}

#else

static int sleds_search(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *name = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    struct elf_functions file;
    uint64_t at = 0, bytes = 0;
    (void)size;
    (void)arg;
    if (!strchr(name, '/'))
        return 0;
    elf_functions_map(&file, name);
    bool found = sleds_section(&file, info, SECTION_XRAY, &at, &bytes) ||
                 sleds_section(&file, info, SECTION_PATCHABLE, &at, &bytes);
    elf_functions_free(&file);
    return found;
}

/* Elsewhere a sled does not become live by one byte. */
int func_sleds_patch(void)
{
    if (!dl_iterate_phdr(sleds_search, NULL))
        return 0;
    return upmu_fail(UPMU_E_UNSUPPORTED,
                     "functions built with -fxray-instrument or -fpatchable-function-entry are recorded on "
                     "x86-64 only. Use -finstrument-functions");
}

void func_sleds_patch_opened(void)
{
}

void func_sleds_patch_late(void)
{
}

int func_sleds_unpatch(void)
{
    return 0;
}

int func_sleds_are_on(void)
{
    return 0;
}

#endif
