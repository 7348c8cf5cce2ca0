/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of another process's threads, by elfutils.
 *
 * Only threads in a futex wait, or in one for a child process, are stopped: the kernel resumes these by itself. Others, such
 * as epoll_wait() and semop(), would return EINTR to a program that saw no signal.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "deadlock/inspect/inspect.h"
#include "deadlock/wait_state.h"
#include "upmu/trace.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/text/textbuf.h"
#include "symbols/debug_file.h"

/* The file where the process sees it: it may be in a container, where the same path is another file, or none, here. libdw opens whatever
 * there is. */
static int inspect_find_elf(Dwfl_Module *module, void **pid, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
    char path[PATH_MAX];
    int fd = -ENOENT;
    if (*pid && name[0] == '/' &&
        snprintf(path, sizeof path, "/proc/%d/root%s", (int)*(const pid_t *)*pid, name) < (int)sizeof path)
        fd = elf_file_open_regular(path);
    if (fd < 0 && name[0] == '/')
        fd = elf_file_open_regular(name);
    if (fd == -ENOENT)
        return dwfl_linux_proc_find_elf(module, pid, name, base, file, elf);
    if (fd >= 0 && !(*file = strdup(name)))
        close(fd);
    return fd >= 0 && *file ? fd : -1;
}

/* By its build-id alone: what a module names as its debug file may be any file. */
static int inspect_find_debug(Dwfl_Module *module, void **pid, const char *name, Dwarf_Addr base, const char *file,
                              const char *link, GElf_Word crc, char **found)
{
    enum { ID_MIN = 2 };
    const unsigned char *id;
    GElf_Addr address;
    struct textbuf path = {0};
    int n = dwfl_module_build_id(module, &id, &address);
    (void)pid, (void)name, (void)base, (void)file, (void)link, (void)crc;
    if (n < ID_MIN)
        return -1;
    textbuf_printf(&path, "/usr/lib/debug/.build-id/%02x/", id[0]);
    for (int i = 1; i < n; i++)
        textbuf_printf(&path, "%02x", id[i]);
    textbuf_printf(&path, ".debug");
    int fd = path.failed ? -1 : elf_file_open_regular(path.data);
    if (fd < 0)
        textbuf_free(&path);
    else
        *found = path.data;
    return fd;
}

static int inspect_set_pid(Dwfl_Module *module, void **pid, const char *name, Dwarf_Addr base, void *arg)
{
    (void)module, (void)name, (void)base;
    *pid = arg;
    return DWARF_CB_OK;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = inspect_find_elf,
    .find_debuginfo = inspect_find_debug,
};

/* NULL if the process cannot be inspected. */
static Dwfl *inspect_dwfl_open(pid_t *pid)
{
    Dwfl *dwfl = elfutils_open() ? dwfl_begin(&callbacks) : NULL;
    bool reported = dwfl && dwfl_linux_proc_report(dwfl, *pid) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0;
    if (reported && dwfl_getmodules(dwfl, inspect_set_pid, pid, 0) == 0 &&
        dwfl_linux_proc_attach(dwfl, *pid, false) == 0)
        return dwfl;
    if (dwfl)
        dwfl_end(dwfl);
    return NULL;
}

void inspect_stacks_begin(struct upmu_deadlock_inspect *inspect)
{
    inspect->dwfl = inspect_dwfl_open(&inspect->pid);
}

struct stack_read {
    uint64_t *frames;
    size_t n, max;
    bool into_calls; /* return addresses are moved into their call instructions */
};

static int inspect_add_frame(Dwfl_Frame *frame, void *arg)
{
    struct stack_read *r = arg;
    Dwarf_Addr pc;
    bool activation;
    if (r->n == r->max || !dwfl_frame_pc(frame, &pc, &activation))
        return DWARF_CB_ABORT;
    r->frames[r->n++] = pc - (r->into_calls && !activation ? 1 : 0);
    return DWARF_CB_OK;
}

void inspect_stack_read(struct upmu_deadlock_inspect *inspect, struct inspect_thread *t)
{
    struct stack_read r = {.frames = t->frames, .max = INSPECT_FRAMES_MAX, .into_calls = true};
    /* An incomplete stack is kept. */
    if (inspect->dwfl)
        (void)dwfl_getthread_frames(inspect->dwfl, t->tid, inspect_add_frame, &r);
    t->n_frames = r.n;
}

void inspect_stacks_add(struct wait_state *s)
{
    enum { FIRST_ID = 1 << 30 }; /* no trace has as many stacks */
    Dwfl *dwfl = s->wakers.inspected > 0 ? inspect_dwfl_open(&s->kernel.pid) : NULL;
    for (size_t i = 0; dwfl && i < s->file.n_threads; i++) {
        struct wait_state_thread *t = &s->file.threads[i];
        const struct kernel_thread *k = kernel_view_thread(&s->kernel, t->head.tid);
        struct stack_read r = {.frames = t->stack.frames, .max = WAIT_FILE_FRAMES_MAX};
        if (!t->inspected || !k || t->head.state != WAIT_FILE_BLOCKED)
            continue;
        (void)dwfl_getthread_frames(dwfl, k->task, inspect_add_frame, &r);
        t->stack.n = (uint16_t)r.n;
        t->stack.method = UPMU_STACK_LIBUNWIND;
        t->stack.truncated = r.n == WAIT_FILE_FRAMES_MAX;
        t->head.stack = t->stack.id = r.n > 0 ? FIRST_ID + (uint32_t)i : 0;
        t->head.site = r.n > 0 ? t->stack.frames[0] : 0;
    }
    if (dwfl)
        dwfl_end(dwfl);
}

/* The module's build-id in hexadecimal, "" if it has none. */
static void inspect_build_id(Dwfl_Module *module, char *out, size_t size)
{
    const unsigned char *bits;
    GElf_Addr address;
    int n = dwfl_module_build_id(module, &bits, &address);
    out[0] = '\0';
    for (size_t i = 0; n > 0 && i < (size_t)n && 2 * i + 3 <= size; i++) {
        static const char digits[] = "0123456789abcdef";
        out[2 * i] = digits[bits[i] >> 4];
        out[2 * i + 1] = digits[bits[i] & 15];
        out[2 * i + 2] = '\0';
    }
}

/* A module of the process, for its symbols. `*bias` is added to their addresses. @return 1; 0: its file is not known;
 * UPMU_E_NOMEM. */
static int inspect_module(struct upmu_deadlock_inspect *inspect, Dwfl_Module *of, uint32_t *index, uint64_t *bias)
{
    const char *path = NULL;
    Dwarf_Addr start;
    GElf_Addr added;
    char build_id[2 * 64 + 1];
    if (!of || !dwfl_module_getelf(of, &added))
        return 0;
    (void)dwfl_module_info(of, NULL, &start, NULL, NULL, NULL, &path, NULL);
    *bias = added;
    if (!path)
        return 0;
    inspect_build_id(of, build_id, sizeof build_id);
    int rc = symbols_module(inspect->symbols, path, build_id, index);
    return rc == 0 ? 1 : rc;
}

struct below {
    uint64_t address;
    Dwfl_Module *module;
    Dwarf_Addr start;
};

/* The module that begins last before an address. */
static int inspect_below(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *arg)
{
    struct below *b = arg;
    (void)user, (void)name;
    if (start <= b->address && (!b->module || start > b->start))
        *b = (struct below){.address = b->address, .module = module, .start = start};
    return DWARF_CB_OK;
}

int inspect_object_name(struct upmu_deadlock_inspect *inspect, struct inspect_thread *t)
{
    struct below b = {.address = t->object};
    struct textbuf text = {0};
    uint32_t index;
    uint64_t bias;
    bool is_bytes, is_address = t->type != UPMU_OBJECT_THREAD && t->object != 0;
    if (!inspect->dwfl || !is_address)
        return 0;
    /* Variables without a value in the file are in a mapping of their own, behind those of the module. */
    (void)dwfl_getmodules(inspect->dwfl, inspect_below, &b, 0);
    int rc = inspect_module(inspect, b.module, &index, &bias);
    if (rc > 0)
        rc = symbols_variable(inspect->symbols, index, t->object - bias, &text, &is_bytes);
    if (rc > 0 && text.data) {
        t->object_name = text.data;
        return 0;
    }
    textbuf_free(&text);
    return rc < 0 ? rc : 0;
}

/* Frames at an address, inlined ones included, and their module. @return their number, or UPMU_E_NOMEM. */
static int inspect_frames(struct upmu_deadlock_inspect *inspect, uint64_t address, struct symbol_frame *frames,
                          struct upmu_symbol *module)
{
    Dwfl_Module *found = inspect->dwfl ? dwfl_addrmodule(inspect->dwfl, address) : NULL;
    const char *path = NULL;
    Dwarf_Addr start;
    GElf_Addr added;
    uint64_t bias;
    uint32_t index;
    struct symbol_code code = {0};
    *module = (struct upmu_symbol){.offset = address, .address = address, .problem = ""};
    if (!found || !dwfl_module_getelf(found, &added))
        return 0;
    const char *name = dwfl_module_info(found, NULL, &start, NULL, NULL, NULL, &path, NULL);
    module->module = path ? path : name;
    module->offset = address - added;
    int rc = inspect_module(inspect, found, &index, &bias);
    if (rc <= 0)
        return rc;
    int n = symbols_find(inspect->symbols, index, address - bias, frames, INSPECT_INLINED_MAX);
    rc = n < 0 ? n : symbols_code(inspect->symbols, index, address - bias, &code);
    module->problem = symbols_problem(inspect->symbols, index);
    module->kind = code.kind;
    if (n == 0) {
        module->previous = code.before;
        module->previous_offset = code.from_before;
    }
    return rc == 0 ? n : rc;
}

int upmu_deadlock_inspect_frame_at(struct upmu_deadlock_inspect *inspect, size_t i, size_t k, size_t depth,
                                   struct upmu_symbol *out)
{
    struct symbol_frame frames[INSPECT_INLINED_MAX] = {{0}};
    struct upmu_symbol s;
    if (!inspect || !out)
        return ARGUMENT_NULL(inspect, out);
    if (i >= inspect->n_threads || k >= inspect->threads[i].n_frames)
        return UPMU_E_END;
    int n = inspect_frames(inspect, inspect->threads[i].frames[k], frames, &s);
    if (n < 0)
        return n;
    if (depth > 0 && depth >= (size_t)n)
        return UPMU_E_END;
    if (depth < (size_t)n) {
        s.function = frames[depth].function;
        s.file = frames[depth].file;
        s.line = frames[depth].line;
        s.column = frames[depth].column;
        s.inlined = frames[depth].inlined;
    }
    return OPTS_GIVE(out, s, UPMU_SYMBOL_SIZE_V1);
}
