/* SPDX-License-Identifier: MIT */
/* Functions of a file that uprobes are put on: by the symbol tables. */
#include "sampling/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"
#include "elfutils/elfutils.h"
#include "sampling/exits.h"

enum { ENTRIES_MAX = 1000, PIECES = 2 };

/* Code that the running kernel puts probes on: of this library's machine, and of a smaller word. EM_NONE: any is taken. */
#if defined(__x86_64__)
enum { TARGETS_MACHINE = EM_X86_64, TARGETS_MACHINE_32 = EM_386 };
#elif defined(__aarch64__)
enum { TARGETS_MACHINE = EM_AARCH64, TARGETS_MACHINE_32 = EM_AARCH64 };
#elif defined(__riscv)
enum { TARGETS_MACHINE = EM_RISCV, TARGETS_MACHINE_32 = EM_RISCV };
#elif defined(__loongarch__) && defined(EM_LOONGARCH)
enum { TARGETS_MACHINE = EM_LOONGARCH, TARGETS_MACHINE_32 = EM_LOONGARCH };
#else
enum { TARGETS_MACHINE = EM_NONE, TARGETS_MACHINE_32 = EM_NONE };
#endif

/* A file that is searched. */
struct targets_search {
    struct targets *t;
    Elf *elf;
    const char *path, *pattern;
    bool timed;
    const struct exits_machine *machine; /* NULL: its instructions cannot be decoded */
    int rc;
};

/* Called for each symbol that is defined. */
typedef void targets_fn(struct targets_search *s, const char *name, const GElf_Sym *symbol, void *arg);

static bool targets_is_function(const GElf_Sym *symbol)
{
    return GELF_ST_TYPE(symbol->st_info) == STT_FUNC;
}

static void targets_each_in(struct targets_search *s, Elf_Scn *section, const GElf_Shdr *head, targets_fn *fn,
                            void *arg)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
    for (size_t i = 0; i < n && s->rc == 0; i++) {
        GElf_Sym one;
        const char *name = gelf_getsym(data, (int)i, &one) ? elf_strptr(s->elf, head->sh_link, one.st_name) : NULL;
        if (name && one.st_shndx != SHN_UNDEF)
            fn(s, name, &one, arg);
    }
}

static void targets_each(struct targets_search *s, targets_fn *fn, void *arg)
{
    for (Elf_Scn *at = elf_nextscn(s->elf, NULL); at && s->rc == 0; at = elf_nextscn(s->elf, at)) {
        GElf_Shdr head;
        if (gelf_getshdr(at, &head) && (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM))
            targets_each_in(s, at, &head, fn, arg);
    }
}

/* Where the bytes at an address are in the file. @return false if they are not in it. */
static bool targets_offset(const struct targets_search *s, uint64_t address, uint64_t bytes, uint64_t *offset)
{
    size_t n;
    if (elf_getphdrnum(s->elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(s->elf, (int)i, &p) || p.p_type != PT_LOAD || address < p.p_vaddr ||
            address - p.p_vaddr >= p.p_filesz)
            continue;
        *offset = address - p.p_vaddr + p.p_offset;
        return bytes <= p.p_filesz - (address - p.p_vaddr);
    }
    return false;
}

/* The code of a function in the file. @return false if it is not in it. */
static bool targets_code(const struct targets_search *s, const GElf_Sym *symbol, struct exits_code *code)
{
    size_t all;
    const char *file = elf_rawfile(s->elf, &all);
    uint64_t offset;
    if (!file || symbol->st_size == 0 || !targets_offset(s, symbol->st_value, symbol->st_size, &offset) ||
        offset > all || symbol->st_size > all - offset)
        return false;
    *code = (struct exits_code){(const unsigned char *)file + offset, symbol->st_size, symbol->st_value};
    return true;
}

static bool targets_add(struct target **all, size_t *n, size_t *cap, struct target one)
{
    struct target *grown = array_reserve(*all, *n, cap, sizeof *grown);
    if (grown) {
        *all = grown;
        grown[(*n)++] = one;
    }
    return grown != NULL;
}

/* A part of a function that the compiler moved away. */
struct targets_cold {
    const char *of;
    GElf_Sym symbol;
    bool found;
};

static void targets_match_cold(struct targets_search *s, const char *name, const GElf_Sym *symbol, void *arg)
{
    struct targets_cold *cold = arg;
    size_t n = strlen(cold->of);
    (void)s;
    if (targets_is_function(symbol) && strncmp(name, cold->of, n) == 0 && strcmp(name + n, ".cold") == 0) {
        cold->symbol = *symbol;
        cold->found = true;
    }
}

/* Pieces of code that are searched for data. */
struct targets_data {
    const struct exits_code *pieces;
    size_t n;
    bool found;
};

/* "$d", or "$d." and more. */
static void targets_match_data(struct targets_search *s, const char *name, const GElf_Sym *symbol, void *arg)
{
    struct targets_data *data = arg;
    (void)s;
    if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE || strncmp(name, "$d", 2) != 0 || (name[2] && name[2] != '.'))
        return;
    for (size_t i = 0; i < data->n; i++)
        data->found |= symbol->st_value - data->pieces[i].address < data->pieces[i].bytes;
}

/* A probe at data that looks like an exit would change the data. */
static bool targets_has_data(struct targets_search *s, const struct exits_code *pieces, size_t n)
{
    struct targets_data data = {.pieces = pieces, .n = n};
    if (s->machine->marks_data)
        targets_each(s, targets_match_data, &data);
    return data.found;
}

/* The kernel handles an entry and an exit at one address in no particular order: a function that begins with its end has no time.
 * @return whether all exits are known. */
static bool targets_add_exits(struct targets_search *s, const struct exits_code *pieces, size_t n)
{
    for (size_t piece = 0; piece < n; piece++) {
        struct target exit;
        uint64_t address;
        size_t offset = 0;
        while ((address = sampling_next_exit(s->machine, pieces, n, piece, &offset, &exit.jumps)) != 0 &&
               address != UINT64_MAX) {
            if (address == pieces[0].address || !targets_offset(s, address, 1, &exit.offset))
                return false;
            if (!targets_add(&s->t->exits, &s->t->n_exits, &s->t->cap_exits, exit))
                s->rc = UPMU_E_NOMEM;
        }
        if (address == UINT64_MAX)
            return false;
    }
    return true;
}

static void targets_find_exits(struct targets_search *s, const char *name, const GElf_Sym *symbol)
{
    struct exits_code pieces[PIECES];
    struct targets_cold cold = {.of = name};
    size_t n = s->t->n_exits;
    if (!targets_code(s, symbol, &pieces[0]))
        return;
    targets_each(s, targets_match_cold, &cold);
    bool two = cold.found && targets_code(s, &cold.symbol, &pieces[1]);
    if (targets_has_data(s, pieces, two ? 2 : 1) || !targets_add_exits(s, pieces, two ? 2 : 1))
        s->t->n_exits = n;
}

/* Whether the kernel emulates the first instruction of a function, or this is not known. */
static bool targets_is_emulated(const struct targets_search *s, const GElf_Sym *symbol)
{
    struct exits_code code;
    return !s->machine || !targets_code(s, symbol, &code) || s->machine->step(code.at, code.bytes).is_emulated;
}

/* A function can have several names, and be in both tables. */
static void targets_match(struct targets_search *s, const char *name, const GElf_Sym *symbol, void *arg)
{
    struct targets *t = s->t;
    uint64_t offset;
    (void)arg;
    if (!targets_is_function(symbol) || fnmatch(s->pattern, name, 0) != 0 ||
        !targets_offset(s, symbol->st_value, 0, &offset) || strstr(name, ".cold") != NULL)
        return;
    for (size_t i = 0; i < t->n_entries; i++)
        if (t->entries[i].offset == offset)
            return;
    if (s->timed)
        targets_find_exits(s, name, symbol);
    t->emulated |= targets_is_emulated(s, symbol);
    if (t->n_entries == ENTRIES_MAX)
        s->rc = upmu_fail(UPMU_E_NAME, "%s has more than %d functions %s", s->path, (int)ENTRIES_MAX, s->pattern);
    else if (!targets_add(&t->entries, &t->n_entries, &t->cap_entries, (struct target){.offset = offset}))
        s->rc = UPMU_E_NOMEM;
}

static int targets_none(const struct targets_search *s)
{
    if (s->t->n_entries > 0)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "%s: no instruction is known by which %s returns. Count its calls: uprobe:FILE:FUNCTION",
                         s->path, s->pattern);
    return upmu_fail(
        UPMU_E_NAME,
        "%s has no function %s in its symbol tables (functions that the dynamic linker selects, such as memcpy, "
        "are none). Names of C++ are as 'nm' shows them",
        s->path, s->pattern);
}

/* Select the decoder. @return 0 or a negative code, with the message. */
static int targets_check_machine(struct targets_search *s)
{
    GElf_Ehdr file;
    unsigned machine = gelf_getehdr(s->elf, &file) ? file.e_machine : EM_NONE;
    const struct exits_machine *own = sampling_exits(TARGETS_MACHINE);
    s->machine = sampling_exits(machine);
    if (own && machine != TARGETS_MACHINE && machine != TARGETS_MACHINE_32) {
        char name[32];
        snprintf(name, sizeof name, "ELF machine %u", machine);
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "%s has code of %s: on this machine the kernel puts probes on code of %s only", s->path,
                         s->machine ? s->machine->name : name, own->name);
    }
    if (s->timed && !s->machine)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "%s: calls are timed by uprobes in code of x86-64, AArch64, RISC-V and LoongArch only. Count "
                         "them: uprobe:FILE:FUNCTION",
                         s->path);
    s->t->address = s->timed ? s->machine->address : NULL;
    return 0;
}

int targets_find(struct targets *t, const char *path, const char *pattern, bool timed)
{
    struct targets_search s = {.t = t, .path = path, .pattern = pattern, .timed = timed};
    if (!elfutils_open())
        return upmu_fail(UPMU_E_UNSUPPORTED, "%s", elfutils_problem());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return upmu_fail(UPMU_E_NAME, "cannot open %s: %s", path, strerror(errno));
    (void)elf_version(EV_CURRENT);
    s.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (s.elf && elf_kind(s.elf) == ELF_K_ELF)
        s.rc = targets_check_machine(&s);
    if (s.elf && elf_kind(s.elf) == ELF_K_ELF && s.rc == 0)
        targets_each(&s, targets_match, NULL);
    elf_end(s.elf);
    close(fd);
    if (s.rc == UPMU_E_NOMEM)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for a sampler");
    return s.rc == 0 && (timed ? t->n_exits : t->n_entries) == 0 ? targets_none(&s) : s.rc;
}

void targets_free(struct targets *t)
{
    free(t->entries);
    free(t->exits);
}
