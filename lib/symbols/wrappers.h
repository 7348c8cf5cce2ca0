/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Wrapper frames: functions that only pass a lock, thread or memory call on.
 *
 * A call site in such a function is the same for all callers. What a reader looks for is the first frame outside of them.
 */
#ifndef UPMU_ANALYSIS_WRAPPERS_H
#define UPMU_ANALYSIS_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

/** Patterns of the user; all zero is empty. */
struct wrappers {
    struct wrapper_pattern {
        int subject;
        char *pattern;
    } * all;
    size_t n, cap;
};

/** Add the patterns of a file. A line is SUBJECT:PATTERN with the subject "function", "file" or "module"; empty lines
 *  and those that begin with '#' are ignored. @return 0; UPMU_E_IO, UPMU_E_INVAL (malformed line), UPMU_E_NOMEM. */
int wrappers_read(struct wrappers *w, const char *path);
void wrappers_free(struct wrappers *w);

/** Whether a frame is of a wrapper; what is not known of it is NULL. */
bool wrappers_match(const struct wrappers *w, const char *function, const char *file, const char *module);

/** The qualified name in a demangled function name: without return type, arguments and what follows. @return its
 *  length, from `*begin` on. */
size_t function_name_find(const char *function, const char **begin);

/** What a std::thread runs, by the demangled name of the function that its thread begins with: "main::{lambda()#1}" of
 *  std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run(). @return its length, from `*begin` on;
 *  0 if it is not known: for a function, only its type is in the name. */
size_t function_callable_find(const char *function, const char **begin);

/** Whether a type is called a lock, a semaphore or a condition variable, as port::Mutex is. */
bool name_is_lock_class(const char *name);

#endif
