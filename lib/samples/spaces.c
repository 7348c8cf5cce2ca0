/* SPDX-License-Identifier: MIT */
/* What sampled processes had mapped at a moment. */
#include "samples/spaces.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elfutils/elfutils.h"

struct space *spaces_of(struct spaces *s, uint32_t pid)
{
    uint32_t i = map_find(&s->by_pid, pid, 0);
    if (i != MAP_NONE)
        return &s->all[i];
    struct space *all = array_reserve(s->all, s->n, &s->cap, sizeof *all);
    if (!all)
        return NULL;
    s->all = all;
    if (!map_put(&s->by_pid, pid, 0, (uint32_t)s->n))
        return NULL;
    all[s->n] = (struct space){.pid = pid};
    return &all[s->n++];
}

static uint32_t spaces_file(struct spaces *s, const char *path, const char *build_id)
{
    for (size_t i = 0; i < s->n_files; i++)
        if (strcmp(s->files[i].path, path) == 0 && strcmp(s->files[i].build_id, build_id) == 0)
            return (uint32_t)i;
    struct spaces_file *all = array_reserve(s->files, s->n_files, &s->cap_files, sizeof *all);
    char *copy = strdup(path);
    if (all)
        s->files = all;
    if (!all || !copy) {
        free(copy);
        return MAP_NONE;
    }
    struct spaces_file *f = &all[s->n_files];
    *f = (struct spaces_file){.path = copy, .module = MAP_NONE};
    snprintf(f->build_id, sizeof f->build_id, "%.40s", build_id);
    return (uint32_t)s->n_files++;
}

static bool spaces_add(struct space *space, const struct spaces_mapping *m)
{
    struct spaces_mapping *all = array_reserve(space->mappings, space->n, &space->cap, sizeof *all);
    if (all)
        space->mappings = all;
    if (!all || m->file == MAP_NONE)
        return false;
    all[space->n++] = *m;
    space->changes++;
    return true;
}

const char *spaces_image(const struct spaces *s, const struct spaces_file *f)
{
    return s->vdso && strcmp(f->path, "[vdso]") == 0 ? s->vdso : f->path;
}

bool spaces_map(struct spaces *s, struct space *space, uint64_t start, uint64_t bytes, uint64_t offset,
                const char *path, const char *build_id)
{
    bool is_file = path[0] == '/' && path[1] != '/';
    if (UINTPTR_MAX > UINT32_MAX && start <= UINT32_MAX && strcmp(path, "[vdso]") == 0)
        path = "[vdso32]"; /* of a process of 32 bits, which has another one */
    const struct spaces_mapping m = {start, start + bytes, offset, spaces_file(s, path, is_file ? build_id : ""),
                                     false};
    return spaces_add(space, &m);
}

bool spaces_map_module(struct spaces *s, struct space *space, uint64_t start, uint64_t end, uint64_t bias,
                       const char *path, const char *build_id)
{
    const struct spaces_mapping m = {start, end, bias, spaces_file(s, path, build_id), true};
    return spaces_add(space, &m);
}

bool spaces_fork(struct spaces *s, uint32_t parent, uint32_t child)
{
    if (!spaces_of(s, parent) || !spaces_of(s, child))
        return false;
    struct space *from = spaces_of(s, parent), *to = spaces_of(s, child); /* both are there: nothing moves */
    struct spaces_mapping *copy = malloc((from->n + 1) * sizeof *copy);
    if (!copy)
        return false;
    if (from->n > 0)
        memcpy(copy, from->mappings, from->n * sizeof *copy);
    free(to->mappings);
    to->mappings = copy;
    to->n = from->n;
    to->cap = from->n + 1;
    to->changes++;
    return true;
}

void spaces_exec(struct space *space)
{
    space->n = 0;
    space->changes++;
}

/* Segments of the file, as far as it is still there; the symbols check its build-id. */
static void file_read(const struct spaces *s, struct spaces_file *f)
{
    const char *path = spaces_image(s, f);
    size_t n = 0;
    f->is_read = true;
    int fd = path != f->path || path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    Elf *elf = NULL;
    if (fd >= 0 && elfutils_open() && elf_version(EV_CURRENT) != EV_NONE)
        elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &n) == 0 && n > 0)
        f->loads = calloc(n, sizeof *f->loads);
    for (size_t i = 0; f->loads && i < n; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD)
            f->loads[f->n_loads++] = (struct spaces_load){p.p_offset, p.p_filesz, p.p_vaddr};
    }
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
}

struct spaces_place spaces_mapping_place(struct spaces *s, const struct spaces_mapping *m, uint64_t address)
{
    if (m->is_bias)
        return (struct spaces_place){.file = m->file, .address = address - m->offset, .bias = m->offset};
    struct spaces_file *f = &s->files[m->file];
    uint64_t offset = address - m->start + m->offset, in_file = offset;
    if (!f->is_read)
        file_read(s, f);
    for (size_t i = 0; i < f->n_loads; i++)
        if (offset - f->loads[i].offset < f->loads[i].bytes)
            in_file = offset - f->loads[i].offset + f->loads[i].address;
    return (struct spaces_place){.file = m->file, .address = in_file, .bias = address - in_file};
}

struct spaces_place spaces_find(struct spaces *s, const struct space *space, uint64_t address)
{
    for (size_t i = space->n; i-- > 0;)
        if (address - space->mappings[i].start < space->mappings[i].end - space->mappings[i].start)
            return spaces_mapping_place(s, &space->mappings[i], address);
    return (struct spaces_place){.file = MAP_NONE, .address = address};
}

void spaces_free(struct spaces *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->all[i].mappings);
    for (size_t i = 0; i < s->n_files; i++) {
        free(s->files[i].path);
        free(s->files[i].loads);
    }
    free(s->vdso);
    free(s->all);
    free(s->files);
    map_free(&s->by_pid);
    *s = (struct spaces){0};
}
