/* SPDX-License-Identifier: MIT */
/*
 * Selection of functions by patterns of their names and modules.
 *
 * A function is decided on when it is called for the first time on some path, in a hook: its name is searched in the mapped
 * symbol table of its module, without an allocation, and the decision is kept.
 */
#include "func/select.h"

#include <string.h>

#include "base/error.h"
#include "base/text/pattern.h"
#include "base/private_table.h"
#include "func/elf_functions.h"
#include "func/format/notes.h"
#include "func/state.h"

enum { PATTERNS_MAX = 32, PATTERN_MAX = 256, DECISIONS = 1 << 16, FORGOTTEN = 1 };

enum { DECIDED = 1, IS_INCLUDED = 2, IS_EXCLUDED = 4, IS_BELOW = 8 };

struct patterns {
    uint32_t n;
    struct {
        char module[PATTERN_MAX], name[PATTERN_MAX]; /* module "": any */
    } pattern[PATTERNS_MAX];
};

static bool selecting;
static struct patterns include, exclude, below;

/* A forked child finds it zeroed: it maps its modules and decides anew. */
static struct select {
    struct elf_functions file[FUNC_MODULES_MAX]; /* by module */
    uint32_t mapped[FUNC_MODULES_MAX]; /* 1: being mapped; 2: done; words, since some machines lack atomic bytes */
    struct {
        uint64_t function; /* 0: free */
        uint32_t decision;
    } decision[DECISIONS];
} * selection;

/* ---------------------------------------------------------------------------------------------------- patterns */

/* "NAME", or "MODULE:NAME". */
static int patterns_add(struct patterns *p, const char *variable, const char *text, size_t n)
{
    const char *colon = memchr(text, ':', n);
    size_t module = colon ? (size_t)(colon - text) : 0, skip = colon ? module + 1 : 0;
    if (p->n == PATTERNS_MAX || n >= PATTERN_MAX)
        return upmu_fail(UPMU_E_INVAL, "%s has more than %d patterns, or one of more than %d characters", variable,
                         PATTERNS_MAX, PATTERN_MAX - 1);
    memcpy(p->pattern[p->n].module, text, module);
    memcpy(p->pattern[p->n].name, text + skip, n - skip);
    p->n++;
    return 0;
}

static int patterns_parse(struct patterns *p, const char *variable, const char *text)
{
    int rc = 0;
    for (; rc == 0 && text && *text; text += strspn(text, ",")) {
        size_t n = strcspn(text, ",");
        if (n > 0)
            rc = patterns_add(p, variable, text, n);
        text += n;
    }
    return rc;
}

static bool patterns_match(const struct patterns *p, const char *module, const char *name)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (pattern_matches(p->pattern[i].module, module) && pattern_matches(p->pattern[i].name, name))
            return true;
    return false;
}

int func_select_start(const char *included, const char *excluded, const char *triggers)
{
    if (!included && !excluded && !triggers)
        return 0;
    selection = func_map_wiped(sizeof *selection);
    if (!selection)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    int rc = patterns_parse(&include, "UPMU_FUNC_INCLUDE", included);
    if (rc == 0)
        rc = patterns_parse(&exclude, "UPMU_FUNC_EXCLUDE", excluded);
    if (rc == 0)
        rc = patterns_parse(&below, "UPMU_FUNC_BELOW", triggers);
    selecting = rc == 0;
    return rc;
}

/* -------------------------------------------------------------------------------------------------------- names */

struct map_order {
    struct elf_functions *file;
    const char *path;
};

static int select_map_file(void *arg)
{
    const struct map_order *o = arg;
    elf_functions_map(o->file, o->path);
    return 0;
}

/* The module of a function, by its note; its file is mapped once. */
static const char *select_name(uint64_t function, const char **module)
{
    const struct func_shared *s = func_process.shared;
    uint32_t n = __atomic_load_n(&s->n_modules, __ATOMIC_ACQUIRE), i = 0;
    while (i < n && (function < s->module[i].start || function >= s->module[i].end))
        i++;
    *module = "";
    if (i == n || s->module[i].note == UINT32_MAX)
        return "";
    const struct func_note *note = (const void *)((const char *)s->header + FUNC_HEADER_BYTES + s->module[i].note);
    const char *id = (const char *)(note + 1);
    *module = id + strlen(id) + 1;
    uint32_t unmapped = 0;
    if (__atomic_compare_exchange_n(&selection->mapped[i], &unmapped, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        struct map_order o = {&selection->file[i], *module};
        (void)private_table_run(select_map_file, &o);
        __atomic_store_n(&selection->mapped[i], 2, __ATOMIC_RELEASE);
    }
    if (__atomic_load_n(&selection->mapped[i], __ATOMIC_ACQUIRE) != 2)
        return "";
    const char *name = elf_functions_name(&selection->file[i], function - note->base);
    return name ? name : "";
}

static uint32_t select_decide(uint64_t function)
{
    const char *module, *name = select_name(function, &module);
    return DECIDED | (include.n == 0 || patterns_match(&include, module, name) ? IS_INCLUDED : 0u) |
           (patterns_match(&exclude, module, name) ? IS_EXCLUDED : 0u) |
           (below.n == 0 || patterns_match(&below, module, name) ? IS_BELOW : 0u);
}

/* The decision on a function. Without space in the table it is made again at each call. */
static uint32_t select_find(uint64_t function)
{
    uint32_t at = (uint32_t)((function * 0x9e3779b97f4a7c15u) >> 40);
    for (uint32_t k = 0; k < DECISIONS / 4; k++, at++) {
        uint64_t *key = &selection->decision[at % DECISIONS].function, free_key = 0;
        uint32_t *decision = &selection->decision[at % DECISIONS].decision;
        if (__atomic_load_n(key, __ATOMIC_ACQUIRE) == 0)
            (void)__atomic_compare_exchange_n(key, &free_key, function, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(key, __ATOMIC_ACQUIRE) != function)
            continue;
        uint32_t known = __atomic_load_n(decision, __ATOMIC_ACQUIRE);
        if (known == 0)
            __atomic_store_n(decision, known = select_decide(function), __ATOMIC_RELEASE);
        return known;
    }
    return select_decide(function);
}

bool func_is_selected(uint64_t function, bool outermost)
{
    if (LIKELY(!selecting))
        return true;
    uint32_t d = select_find(function);
    return (d & IS_INCLUDED) && !(d & IS_EXCLUDED) && (!outermost || (d & IS_BELOW));
}

void func_select_forget(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; selecting && i < DECISIONS; i++) {
        uint64_t function = __atomic_load_n(&selection->decision[i].function, __ATOMIC_RELAXED);
        if (function >= start && function < end)
            __atomic_store_n(&selection->decision[i].function, FORGOTTEN, __ATOMIC_RELEASE);
    }
}
