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
#include "base/own_memory.h"
#include "base/text/pattern.h"
#include "base/private_table.h"
#include "func/elf_functions.h"
#include "func/format/notes.h"
#include "func/state.h"

enum { DECISIONS = 1 << 16, FORGOTTEN = 1 };

/* With the number of the selection above. */
enum { DECIDED = 1, IS_INCLUDED = 2, IS_EXCLUDED = 4, IS_BELOW = 8, DECISION_BITS = 4 };

/* A forked child finds it zeroed: it maps its modules and decides anew. */
static struct select {
    struct elf_functions file[FUNC_MODULES_MAX]; /* by module */
    uint32_t mapped[FUNC_MODULES_MAX]; /* 1: being mapped; 2: done; words, since some machines lack atomic bytes */
    struct {
        uint64_t function; /* 0: free */
        uint32_t decision;
    } decision[DECISIONS];
} * selection;

static uint32_t selecting; /* 1: a decision was made */

/* ---------------------------------------------------------------------------------------------------- patterns */

/* `pattern` is "NAME", or "MODULE:NAME". `module` NULL: any; `name` NULL: of a pattern with
 * a module, any. */
static bool pattern_matches_function(char *pattern, const char *module, const char *name)
{
    char *colon = strchr(pattern, ':');
    if (colon)
        *colon = '\0';
    return (name ? pattern_matches(colon ? colon + 1 : pattern, name) : colon != NULL) &&
           (!colon || !module || pattern_matches(pattern, module));
}

bool func_patterns_match(const char *text, const char *module, const char *name)
{
    char pattern[FUNC_PATTERN_MAX];
    for (size_t n; *text; text += n + (text[n] == ',')) {
        n = strcspn(text, ",");
        size_t bytes = n < sizeof pattern ? n : sizeof pattern - 1;
        memcpy(pattern, text, bytes);
        pattern[bytes] = '\0';
        if (pattern_matches_function(pattern, module, name))
            return true;
    }
    return false;
}

int func_select_start(void)
{
    selection = own_memory_map_wiped(sizeof *selection);
    return selection ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory for the settings of function recording");
}

uint32_t func_depth_max(uint32_t selected)
{
    return func_switch_selection(func_process.control, selected)->depth_max;
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

static uint32_t select_decide(const struct func_selection *by, uint64_t function)
{
    const char *module, *name = select_name(function, &module);
    return DECIDED | (!by->include[0] || func_patterns_match(by->include, module, name) ? IS_INCLUDED : 0u) |
           (func_patterns_match(by->exclude, module, name) ? IS_EXCLUDED : 0u) |
           (!by->below[0] || func_patterns_match(by->below, module, name) ? IS_BELOW : 0u);
}

/* The decision on a function. Without space in the table it is made again at each call. */
static uint32_t select_find(const struct func_selection *by, uint32_t selected, uint64_t function)
{
    uint32_t at = (uint32_t)((function * 0x9e3779b97f4a7c15u) >> 40), number = selected << DECISION_BITS;
    for (uint32_t k = 0; k < DECISIONS / 4; k++, at++) {
        uint64_t *key = &selection->decision[at % DECISIONS].function, free_key = 0;
        uint32_t *decision = &selection->decision[at % DECISIONS].decision;
        if (__atomic_load_n(key, __ATOMIC_ACQUIRE) == 0)
            (void)__atomic_compare_exchange_n(key, &free_key, function, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(key, __ATOMIC_ACQUIRE) != function)
            continue;
        uint32_t known = __atomic_load_n(decision, __ATOMIC_ACQUIRE);
        if (!(known & DECIDED) || known >> DECISION_BITS != number >> DECISION_BITS)
            __atomic_store_n(decision, known = number | select_decide(by, function), __ATOMIC_RELEASE);
        return known;
    }
    return select_decide(by, function);
}

bool func_is_selected(uint32_t selected, uint64_t function, bool outermost)
{
    const struct func_selection *by = func_switch_selection(func_process.control, selected);
    if (LIKELY(!by->include[0] && !by->exclude[0] && !by->below[0]))
        return true;
    __atomic_store_n(&selecting, 1, __ATOMIC_RELAXED);
    uint32_t d = select_find(by, selected, function);
    return (d & IS_INCLUDED) && !(d & IS_EXCLUDED) && (!outermost || (d & IS_BELOW));
}

void func_select_forget(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; __atomic_load_n(&selecting, __ATOMIC_RELAXED) && i < DECISIONS; i++) {
        uint64_t function = __atomic_load_n(&selection->decision[i].function, __ATOMIC_RELAXED);
        if (function >= start && function < end)
            __atomic_store_n(&selection->decision[i].function, FORGOTTEN, __ATOMIC_RELEASE);
    }
}
