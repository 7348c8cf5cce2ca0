/* SPDX-License-Identifier: MIT */
/* Symbol lookup: DWARF first, then the symbol table. */
#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/debug_file.h"
#include "symbols/demangle.h"
#include "symbols/dwarf/dwarf_index.h"
#include "symbols/dwarf/dwarf_variables.h"
#include "symbols/elf_names.h"
#include "symbols/frame_kinds.h"
#include "symbols/function_starts.h"
#include "symbols/wrappers.h"
#include "base/map.h"
#include "base/process/vdso.h"
#include "base/error.h"
#include "base/text/textbuf.h"
#include "elfutils/elfutils.h"

struct module {
    char *path, *build_id;
    bool opened; /* its files were opened, or are missing */
    struct elf_file file, debug;
    struct textbuf problem;
    Dwarf *dwarf;
    struct dwarf_index *index;
    struct elf_names names;
    bool has_variables; /* the next two were read */
    struct elf_names variables;
    struct dwarf_variables members;
    struct frame_kinds kinds;
    struct function_starts starts;
};

struct symbols {
    char *debug_dir;
    char *root; /* the root directory of the recorded program; NULL: this one */
    struct demangler demangler;
    struct wrappers wrappers;
    struct module *modules;
    size_t n_modules, cap_modules;
};

static int symbols_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading symbols");
}

int symbols_open(struct symbols **out, const char *debug_dir)
{
    const char *named = debug_dir ? debug_dir : secure_getenv("UPMU_DEBUG_DIR"), *root = secure_getenv("UPMU_SYSROOT");
    struct symbols *s = calloc(1, sizeof *s);
    if (!s)
        return symbols_no_memory();
    s->debug_dir = strdup(named && named[0] ? named : "/usr/lib/debug");
    s->root = root && root[0] ? strdup(root) : NULL;
    if (!s->debug_dir || (root && root[0] && !s->root)) {
        symbols_close(s);
        return symbols_no_memory();
    }
    const char *path = secure_getenv("UPMU_WRAPPERS");
    int rc = path && path[0] ? wrappers_read(&s->wrappers, path) : 0;
    if (rc == 0)
        *out = s;
    else
        symbols_close(s);
    return rc;
}

static void symbols_module_free(struct module *m)
{
    dwarf_index_close(m->index);
    if (m->dwarf)
        dwarf_end(m->dwarf);
    elf_names_free(&m->names);
    elf_names_free(&m->variables);
    dwarf_variables_free(&m->members);
    frame_kinds_free(&m->kinds);
    elf_file_close(&m->debug);
    elf_file_close(&m->file);
    textbuf_free(&m->problem);
    free(m->path);
    free(m->build_id);
}

void symbols_close(struct symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_modules; i++)
        symbols_module_free(&s->modules[i]);
    demangler_free(&s->demangler);
    wrappers_free(&s->wrappers);
    free(s->modules);
    free(s->debug_dir);
    free(s->root);
    free(s);
}

int symbols_module(struct symbols *s, const char *path, const char *build_id, uint32_t *module)
{
    for (size_t i = 0; i < s->n_modules; i++) {
        if (strcmp(s->modules[i].path, path) == 0 && strcmp(s->modules[i].build_id, build_id) == 0) {
            *module = (uint32_t)i;
            return 0;
        }
    }
    struct module *all = array_reserve(s->modules, s->n_modules, &s->cap_modules, sizeof *all);
    if (!all)
        return symbols_no_memory();
    s->modules = all;
    struct module m = {.path = strdup(path), .build_id = strdup(build_id), .file.fd = -1, .debug.fd = -1};
    if (!m.path || !m.build_id) {
        symbols_module_free(&m);
        return symbols_no_memory();
    }
    *module = (uint32_t)s->n_modules;
    s->modules[s->n_modules++] = m;
    return 0;
}

const char *symbols_problem(const struct symbols *s, uint32_t module)
{
    const char *text = s->modules[module].problem.data;
    return text ? text : "";
}

/* ------------------------------------------------------------------------------------------------------- files */

/* The separate debug file has the full symbol table, a stripped file only exported names. */
static int symbols_names_read(const struct module *m, struct elf_names *names, enum elf_names_kind kind)
{
    int rc = m->debug.elf ? elf_names_read(names, m->debug.elf, kind) : 0;
    return rc == 0 && names->n == 0 && m->file.elf ? elf_names_read(names, m->file.elf, kind) : rc;
}

/* The code that the kernel maps into each process is in no file: this process's own, if the build-id is the same. */
static void symbols_vdso_open(struct module *m)
{
    char path[64];
    size_t bytes;
    struct textbuf why = {0};
    const void *image = vdso_image(&bytes);
    int fd = image && m->build_id[0] ? memfd_create("vdso", MFD_CLOEXEC) : -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && write(fd, image, bytes) == (ssize_t)bytes)
        module_file_open(&m->file, path, m->build_id, &why);
    if (fd >= 0)
        close(fd);
    if (!m->file.elf)
        textbuf_printf(&m->problem, "%s is that of another kernel", m->path);
    textbuf_free(&why);
}

/* The module's file: in the folder that is the root directory of the recorded program, if there is one, else here. */
static int symbols_module_open(const struct symbols *s, struct module *m)
{
    struct textbuf in_root = {0}, problem = {0};
    if (s->root && m->path[0] == '/') {
        textbuf_printf(&in_root, "%s%s", s->root, m->path);
        if (in_root.failed)
            return symbols_no_memory();
        module_file_open(&m->file, in_root.data, m->build_id, &problem);
        textbuf_free(&in_root);
        textbuf_free(&problem);
    }
    if (strcmp(m->path, "linux-vdso.so.1") == 0)
        symbols_vdso_open(m);
    else if (!m->file.elf)
        module_file_open(&m->file, m->path, m->build_id, &m->problem);
    return 0;
}

static int symbols_module_read(struct symbols *s, struct module *m)
{
    m->opened = true;
    int rc = symbols_module_open(s, m);
    if (rc != 0)
        return rc;
    if (!elf_file_has_dwarf(&m->file))
        debug_file_open(&m->debug, &m->file, m->path, m->build_id, s->debug_dir, &m->problem);
    struct elf_file *best = elf_file_has_dwarf(&m->debug) ? &m->debug : &m->file;
    if (elf_file_has_dwarf(best) && elf_file_fits(best, m->path, &m->problem))
        m->dwarf = dwarf_begin_elf(best->elf, DWARF_C_READ, NULL);
    rc = m->dwarf ? dwarf_index_open(&m->index, m->dwarf, &s->demangler) : 0;
    frame_kinds_open(&m->kinds, m->file.elf);
    function_starts_open(&m->starts, m->file.elf);
    return rc == 0 ? symbols_names_read(m, &m->names, ELF_FUNCTIONS) : rc;
}

/* ---------------------------------------------------------------------------------------------------- look-up */

int symbols_find(struct symbols *s, uint32_t module, uint64_t address, struct symbol_frame *frames, size_t max)
{
    struct module *m = &s->modules[module];
    int rc = m->opened ? 0 : symbols_module_read(s, m);
    if (rc != 0 || max == 0)
        return rc;
    int n = m->index ? dwarf_index_find(m->index, address, frames, max) : 0;
    if (n < 0 || (n > 0 && frames[n - 1].function))
        return n;
    const struct elf_name *name = elf_names_find(&m->names, address);
    if (n == 0)
        frames[0] = (struct symbol_frame){0};
    if (name)
        frames[n > 0 ? n - 1 : 0].function = demangle(&s->demangler, name->name);
    return n > 0 ? n : name != NULL;
}

int symbols_code(struct symbols *s, uint32_t module, uint64_t address, struct symbol_code *out)
{
    struct module *m = &s->modules[module];
    int rc = m->opened ? 0 : symbols_module_read(s, m);
    *out = (struct symbol_code){.kind = UPMU_FRAME_UNKNOWN, .begin = address, .return_at = -1};
    if (rc != 0)
        return rc;
    out->kind = frame_kind_at(&m->kinds, address, &out->return_at);
    if (out->kind == UPMU_FRAME_STUB)
        out->stub = frame_stub_name(&m->kinds, address);
    const char *before = elf_names_before(&m->names, address, &out->from_before);
    out->before = before ? demangle(&s->demangler, before) : NULL;
    uint64_t begin = 0;
    bool has_begin = function_starts_find(&m->starts, address, &begin);
    if (before && (!has_begin || begin < address - out->from_before))
        begin = address - out->from_before;
    out->begin = has_begin || before ? begin : address;
    return 0;
}

int symbols_range(struct symbols *s, uint32_t module, uint64_t address, uint64_t *begin, uint64_t *end)
{
    struct module *m = &s->modules[module];
    int rc = m->opened ? 0 : symbols_module_read(s, m);
    const struct elf_name *name = rc == 0 ? elf_names_find(&m->names, address) : NULL;
    if (rc != 0 || !name)
        return rc != 0 ? rc : function_starts_range(&m->starts, address, begin, end);
    *begin = name->low;
    *end = name->high;
    return 1;
}

int symbols_tail_caller(struct symbols *s, uint32_t module, uint64_t address, struct symbol_frame *out)
{
    struct module *m = &s->modules[module];
    int rc = m->opened ? 0 : symbols_module_read(s, m);
    return rc == 0 && m->index ? dwarf_index_tail_caller(m->index, address, out) : rc;
}

int symbols_passes_on(struct symbols *s, uint32_t module, uint64_t address)
{
    struct module *m = &s->modules[module];
    int rc = m->opened ? 0 : symbols_module_read(s, m);
    return rc == 0 && m->index ? dwarf_index_passes_on(m->index, address) : rc;
}

/* "f::lock" for the static variable of a C function, whose symbol the compiler has numbered: "lock.0". */
static void symbols_variable_name(struct symbols *s, const struct elf_name *variable, const char *function,
                                  struct textbuf *out)
{
    const char *name = demangle(&s->demangler, variable->name), *dot = strrchr(name, '.');
    bool numbered = dot && dot > name && dot[1] && dot[1 + strspn(dot + 1, "0123456789")] == '\0';
    if (numbered && function)
        textbuf_printf(out, "%s::", function);
    textbuf_add(out, name, numbered ? (size_t)(dot - name) : strlen(name));
}

int symbols_variable(struct symbols *s, uint32_t module, uint64_t address, struct textbuf *out, bool *is_bytes)
{
    struct module *m = &s->modules[module];
    struct textbuf path = {0};
    const char *function = NULL;
    *is_bytes = false;
    int rc = m->opened ? 0 : symbols_module_read(s, m);
    if (rc == 0 && !m->has_variables)
        rc = symbols_names_read(m, &m->variables, ELF_VARIABLES);
    m->has_variables = rc == 0;
    const struct elf_name *variable = rc == 0 ? elf_names_find(&m->variables, address) : NULL;
    if (!variable)
        return rc;
    uint64_t offset = address - variable->low;
    if (m->dwarf)
        rc = dwarf_variables_find(&m->members, m->dwarf, variable->low, offset, &function, &path, is_bytes);
    if (rc >= 0) {
        symbols_variable_name(s, variable, function, out);
        if (rc == 0 && offset > 0)
            textbuf_printf(&path, "+0x%llx", (unsigned long long)offset);
        textbuf_add(out, path.data ? path.data : "", path.len);
    }
    textbuf_free(&path);
    return rc < 0 ? rc : out->failed ? symbols_no_memory() : 1;
}

bool symbols_is_wrapper(const struct symbols *s, const struct symbol_frame *frame, const char *module)
{
    return wrappers_match(&s->wrappers, frame->function, frame->file, module);
}
