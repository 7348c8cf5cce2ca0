/* SPDX-License-Identifier: MIT */
/** @file Selection of functions by patterns of their names, modules and source files. */
#ifndef UPMU_FUNC_SELECT_H
#define UPMU_FUNC_SELECT_H

#include <stdbool.h>
#include <stdint.h>

/** What patterns are matched with. `module` NULL: any module; `name` NULL: any function, for patterns with a module; `source`
 *  NULL: patterns of sources match nothing. */
struct func_names {
    const char *module, *name, *source;
};

/** Whether one of the patterns, separated by commas, matches a function: "NAME", "@SOURCE", "MODULE:NAME" or "MODULE:@SOURCE". */
bool func_patterns_match(const char *patterns, const struct func_names *f);
/** Memory for decisions. @return 0; UPMU_E_NOMEM. */
int func_select_start(void);
/** Whether a call of the function is recorded, by that selection; `outermost`: no recorded function called it, so the patterns
 * below which functions are recorded apply. Async-signal-safe. */
bool func_is_selected(uint32_t selected, uint64_t function, bool outermost);
/** Functions of a call path that are recorded; 0: all. */
uint32_t func_depth_max(uint32_t selected);
/** The functions of [start, end) are gone: others may come in their place. */
void func_select_forget(uint64_t start, uint64_t end);

#endif
