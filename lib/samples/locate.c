/* SPDX-License-Identifier: MIT */
/* Addresses as functions, inlined ones included; each address is looked up once. */
#include <stdlib.h>
#include <string.h>

#include "samples/samples.h"
#include "upmu/analysis.h"

static uint64_t locate_hash(uint64_t h, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)(text ? text : "\1"); *c; c++)
        h = (h ^ *c) * 0x100000001b3u;
    return (h ^ 0xff) * 0x100000001b3u;
}

static bool locate_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

uint32_t samples_function(struct upmu_samples *s, const struct samples_function *f)
{
    uint64_t hash = locate_hash(locate_hash(0xcbf29ce484222325u, f->name), f->file);
    uint64_t key = (uint64_t)f->module_file << 32 ^ (f->name ? 0 : f->offset);
    uint32_t found;
    for (; (found = map_find(&s->by_function, hash, key)) != MAP_NONE; hash++) { /* equal hashes use consecutive keys */
        const struct samples_function *g = &s->functions[found];
        if (g->module_file == f->module_file && locate_same(g->name, f->name) && locate_same(g->file, f->file) &&
            (f->name || g->offset == f->offset))
            return found;
    }
    struct samples_function *all = array_reserve(s->functions, s->n_functions, &s->cap_functions, sizeof *all);
    if (!all)
        return MAP_NONE;
    s->functions = all;
    if (!map_put(&s->by_function, hash, key, (uint32_t)s->n_functions))
        return MAP_NONE;
    all[s->n_functions] = *f;
    return (uint32_t)s->n_functions++;
}

static bool locate_add(struct upmu_samples *s, struct samples_location *l, const struct samples_function *f,
                       uint32_t line)
{
    struct samples_inlined *all = array_reserve(s->inlined, s->n_inlined, &s->cap_inlined, sizeof *all);
    uint32_t function = samples_function(s, f);
    if (all)
        s->inlined = all;
    if (!all || function == MAP_NONE)
        return false;
    all[s->n_inlined++] = (struct samples_inlined){function, line};
    l->n++;
    return true;
}

/* Stubs of the linker have the name of the function that they call, code that was generated at run time that of the process's JIT
 * symbol map. */
static bool locate_unknown(struct upmu_samples *s, struct samples_location *l, const struct spaces_place *p,
                           const struct symbol_code *code, uint32_t pid)
{
    struct samples_function f = {.module_file = p->file, .offset = code->begin};
    f.is_stub = code->kind == UPMU_FRAME_STUB;
    if (f.is_stub)
        f.name = code->stub;
    else if (!samples_jit_find(s, pid, p->address + p->bias, &f.name))
        return false;
    else if (f.name) {
        f.module_file = MAP_NONE;
        l->java = samples_java_generated(f.name);
    }
    return locate_add(s, l, &f, 0);
}

/* In libc the code that calls main() and thread functions has no name unless its debug information is installed. */
static bool locate_is_start(const struct upmu_samples *s, const struct samples_function *f)
{
    static const char *const names[] = {
        "_start",  "__libc_start_call_main", "__libc_start_main", "start_thread", "clone", "clone3", "__clone",
        "__clone3"};
    const char *path = f->module_file == MAP_NONE ? "" : s->spaces.files[f->module_file].path,
               *slash = strrchr(path, '/');
    for (size_t i = 0; *path && f->name && i < sizeof names / sizeof *names; i++)
        if (strncmp(f->name, names[i], strlen(names[i])) == 0)
            return true;
    return !f->name && slash && strncmp(slash + 1, "libc", 4) == 0;
}

static bool locate_fill(struct upmu_samples *s, struct samples_location *l, const struct spaces_place *p, uint32_t pid)
{
    struct symbol_frame frames[SAMPLES_INLINED_MAX];
    struct symbol_code code = {.kind = UPMU_FRAME_UNKNOWN, .begin = p->address, .return_at = -1};
    struct spaces_file *f = p->file == MAP_NONE ? NULL : &s->spaces.files[p->file];
    if (f && f->module == MAP_NONE &&
        symbols_module(s->symbols, spaces_image(&s->spaces, f), f->build_id, &f->module) < 0)
        return false;
    int n = f ? symbols_find(s->symbols, f->module, p->address, frames, SAMPLES_INLINED_MAX) : 0;
    if (n < 0 || (f && symbols_code(s->symbols, f->module, p->address, &code) < 0))
        return false;
    l->first = (uint32_t)s->n_inlined;
    for (int i = 0; i < n; i++) {
        const struct samples_function one = {
            .name = frames[i].function, .file = frames[i].file, .module_file = p->file, .offset = p->address};
        if (!locate_add(s, l, &one, frames[i].file ? frames[i].line : 0))
            return false;
    }
    l->java = f ? samples_java_of_file(f->path) : JAVA_NONE;
    if (n == 0 && !locate_unknown(s, l, p, &code, pid))
        return false;
    l->return_at = code.return_at;
    l->is_root =
        code.kind == UPMU_FRAME_ROOT || locate_is_start(s, &s->functions[s->inlined[l->first + l->n - 1].function]);
    return true;
}

const struct samples_location *samples_locate(struct upmu_samples *s, const struct space *space, uint64_t address,
                                              bool is_return)
{
    const struct spaces_place p = spaces_find(&s->spaces, space, address - is_return);
    struct samples_location l = {.file = p.file, .address = p.address};
    /* Memory without a file differs between processes. */
    bool shared = p.file != MAP_NONE && strncmp(s->spaces.files[p.file].path, "//", 2) != 0;
    uint64_t key = shared ? p.file : (uint64_t)space->pid << 32 | p.file;
    uint32_t i = map_find(&s->by_address, key, p.address);
    if (i != MAP_NONE)
        return &s->locations[i];
    struct samples_location *all = array_reserve(s->locations, s->n_locations, &s->cap_locations, sizeof *all);
    if (all)
        s->locations = all;
    if (!all || !locate_fill(s, &l, &p, space->pid) ||
        !map_put(&s->by_address, key, p.address, (uint32_t)s->n_locations))
        return NULL;
    all[s->n_locations] = l;
    return &all[s->n_locations++];
}
