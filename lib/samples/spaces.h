/* SPDX-License-Identifier: MIT */
/** @file What sampled processes had mapped at a moment: processes, mappings and files. */
#ifndef UPMU_SAMPLES_SPACES_H
#define UPMU_SAMPLES_SPACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct spaces_file {
    char *path;
    char build_id[41]; /**< hexadecimal; "" if unknown */
    uint32_t module;   /**< of the symbols */
    bool is_read;      /**< `loads` is filled */
    struct spaces_load {
        uint64_t offset, bytes, address;
    } * loads; /**< segments of the file */
    size_t n_loads;
};

struct spaces_mapping {
    uint64_t start, end;
    uint64_t offset; /**< in the file; with `is_bias` the load bias */
    uint32_t file;
    bool is_bias;
};

/** A process since its last exec. */
struct space {
    uint32_t pid;
    uint32_t changes; /**< grows with each change of the mappings */
    struct spaces_mapping *mappings;
    size_t n, cap;
    void *unwinder; /**< of unwind.c; NULL: none yet */
};

struct spaces {
    struct space *all;
    size_t n, cap;
    struct map by_pid;
    struct spaces_file *files;
    size_t n_files, cap_files;
    char *vdso; /**< path of a copy of [vdso]; NULL: there is none */
};

/** An address of a process as one in a file. */
struct spaces_place {
    uint32_t file;    /**< MAP_NONE: no file is known there */
    uint64_t address; /**< of the file, without the load bias; of memory if there is no file */
    uint64_t bias;    /**< difference of the two */
};

/** The space of a process, created if needed. NULL without memory. */
struct space *spaces_of(struct spaces *s, uint32_t pid);
/** Add a mapping of executable code; later ones hide earlier ones. @return false without memory. */
bool spaces_map(struct spaces *s, struct space *space, uint64_t start, uint64_t bytes, uint64_t offset,
                const char *path, const char *build_id);
/** The path that a file is read from: of [vdso] that of its copy. */
const char *spaces_image(const struct spaces *s, const struct spaces_file *f);
/** The same for a module whose load bias is known. @return false without memory. */
bool spaces_map_module(struct spaces *s, struct space *space, uint64_t start, uint64_t end, uint64_t bias,
                       const char *path, const char *build_id);
/** A forked process begins with its parent's mappings. @return false without memory. */
bool spaces_fork(struct spaces *s, uint32_t parent, uint32_t child);
/** The process executes a program. */
void spaces_exec(struct space *space);
/** Find an address. */
struct spaces_place spaces_find(struct spaces *s, const struct space *space, uint64_t address);
/** The place of a mapping's first byte. */
struct spaces_place spaces_mapping_place(struct spaces *s, const struct spaces_mapping *m, uint64_t address);
void spaces_free(struct spaces *s);

#endif
