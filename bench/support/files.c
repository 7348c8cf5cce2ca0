/* SPDX-License-Identifier: MIT */
/* Temporary folders, and files that grow by mapped pieces. */
#include "files.h"

#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

void bench_folder_make(char path[PATH_MAX])
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/upmu-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(path))
        give_up(path);
}

/* All entries below a folder, those in a folder before itself. */
static FTS *walk(const char *path)
{
    char *const paths[] = {(char *)(uintptr_t)path, NULL};
    FTS *f = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!f)
        give_up(path);
    return f;
}

void bench_folder_remove(const char *path)
{
    FTS *f = walk(path);
    for (const FTSENT *e; (e = fts_read(f));)
        if (e->fts_info != FTS_D && remove(e->fts_accpath) != 0)
            give_up(e->fts_path);
    fts_close(f);
}

double bench_folder_bytes(const char *path)
{
    FTS *f = walk(path);
    double bytes = 0;
    for (const FTSENT *e; (e = fts_read(f));)
        if (e->fts_info == FTS_F)
            bytes += (double)e->fts_statp->st_size;
    fts_close(f);
    return bytes;
}

void bench_file_grow(struct bench_file *f)
{
    if (f->piece)
        munmap(f->piece, f->piece_bytes);
    off_t bytes = (off_t)f->piece_bytes;
    if (fallocate(f->fd, FALLOC_FL_KEEP_SIZE, f->end, bytes) != 0 || ftruncate(f->fd, f->end + bytes) != 0)
        give_up("floor");
    f->piece = mmap(NULL, f->piece_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, f->end);
    if (f->piece == MAP_FAILED)
        give_up("floor");
    madvise(f->piece, f->piece_bytes, 23 /* MADV_POPULATE_WRITE, Linux 5.14; without it the pages come one by one */);
    f->end += bytes;
    f->used = 0;
}

void bench_file_open(struct bench_file *f, const char *folder, size_t piece_bytes)
{
    *f = (struct bench_file){.fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600), .piece_bytes = piece_bytes};
    if (f->fd < 0)
        give_up(folder);
    bench_file_grow(f);
}

void bench_file_close(struct bench_file *f)
{
    munmap(f->piece, f->piece_bytes);
    close(f->fd);
}
