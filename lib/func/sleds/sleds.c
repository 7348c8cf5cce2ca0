/* SPDX-License-Identifier: MIT */
/*
 * Sleds of -fxray-instrument, patched in and out while other threads run.
 *
 * An entry sled is "jmp +9" and nine bytes that it skips; an exit sled is a return and ten bytes that are never executed. The skipped
 * bytes are written first; then every CPU that runs this process is serialized (membarrier); then one byte makes the sled live: the
 * jump's distance becomes 4, and ends at a call, or the return becomes the first byte of a move. A store of one byte cannot be
 * seen half done, and what it leads to is complete on all CPUs by then. That byte switches the sled off again, too. The skipped
 * bytes are restored only if there is no other thread: one that was descheduled within the sled would execute them.
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
#include "base/loaded_module.h"
#include "base/map.h"
#include "base/private_table.h"
#include "base/variables.h"
#include "func/elf_functions.h"
#include "func/sleds/calls.h"
#include "func/state.h"

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

static bool sleds_find(const struct dl_phdr_info *info, const char *path, uint64_t *at, uint64_t *bytes)
{
    struct elf_functions file;
    elf_functions_map(&file, path);
    bool found = file.file && elf_functions_section(&file, "xray_instr_map", at, bytes);
    elf_functions_free(&file);
    *at += info->dlpi_addr;
    return found && sled_in_segment(info, *at, *bytes, PF_R);
}

#if defined(__x86_64__) && defined(__LP64__)

enum sled_kind { SLED_ENTRY = 0, SLED_EXIT = 1, SLED_TAIL = 2 };
enum { SLED_VERSION = 2, SLED_BYTES = 11, STUB_BYTES = 16, SLED_JUMP_OFF = 9, SLED_JUMP_ON = 4 };

/** An entry of xray_instr_map: addresses are relative to the field's own address. */
struct sled_entry_raw {
    int64_t sled, function;
    uint8_t kind, always, version, reserved[13];
};
_Static_assert(sizeof(struct sled_entry_raw) == 32, "size of an entry of xray_instr_map");

struct sled {
    uint64_t address;
    uint32_t function; /* its number */
    uint8_t kind;
    unsigned char before[SLED_BYTES];
};

struct sled_module {
    uint64_t start, end;
    uint64_t layout; /* hash of its segments */
    char id[BUILD_ID_TEXT];
    char *stubs; /* within reach of its calls: entry, exit, tail */
    struct sled *all;
    size_t n, cap;
    bool on, loaded;
};

static struct {
    pid_t owner; /* the process whose thread uses the rest */
    struct sled_module *modules;
    size_t n_modules, cap_modules;
    uint32_t n_functions;
    uint32_t foreign; /* sleds that another runtime has patched; UINT32_MAX: reported */
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

static const unsigned char sled_jump[] = {0xeb, SLED_JUMP_OFF, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
static const unsigned char sled_return[] = {0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};

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

static void sled_relative(unsigned char *at, uint64_t from, const char *to)
{
    int32_t distance = (int32_t)((int64_t)(uintptr_t)to - (int64_t)from);
    memcpy(at, &distance, sizeof distance);
}

/* The skipped bytes. */
static void sled_body(const struct sled_module *m, const struct sled *s, unsigned char bytes[SLED_BYTES])
{
    memcpy(bytes, s->before, SLED_BYTES);
    bool is_exit = s->kind == SLED_EXIT;
    const char *stub = m->stubs + (size_t)STUB_BYTES * s->kind;
    if (is_exit)
        bytes[1] = 0xba; /* with 0x41: mov $function, %r10d */
    memcpy(bytes + 2, &s->function, sizeof s->function);
    bytes[6] = is_exit ? 0xe9 : 0xe8; /* jmp, call */
    sled_relative(bytes + 7, s->address + SLED_BYTES, stub);
}

/* The byte that makes a sled live, or not. */
static unsigned char sled_byte(const struct sled *s, bool on)
{
    return s->kind == SLED_EXIT ? on ? 0x41 : 0xc3 : on ? SLED_JUMP_ON : SLED_JUMP_OFF;
}

static bool sled_switch(int memory, const struct sled *s, bool on)
{
    unsigned char byte = sled_byte(s, on);
    return sled_write(memory, s->address + (s->kind == SLED_EXIT ? 0 : 1), &byte, 1);
}

/* On: exits first; off: entries first. So each entry has its exit. */
static bool sleds_switch(int memory, struct sled_module *m, bool on)
{
    bool ok = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->n; i++)
            if ((m->all[i].kind == SLED_ENTRY) == ((pass == 1) == on))
                ok = sled_switch(memory, &m->all[i], on) && ok;
    return ok;
}

static bool sleds_prepare(int memory, struct sled_module *m)
{
    for (size_t i = 0; i < m->n; i++) {
        unsigned char bytes[SLED_BYTES];
        size_t skip = m->all[i].kind == SLED_EXIT ? 1 : 2;
        sled_body(m, &m->all[i], bytes);
        if (!sled_write(memory, m->all[i].address + skip, bytes + skip, SLED_BYTES - skip))
            return false;
    }
    return true;
}

static void sleds_restore(int memory, struct sled_module *m)
{
    for (size_t i = 0; i < m->n; i++)
        (void)sled_write(memory, m->all[i].address, m->all[i].before, SLED_BYTES);
}

/* ---------------------------------------------------------------------------------------------------------- stubs */

/* "jmp *0(%rip)" and the address. */
static void stubs_fill(char *stubs)
{
    void (*const to[])(void) = {sled_entry, sled_exit, sled_tail};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};
        uintptr_t address = (uintptr_t)to[i];
        memcpy(stubs + i * STUB_BYTES, jump, sizeof jump);
        memcpy(stubs + i * STUB_BYTES + sizeof jump, &address, sizeof address);
    }
}

/* A page that all of the module can call: the distance has 32 bits. */
static char *stubs_map(const struct sled_module *m, size_t page)
{
    enum { TRIES = 8192 };
    const uint64_t reach = (UINT64_C(1) << 31) - (1 << 20), step = 1 << 18;
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t away = (i / 2 + 1) * step, start = m->start & ~(uint64_t)(page - 1);
        uint64_t at = i % 2 ? ((m->end + page - 1) & ~(uint64_t)(page - 1)) + away : start - away;
        if ((i % 2 == 0 && start < away + step) || m->end - m->start + away > reach)
            continue;
        void *p = mmap((void *)(uintptr_t)at, page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (p == (void *)(uintptr_t)at)
            return p;
        if (p != MAP_FAILED)
            munmap(p, page); /* a kernel before 4.17 takes the address as a hint */
    }
    return NULL;
}

static int stubs_make(struct sled_module *m)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *stubs = stubs_map(m, page);
    if (!stubs)
        return upmu_fail(UPMU_E_NOMEM, "no memory is free within 2 GiB of the module at 0x%llx",
                         (unsigned long long)m->start);
    stubs_fill(stubs);
    if (mprotect(stubs, page, PROT_READ | PROT_EXEC) != 0) {
        int err = errno;
        munmap(stubs, page);
        return upmu_fail(UPMU_E_SYSTEM,
                         "functions are not patched: memory cannot be made executable: %s. SELinux (execmem), a "
                         "seccomp filter or PR_SET_MDWE forbids it",
                         strerror(err));
    }
    m->stubs = stubs;
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- finding */

/* Sleds of clang's own runtime, if it has patched them, are left alone. */
static bool sled_is_whole(const struct sled *s)
{
    return memcmp(s->before, s->kind == SLED_EXIT ? sled_return : sled_jump, s->kind == SLED_EXIT ? 1 : SLED_BYTES) ==
           0;
}

static uint32_t sled_function(struct sled_module *m, uint64_t function)
{
    uint32_t last = sleds.n_functions - 1;
    if (m->n > 0 && sled_functions[last] == function)
        return last;
    sled_functions[sleds.n_functions] = function;
    return sleds.n_functions++;
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
    struct sled *all = array_reserve(m->all, m->n, &m->cap, sizeof *all);
    if (!all)
        return sleds_no_memory();
    m->all = all;
    s.function = sled_function(m, function);
    all[m->n++] = s;
    return 0;
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

/* Its section is mapped with the module's constants; the file has the place of it. Nonzero without memory. */
static int sleds_add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct sled_module m = {.start = 0};
    const char *name = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    uint64_t at = 0, bytes = 0;
    int *rc = arg;
    (void)size;
    if (!strchr(name, '/') || !sleds_identify(info, &m))
        return 0;
    if (sleds_known(&m) || !sleds_find(info, name, &at, &bytes))
        return 0;
    const struct sled_entry_raw *all = (const struct sled_entry_raw *)(uintptr_t)at;
    for (size_t i = 0; *rc == 0 && i < bytes / sizeof *all; i++)
        if (sled_in_segment(info, (uint64_t)(uintptr_t)&all[i] + (uint64_t)all[i].sled, SLED_BYTES, PF_R | PF_X))
            *rc = sled_add(&m, &all[i]);
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
        size_t at = s->kind == SLED_EXIT ? 0 : 1;
        bool is_live = is[at] == sled_byte(s, true);
        sled_body(m, s, body);
        if (memcmp(is, s->before, at) != 0 || (!is_live && is[at] != s->before[at]))
            return false;
        if (memcmp(is + at + 1, body + at + 1, SLED_BYTES - at - 1) != 0 &&
            (is_live || memcmp(is, s->before, SLED_BYTES) != 0))
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
        if (m->loaded && (!m->stubs || sleds_check(m))) {
            sleds.modules[kept++] = *m;
            continue;
        }
        if (m->stubs)
            munmap(m->stubs, (size_t)sysconf(_SC_PAGESIZE));
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

/* How many filters the thread's system calls have: where the kernel has no number, 1 for any. The calls made here are among those that a
 * filter is judged by. */
static uint32_t sleds_filters(void)
{
    char status[8192];
    int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, status, sizeof status - 1) : -1;
    if (fd >= 0)
        close(fd);
    status[n > 0 ? n : 0] = '\0';
    const char *mode = strstr(status, "\nSeccomp:"), *count = strstr(status, "\nSeccomp_filters:");
    uint32_t filters = count ? (uint32_t)strtoul(count + strlen("\nSeccomp_filters:"), NULL, 10) : 0;
    bool is_filtered = mode && strtoul(mode + strlen("\nSeccomp:"), NULL, 10) != 0;
    return filters ? filters : is_filtered;
}

/* A filter that was installed since recording began was not judged by the calls that patch code: it may end the process. */
static int sleds_permit(void)
{
    uint32_t filters = sleds_filters() + 1;
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
        if (!sleds.modules[i].on && !sleds_prepare(memory, &sleds.modules[i]))
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
        sled_vectors = __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
    }
    sleds_drop();
    dl_iterate_phdr(sleds_add_module, &rc);
    for (size_t i = 0; rc == 0 && i < sleds.n_modules; i++)
        if (!sleds.modules[i].stubs)
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
    uint64_t at = 0, bytes = 0;
    (void)size;
    (void)arg;
    return strchr(name, '/') && sleds_find(info, name, &at, &bytes);
}

/* Elsewhere a sled does not become live by one byte. */
int func_sleds_patch(void)
{
    if (!dl_iterate_phdr(sleds_search, NULL))
        return 0;
    return upmu_fail(UPMU_E_UNSUPPORTED, "functions built with -fxray-instrument are recorded on x86-64 only. Use "
                                         "-finstrument-functions");
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
