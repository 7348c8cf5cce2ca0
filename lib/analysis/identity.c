/* SPDX-License-Identifier: MIT */
/* Names of threads and objects, found at the first question and kept. */
#include "analysis/identity.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/locations.h"
#include "analysis/pass/tables.h"
#include "analysis/public.h"
#include "base/text/textbuf.h"
#include "symbols/wrappers.h"
#include "trace/read/bare.h"

/* ----------------------------------------------------------------------------------------------------- threads */

enum { COMM_MAX = 15 }; /* of a name in the kernel, which threads inherit */

/* The command of a process, kept, since upmu_trace_process_at() reads its streams. NULL: unknown, or without memory. */
static const char *thread_command(const struct upmu_overview *o, uint32_t process)
{
    struct lookup *l = o->lookup;
    while (l->n_commands <= process) {
        struct upmu_trace_process p = {.size = sizeof p};
        const char **all = array_reserve(l->commands, l->n_commands, &l->cap_commands, sizeof *all);
        if (!all)
            return NULL;
        l->commands = all;
        int rc = upmu_trace_process_at(o->trace, l->n_commands, &p);
        all[l->n_commands++] = rc == 0 ? p.command : NULL;
    }
    return l->commands[process];
}

/* The program's name, as the kernel names its threads. */
static size_t thread_program(const struct upmu_overview *o, uint32_t process, const char **begin)
{
    const char *command = thread_command(o, process);
    *begin = "";
    if (!command)
        return 0;
    size_t n = strcspn(command, " ");
    const char *slash = memrchr(command, '/', n);
    *begin = slash ? slash + 1 : command;
    n -= (size_t)(*begin - command);
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
static const char *thread_outermost(const struct upmu_overview *o, uint32_t process, uint64_t address, size_t *n,
                                    bool *unnamed)
{
    struct location *l = &o->lookup->own;
    const char *name = "";
    *n = 0;
    *unnamed = false;
    if (address == 0 || location_find(o, process, address, l) != 0)
        return "";
    *unnamed = l->n_frames == 0 && location_line(o, l) == 0;
    if (l->n_frames > 0 && l->frames[l->n_frames - 1].function)
        *n = function_callable_find(l->frames[l->n_frames - 1].function, &name);
    for (size_t i = l->n_frames; i > 0 && *n == 0; i--)
        if (l->frames[i - 1].function && !symbols_is_wrapper(o->lookup->symbols, &l->frames[i - 1], l->symbol.module))
            *n = strcmp(l->frames[i - 1].function, "operator()") == 0
                     ? 0 /* of a lambda without a name */
                     : function_name_find(l->frames[i - 1].function, &name);
    return name;
}

/* The outermost function of a whole stack that is no wrapper. A function without a name may be the one: those that it calls are
 * not. @return its length. */
static size_t thread_stack_function(const struct upmu_overview *o, uint32_t process, uint32_t stack, const char **name,
                                    bool *unnamed)
{
    struct upmu_trace_stack s = {.size = sizeof s};
    size_t n = 0;
    *unnamed = false;
    if (upmu_overview_stack_find(o, process, stack, &s) != 0 || s.truncated)
        return 0;
    for (uint32_t i = s.n_frames; i > 0 && n == 0 && !*unnamed; i--)
        *name = thread_outermost(o, process, s.frames[i - 1], &n, unnamed);
    return n;
}

bool identity_stack_shows_start(const struct upmu_overview *o, uint32_t process, uint32_t stack)
{
    const char *name = "";
    bool unnamed;
    return thread_stack_function(o, process, stack, &name, &unnamed) > 0 || unnamed;
}

/* What the thread was started with: threads of C++ and Rust begin in their library. */
static char *thread_function(const struct upmu_overview *o, const struct ov_thread *t)
{
    size_t n;
    bool unnamed;
    const char *name = thread_outermost(o, t->process, t->start, &n, &unnamed);
    if (n == 0 && !unnamed && t->stack_shows_start)
        n = thread_stack_function(o, t->process, t->stack, &name, &unnamed);
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

/* ----------------------------------------------------------------------------------------------------- objects */

static const char *object_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* " from codec_open": the innermost function with a name that the call at frame `call` of a stack was made for. */
static void object_describe_caller(const struct upmu_overview *o, uint32_t process, uint64_t call, uint32_t stack,
                                   struct textbuf *out)
{
    struct location *l = &o->lookup->own;
    struct upmu_trace_stack s = {.size = sizeof s};
    const char *name = NULL;
    size_t n = 0, i = 0;
    if (stack == 0 || upmu_trace_stack_find(o->trace, process, stack, &s) != 0)
        return;
    while (i < s.n_frames && s.frames[i] != call)
        i++;
    while (n == 0 && ++i < s.n_frames) {
        size_t depth = location_find(o, process, s.frames[i], l) == 0 ? location_line(o, l) : SIZE_MAX;
        if (depth < l->n_frames && l->frames[depth].function)
            n = function_name_find(l->frames[depth].function, &name);
    }
    if (n) {
        textbuf_printf(out, " from ");
        textbuf_add(out, name, n);
    }
}

/* "Cache::Cache cache.cc:12": the line that matters at a call. @return whether its function has a name. */
static bool object_describe_call(const struct upmu_overview *o, uint32_t process, uint64_t call, const char *before,
                                 struct textbuf *out)
{
    struct location *l = &o->lookup->own;
    const char *name;
    if (location_find(o, process, call, l) != 0)
        return true;
    size_t depth = location_line(o, l);
    const struct symbol_frame *f = l->n_frames == 0 ? NULL : &l->frames[depth == SIZE_MAX ? l->n_frames - 1 : depth];
    textbuf_printf(out, "%s", before);
    if (f && f->function) {
        size_t n = function_callable_find(f->function, &name);
        if (n == 0)
            n = function_name_find(f->function, &name);
        textbuf_add(out, name, n);
    } else {
        textbuf_printf(out, "%s+0x%llx", l->symbol.module ? object_base_name(l->symbol.module) : "",
                       (unsigned long long)l->symbol.offset);
    }
    if (f && f->file)
        textbuf_printf(out, " %s:%u", object_base_name(f->file), (unsigned)f->line);
    return f && f->function;
}

/* The source with that text, added if it is new; MAP_NONE without memory. The text is taken over. */
static uint32_t object_source_add(struct lookup *l, uint32_t process, struct textbuf *text)
{
    uint64_t hash = process;
    for (const char *p = text->data ? text->data : ""; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    uint32_t at = map_find(&l->by_source_text, process, hash);
    if (at != MAP_NONE || text->failed || !text->data) {
        textbuf_free(text);
        return at;
    }
    struct object_source *all = array_reserve(l->sources, l->n_sources, &l->cap_sources, sizeof *all);
    l->sources = all ? all : l->sources;
    if (!all || !map_put(&l->by_source_text, process, hash, (uint32_t)l->n_sources)) {
        textbuf_free(text);
        return MAP_NONE;
    }
    all[l->n_sources] = (struct object_source){.text = text->data};
    return (uint32_t)l->n_sources++;
}

/* Where the object was initialized, else where it was first used. */
static uint32_t object_source_of(const struct upmu_overview *o, const struct ov_object *x, int *kind)
{
    struct lookup *l = o->lookup;
    struct textbuf text = {0};
    bool made = x->init_site || x->init_stack;
    *kind = made ? UPMU_IDENTITY_CREATED : UPMU_IDENTITY_FIRST_USE;
    uint64_t call = made ? lookup_call(o, x->process, x->init_site, x->init_stack)
                         : lookup_call(o, x->process, x->used_site, x->used_stack);
    call = made ? call : call_site_outside(&o->pass, (uint32_t)(x - o->pass.objects), call);
    if (call == 0)
        return MAP_NONE;
    uint32_t stack = made ? x->init_stack : x->used_stack;
    uint64_t kind_of_call = (uint64_t)x->process << 2 | (unsigned)made, kind_of_stack = kind_of_call | 2;
    uint32_t known = map_find(&l->by_source_call, kind_of_call, call);
    if (known == MAP_NONE && stack)
        known = map_find(&l->by_source_call, kind_of_stack, stack);
    if (known != MAP_NONE)
        return known;
    bool named = object_describe_call(o, x->process, call, made ? "" : "first use ", &text);
    if (!named)
        object_describe_caller(o, x->process, call, stack, &text);
    known = object_source_add(l, x->process, &text);
    if (known != MAP_NONE)
        (void)map_put(&l->by_source_call, named || !stack ? kind_of_call : kind_of_stack,
                      named || !stack ? call : stack, known);
    return known;
}

/* The module that the object is in, and its address there. That of its first call is certain; at the time of its first event, another
 * thread may not have recorded yet that the module was mapped. */
static bool object_module(const struct upmu_overview *o, const struct ov_object *x, struct upmu_trace_module *m,
                          uint64_t *address)
{
    uint64_t call = x->init_site || x->init_stack ? lookup_call(o, x->process, x->init_site, x->init_stack)
                                                  : lookup_call(o, x->process, x->used_site, x->used_stack);
    *address = trace_address_beside(x->address, call);
    if (call != 0 && location_module(o, x->process, call, m) && *address >= m->start && *address < m->end)
        return true;
    *address = trace_address_at(o->trace, x->process, x->address, x->tick);
    return location_module(o, x->process, *address, m);
}

/* Threads have names of their own; calls are no objects in memory. */
static bool object_has_place(const struct ov_object *x)
{
    return x->type != UPMU_OBJECT_THREAD && x->type != UPMU_OBJECT_CALL;
}

/* 1 + the first object at that place of a file, which may be loaded several times; 0 without memory. */
static uint32_t object_first_of(struct lookup *l, const struct ov_object *x, uint32_t file, uint64_t offset,
                                uint32_t object)
{
    enum { TYPES = 64 };
    const uint64_t in = (uint64_t)x->process << 32 | file, at = offset * TYPES + (uint32_t)x->type;
    uint32_t first = map_find(&l->by_variable, in, at);
    if (first != MAP_NONE)
        return first + 1;
    return map_put(&l->by_variable, in, at, object) ? object + 1 : 0;
}

/* The static variable that an object is, or is in, by its index. */
static char *object_variable(const struct upmu_overview *o, uint32_t object, struct object_identity *i)
{
    const struct ov_object *x = &o->pass.objects[object];
    struct upmu_trace_module m;
    struct textbuf text = {0};
    uint64_t address;
    uint32_t index;
    bool in_module = object_module(o, x, &m, &address);
    i->reusable = !in_module;
    if (!in_module || symbols_module(o->lookup->symbols, m.path, m.build_id, &index) != 0)
        return NULL;
    int found = symbols_variable(o->lookup->symbols, index, address - m.base, &text, &i->reusable);
    /* In a stripped file: the call site of its creation is preferred. */
    if (found == 0 && x->init_site == 0 && x->init_stack == 0)
        textbuf_printf(&text, "static %s+0x%llx", object_base_name(m.path), (unsigned long long)(address - m.base));
    if (found >= 0 && text.data) {
        i->variable = object_first_of(o->lookup, x, index, address - m.base, object);
        return text.data;
    }
    textbuf_free(&text);
    return NULL;
}

/* Gives every object its source, in their order, so that numbers do not depend on what is asked for. */
static bool objects_number(const struct upmu_overview *o)
{
    struct lookup *l = o->lookup;
    while (l->n_objects < o->pass.n_objects) {
        struct object_identity *all = array_reserve(l->objects, l->n_objects, &l->cap_objects, sizeof *all);
        if (!all)
            return false;
        l->objects = all;
        const struct ov_object *x = &o->pass.objects[l->n_objects];
        uint32_t object = (uint32_t)l->n_objects++;
        struct object_identity *i = &all[object];
        *i = (struct object_identity){.source = MAP_NONE};
        i->text = object_has_place(x) ? object_variable(o, object, i) : NULL;
        if (i->text)
            i->kind = UPMU_IDENTITY_VARIABLE;
        else if (object_has_place(x))
            i->source = object_source_of(o, x, &i->kind);
        if (i->source != MAP_NONE)
            i->number = ++l->sources[i->source].n;
        else if (!i->text)
            i->kind = UPMU_IDENTITY_ADDRESS;
    }
    return true;
}

struct identity identity_object(const struct upmu_overview *o, uint32_t object)
{
    struct lookup *l = o->lookup;
    const struct ov_object *x = &o->pass.objects[object];
    struct identity none = {.kind = UPMU_IDENTITY_ADDRESS, .name = "", .group = ""};
    if (x->name && x->name[0])
        return (struct identity){.kind = UPMU_IDENTITY_NAME, .name = x->name, .group = x->name};
    if (!l || !objects_number(o))
        return none;
    struct object_identity *i = &l->objects[object];
    const char *group = i->source == MAP_NONE ? i->text : l->sources[i->source].text;
    if (!i->text && i->source != MAP_NONE) {
        struct textbuf text = {0};
        textbuf_printf(&text, "%s", group);
        if (i->number > 1)
            textbuf_printf(&text, " #%u", (unsigned)i->number);
        i->text = text.data;
    }
    return i->text ? (struct identity){.kind = i->kind, .name = i->text, .group = group, .variable = i->variable}
                   : none;
}

bool identity_memory_is_reusable(const struct upmu_overview *o, uint32_t process, int type, uint64_t address)
{
    uint32_t object = object_last(&o->pass, process, type, address);
    return object != MAP_NONE && o->lookup && objects_number(o) && o->lookup->objects[object].reusable;
}

void identity_free(struct lookup *l)
{
    for (size_t i = 0; i < l->n_threads; i++)
        free(l->threads[i].text);
    for (size_t i = 0; i < l->n_objects; i++)
        free(l->objects[i].text);
    for (size_t i = 0; i < l->n_sources; i++)
        free(l->sources[i].text);
    free(l->commands);
    free(l->threads);
    free(l->objects);
    free(l->sources);
    map_free(&l->by_source_text);
    map_free(&l->by_source_call);
    map_free(&l->by_variable);
}
