/* SPDX-License-Identifier: MIT */
/** @file Event table files in memory, and the rows of each family that follow from them. */
#ifndef UPMU_ARCH_GENERATOR_MODEL_H
#define UPMU_ARCH_GENERATOR_MODEL_H

#include "arch/generator/csv.h"
#include "core/arch_ops.h"

enum model_kind { MODEL_EVENTS, MODEL_NATIVE, MODEL_PRESETS, MODEL_DEFAULTS, MODEL_KINDS };
enum { MODEL_NEAR_MAX = 8 };

/** A row of a file. `first` numbers the rows of one kind over all files. */
struct model_event {
    struct arch_event row;
    int line;
};

struct model_native {
    struct arch_native row;
    const char *families; /**< blank-separated; "" = all of the file */
    int line;
};

struct model_preset {
    struct arch_preset row;
    int line;
    bool used; /**< a family has it */
};

/** What families without a row for an event have. */
struct model_default {
    const char *name;
    const char *formula;              /**< the sum it is where its terms are there, or "" */
    const char *near[MODEL_NEAR_MAX]; /**< the first of them counts whose events are there */
    size_t n_near;
    const char *note; /**< why it is absent, or "": for the family's reason */
    int line;
};

struct model_file {
    struct csv csv;
    enum model_kind kind;
    char *name;   /**< the file's name without folder and endings */
    size_t first; /**< number of its first row among all rows of the kind */
    struct model_event *events;
    struct model_native *natives;
    struct model_preset *presets;
    struct model_default *defaults;
    size_t n_rows;
};

/** A reference to row `row` of a file. */
struct model_ref {
    const struct model_file *file;
    size_t row;
};

/** A family, or a set of rows that families share, and all rows it has with those of its bases. */
struct model_family {
    struct model_file *file;
    struct model_family *base;
    bool set;
    bool complete; /**< its rows are merged with those of its base */
    struct model_ref *events, *natives, *presets;
    size_t n_events, n_natives, n_presets;
};

struct model {
    struct model_file *files;
    size_t n_files;
    struct model_family *families;
    size_t n_families;
    /** Rows made from defaults, as if they were one more file of events. */
    struct model_file made;
};

/** Read all files and check their rows one by one. */
void model_read(struct model *m, char *const *paths, size_t n);
/** Give each family the rows of its bases, its native names and its presets, and check what depends on them. */
void model_link(struct model *m);
/** Give each family rows for the events that it has none of, and absent rows their near events, by the defaults. */
void model_complete(struct model *m);
void model_free(struct model *m);

const struct model_event *model_event_of(const struct model_ref *ref);

/** A row of a family by name, `len` characters of it; NULL if it has none. */
const struct model_event *model_find_event(const struct model_family *f, const char *name, size_t len);

/** The first word of a blank-separated list that begins at `*at`, which moves behind it. @return its length, 0 at the end */
size_t model_word(const char **at, const char **word);

/** What keeps a family from counting a formula, or NULL; `term` is then the term it is about. */
struct cells_term;
const char *model_formula_wrong(const struct model_family *f, const char *formula, struct cells_term *term);

#endif
