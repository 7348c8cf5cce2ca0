/* SPDX-License-Identifier: MIT */
/*
 * Selection of functions by patterns of their names, modules and source files.
 *
 * A function is decided on when it is called for the first time on some path, in a hook: its name is searched in the mapped
 * symbol table of its module, its source in the line table, without an allocation, and the decision is kept.
 */
#include "func/select.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/own_memory.h"
#include "base/text/pattern.h"
#include "base/private_table.h"
#include "base/tiny_lock.h"
#include "func/symbols/elf_functions.h"
#include "func/symbols/elf_lines.h"
#include "func/format/notes.h"
#include "func/state.h"

enum { DECISIONS = 1 << 16, FORGOTTEN = 1 };

/* A step that one thread takes for all, and how often others wait for it. */
enum { STEP_BEGUN = 1, STEP_DONE, STEP_WAITS = 100 };

/* With the number of the selection above. */
enum { DECIDED = 1, IS_INCLUDED = 2, IS_EXCLUDED = 4, IS_BELOW = 8, DECISION_BITS = 4 };

/* A forked child finds it zeroed: it maps its modules and decides anew. */
static struct select {
    struct elf_functions file[FUNC_MODULES_MAX]; /* by module */
    struct elf_lines lines[FUNC_MODULES_MAX];
    uint32_t mapped[FUNC_MODULES_MAX]; /* STEP_: words, since some machines lack atomic bytes */
    uint32_t lined[FUNC_MODULES_MAX];
    struct {
        uint64_t function; /* 0: free */
        uint32_t decision;
    } decision[DECISIONS];
} * selection;

static uint32_t selecting; /* 1: a decision was made */

/* ---------------------------------------------------------------------------------------------------- patterns */

/* `pattern` is "NAME" or "@SOURCE", with or without "MODULE:" before it. `f->module` NULL: any; `f->name` NULL: of a pattern
 * with a module, any; `f->source` NULL: none. */
static bool pattern_matches_function(char *pattern, const struct func_names *f)
{
    char *colon = pattern[0] == '@' ? NULL : strchr(pattern, ':');
    if (colon)
        *colon = '\0';
    const char *rest = colon ? colon + 1 : pattern;
    const bool matches = !f->name         ? colon != NULL
                         : rest[0] == '@' ? f->source && pattern_matches(rest + 1, f->source)
                                          : pattern_matches(rest, f->name);
    return matches && (!colon || !f->module || pattern_matches(pattern, f->module));
}

bool func_patterns_match(const char *text, const struct func_names *f)
{
    char pattern[FUNC_PATTERN_MAX];
    for (size_t n; *text; text += n + (text[n] == ',')) {
        n = strcspn(text, ",");
        size_t bytes = n < sizeof pattern ? n : sizeof pattern - 1;
        memcpy(pattern, text, bytes);
        pattern[bytes] = '\0';
        if (pattern_matches_function(pattern, f))
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
    struct elf_lines *lines; /* NULL: only the file is mapped */
    const char *path;
};

static int select_map_file(void *arg)
{
    const struct map_order *o = arg;
    if (o->lines)
        elf_lines_map(o->lines, o->file);
    else
        elf_functions_map(o->file, o->path);
    return 0;
}

/* Take a step once; other threads wait for the one that takes it. @return whether it is done: not within the step, as in a signal handler. */
static bool select_once(uint32_t *step, struct map_order *o)
{
    const struct timespec patience = {.tv_nsec = 100000000};
    uint32_t none = 0;
    int saved = errno;
    if (func_tls.selects)
        return false;
    if (__atomic_load_n(step, __ATOMIC_ACQUIRE) == STEP_DONE)
        return true;
    func_tls.selects = 1;
    if (__atomic_compare_exchange_n(step, &none, STEP_BEGUN, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        (void)private_table_run(select_map_file, o);
        __atomic_store_n(step, STEP_DONE, __ATOMIC_RELEASE);
        tiny_lock_wake(step);
    }
    for (int i = 0; i < STEP_WAITS && __atomic_load_n(step, __ATOMIC_ACQUIRE) != STEP_DONE; i++)
        tiny_lock_sleep(step, STEP_BEGUN, &patience);
    func_tls.selects = 0;
    errno = saved;
    return __atomic_load_n(step, __ATOMIC_ACQUIRE) == STEP_DONE;
}

static bool select_by_source(const struct func_selection *by)
{
    return strchr(by->include, '@') || strchr(by->exclude, '@') || strchr(by->below, '@');
}

/* The names of a function; its source into `source` unless that is NULL. @return false if they cannot be known now. */
static bool select_names(uint64_t function, struct func_names *f, char *source)
{
    const struct func_shared *s = func_process.shared;
    uint32_t n = __atomic_load_n(&s->n_modules, __ATOMIC_ACQUIRE), i = 0;
    *f = (struct func_names){"", "", ""};
    while (i < n && (function < s->module[i].start || function >= s->module[i].end))
        i++;
    if (i == n)
        return false;
    if (s->module[i].note == UINT32_MAX)
        return true;
    const struct func_note *note = (const void *)((const char *)s->header + FUNC_HEADER_BYTES + s->module[i].note);
    const char *id = (const char *)(note + 1);
    f->module = id + strlen(id) + 1;
    struct map_order o = {.file = &selection->file[i], .path = f->module};
    if (!select_once(&selection->mapped[i], &o))
        return false;
    const char *name = elf_functions_name(&selection->file[i], function - note->base);
    f->name = name ? name : "";
    if (!source)
        return true;
    o.lines = &selection->lines[i];
    if (!select_once(&selection->lined[i], &o))
        return false;
    if (elf_lines_source(o.lines, function - note->base, source, PATH_MAX) > 0)
        f->source = source;
    else
        __atomic_fetch_add(&s->header->sourceless, 1, __ATOMIC_RELAXED);
    return true;
}

/* 0: it cannot be known yet. */
static uint32_t select_decide(const struct func_selection *by, uint64_t function)
{
    struct func_names f;
    char *source = select_by_source(by) ? own_memory_map(PATH_MAX, 0) : NULL; /* the stack may be a small one */
    uint32_t decision = 0;
    if (select_names(function, &f, source))
        decision = DECIDED | (!by->include[0] || func_patterns_match(by->include, &f) ? IS_INCLUDED : 0u) |
                   (func_patterns_match(by->exclude, &f) ? IS_EXCLUDED : 0u) |
                   (!by->below[0] || func_patterns_match(by->below, &f) ? IS_BELOW : 0u);
    if (source)
        own_memory_unmap(source, PATH_MAX);
    return decision;
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
        if ((known & DECIDED) && known >> DECISION_BITS == number >> DECISION_BITS)
            return known;
        known = select_decide(by, function);
        if (known != 0)
            __atomic_store_n(decision, number | known, __ATOMIC_RELEASE);
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
