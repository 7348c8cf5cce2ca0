/* SPDX-License-Identifier: MIT */
/* Names of threads and objects, found at the first question and kept. */
#include "analysis/identity.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/public.h"
#include "symbols/wrappers.h"

/* ----------------------------------------------------------------------------------------------------- threads */

enum { COMM_MAX = 15 }; /* of a name in the kernel, which threads inherit */

/* The program's name, as the kernel names its threads. */
static size_t thread_program(const struct upmu_overview *o, uint32_t process, const char **begin)
{
    struct upmu_trace_process p = {.size = sizeof p};
    *begin = "";
    if (upmu_trace_process_at(o->trace, process, &p) != 0 || !p.command)
        return 0;
    size_t n = strcspn(p.command, " ");
    const char *slash = memrchr(p.command, '/', n);
    *begin = slash ? slash + 1 : p.command;
    n -= (size_t)(*begin - p.command);
    return n < COMM_MAX ? n : COMM_MAX;
}

/* Whether the thread was given a name: that of the program is inherited. */
static bool thread_is_named(const struct upmu_overview *o, const struct ov_thread *t)
{
    const char *program;
    size_t n = thread_program(o, t->process, &program);
    return t->name && t->name[0] && (n == 0 || strlen(t->name) != n || memcmp(t->name, program, n) != 0);
}

/* The outermost function of an address that is no wrapper, "" if there is none. */
static const char *thread_outermost(const struct upmu_overview *o, uint32_t process, uint64_t address, size_t *n)
{
    struct location *l = &o->lookup->own;
    const char *name = "";
    *n = 0;
    if (address == 0 || location_find(o, process, address, l) != 0)
        return "";
    for (size_t i = l->n_frames; i > 0 && *n == 0; i--)
        if (l->frames[i - 1].function && !symbols_is_wrapper(o->lookup->symbols, &l->frames[i - 1], l->symbol.module))
            *n = function_name_find(l->frames[i - 1].function, &name);
    return name;
}

/* What the thread was started with: threads of C++ and Rust begin in their library. */
static char *thread_function(const struct upmu_overview *o, const struct ov_thread *t)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    size_t n;
    const char *name = thread_outermost(o, t->process, t->start, &n);
    bool whole = n == 0 && t->stack_is_whole && upmu_trace_stack_find(o->trace, t->process, t->stack, &stack) == 0;
    for (uint32_t i = whole ? stack.n_frames : 0; i > 0 && n == 0; i--)
        name = thread_outermost(o, t->process, stack.frames[i - 1], &n);
    if (n == 0)
        n = thread_program(o, t->process, &name);
    static const char call[] = "::operator()"; /* of a lambda, or an object that is called */
    size_t n_call = sizeof call - 1;
    bool called = n > n_call && memcmp(name + n - n_call, call, n_call) == 0;
    return strndup(name, called ? n - n_call : n);
}

const char *identity_thread(const struct upmu_overview *o, uint32_t thread)
{
    struct lookup *l = o->lookup;
    const struct ov_thread *t = &o->pass.threads[thread];
    if (!l) /* an overview of no recording */
        return t->name ? t->name : "";
    if (thread_is_named(o, t))
        return t->name;
    if (t->tid == t->pid)
        return "main";
    while (l->n_threads < o->pass.n_threads) {
        struct thread_identity *all = array_reserve(l->threads, l->n_threads, &l->cap_threads, sizeof *all);
        if (!all)
            return "";
        l->threads = all;
        all[l->n_threads++] = (struct thread_identity){0};
    }
    /* Of a recording that is still written, a whole stack may come later. */
    struct thread_identity *name = &l->threads[thread];
    if (!name->text || name->stack != t->stack) {
        free(name->text);
        *name = (struct thread_identity){.text = thread_function(o, t), .stack = t->stack};
    }
    return name->text ? name->text : "";
}
