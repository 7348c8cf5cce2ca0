/* SPDX-License-Identifier: MIT */
/*
 * Time to find 10,000 addresses of a C++ program as functions, inlined functions and lines.
 *
 * "First" starts with nothing read; "again" repeats the lookup. A missing address or too few inlined functions fail the
 * row.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/symbols.h"
#include "bench.h"

enum {
    ADDRESSES = 10000,
    FRAMES = 64,
    ROUNDS = 20,
    BAR_NS = 10000, /* 100 ms for all */
    STEP = 7919,    /* has no factor in common with ADDRESSES: all are asked for, in no order */
};

struct program {
    const char *path;
    uint64_t text, bytes;
    struct symbols *known;
    uint32_t module;
    uint64_t found, inlined; /* the last time */
};

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "bench_symbols: %s\n", what);
    exit(2);
}

static void find_text(struct program *p)
{
    GElf_Shdr header;
    size_t names;
    int fd = open(p->path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0 && elf_version(EV_CURRENT) != EV_NONE, p->path);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    must(elf && elf_getshdrstrndx(elf, &names) == 0, p->path);
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        must(gelf_getshdr(s, &header) != NULL, p->path);
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (!name || strcmp(name, ".text") != 0)
            continue;
        p->text = header.sh_addr;
        p->bytes = header.sh_size;
    }
    elf_end(elf);
    close(fd);
    must(p->bytes > ADDRESSES, "the subject has no code");
}

static void open_symbols(struct program *p)
{
    must(symbols_open(&p->known, NULL) == 0 && symbols_module(p->known, p->path, "", &p->module) == 0,
         "symbols cannot be opened");
}

static void find_all(struct program *p)
{
    struct symbol_frame frames[FRAMES];
    p->found = p->inlined = 0;
    for (uint64_t i = 0; i < ADDRESSES; i++) {
        int n =
            symbols_find(p->known, p->module, p->text + i * STEP % ADDRESSES * p->bytes / ADDRESSES, frames, FRAMES);
        p->found += n > 0;
        for (int k = 0; k < n; k++)
            p->inlined += frames[k].inlined;
    }
}

static void first(void *arg, size_t n)
{
    struct program *p = arg;
    for (size_t i = 0; i < n; i++) {
        symbols_close(p->known);
        open_symbols(p);
        find_all(p);
    }
}

static void again(void *arg, size_t n)
{
    for (size_t i = 0; i < n; i++)
        find_all(arg);
}

/* The floor: the file's bytes, read once. */
static void read_file(void *arg, size_t n)
{
    static char bytes[1 << 16];
    const struct program *p = arg;
    for (size_t i = 0; i < n; i++) {
        ssize_t got;
        int fd = open(p->path, O_RDONLY | O_CLOEXEC);
        must(fd >= 0, p->path);
        while ((got = read(fd, bytes, sizeof bytes)) > 0)
            ;
        close(fd);
        must(got == 0, p->path);
    }
}

static void measure(struct bench *b, struct program *p, const char *name, void (*loop)(void *, size_t), double bar)
{
    const struct bench_pair pair = {
        .subject = {.name = name, .loop = loop, .arg = p},
        .floor = {.name = "reading the file", .loop = read_file, .arg = p},
        .n = 1,
        .calls = ADDRESSES,
        .judge = BENCH_NS,
        .bar = bar,
    };
    struct bench_row *row = bench_compare(b, &pair);
    /* Some bytes of the C library's own beginnings are in no unit. */
    if (p->found < ADDRESSES / 100 * 99 || p->inlined < ADDRESSES)
        bench_fail(row, "%llu addresses found, %llu inlined functions", (unsigned long long)p->found,
                   (unsigned long long)p->inlined);
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("symbols", argc, argv);
    struct program p = {.path = BENCH_SUBJECT};
    b->rounds = b->rounds < ROUNDS ? b->rounds : ROUNDS;
    find_text(&p);
    open_symbols(&p);
    measure(b, &p, "one of 10,000 addresses, first", first, BAR_NS);
    measure(b, &p, "one of 10,000 addresses, again", again, BAR_NS / 10);
    symbols_close(p.known);
    return bench_end(b);
}
