/* SPDX-License-Identifier: MIT */
/* Recorded functions of a recording: its files, summed up, with names from the modules' symbols. */
#include "functions/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "func/format/notes.h"
#include "func/format/switch.h"
#include "upmu/control.h"

static int functions_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading recorded functions");
}

/* ------------------------------------------------------------------------------------------------------- files */

struct file {
    void *data;
    size_t bytes;
};

/* @return 1; 0: there is no such file; -1: it cannot be read. */
static int file_map_bytes(struct file *f, const char *dir, const char *name, off_t least)
{
    char path[PATH_MAX];
    struct stat st;
    *f = (struct file){0};
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return -1;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= least;
    void *p = good ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (p == MAP_FAILED)
        return -1;
    *f = (struct file){p, (size_t)st.st_size};
    return 1;
}

static int file_map(struct file *f, const char *dir, const char *name)
{
    return file_map_bytes(f, dir, name, FUNC_HEADER_BYTES);
}

static void file_unmap(struct file *f)
{
    if (f->data)
        munmap(f->data, f->bytes);
    *f = (struct file){0};
}

/* ------------------------------------------------------------------------------------------------------- names */

struct numbering {
    struct upmu_functions *functions;
    const struct func_modules *modules;
    struct file control; /**< the switch of the process, or nothing */
    struct func_tree_counts counts;
};

/* The outermost frame at the first instruction is the function itself, whatever was inlined there. Clang's instructions for XRay,
 * which come first, may have no line. */
static int row_find_symbol(struct functions_row *r, struct symbols *symbols)
{
    enum { BEGIN_BYTES = 64 };
    struct symbol_frame frames[FUNCTIONS_INLINED_MAX];
    int n = symbols_find(symbols, r->module, r->offset, frames, FUNCTIONS_INLINED_MAX);
    if (n > 0) {
        r->name = frames[n - 1].function;
        r->file = frames[n - 1].file;
        r->line = frames[n - 1].line;
    }
    for (uint64_t at = 1; n > 0 && r->line == 0 && at < BEGIN_BYTES; at++) {
        n = symbols_find(symbols, r->module, r->offset + at, frames, FUNCTIONS_INLINED_MAX);
        if (n > 0 && frames[n - 1].function == r->name)
            r->line = frames[n - 1].line;
    }
    return n < 0 ? n : 0;
}

/* A module that was loaded at several addresses, or in several processes, has its functions once. */
static uint32_t functions_number(void *arg, uint64_t function)
{
    const struct numbering *n = arg;
    struct upmu_functions *f = n->functions;
    const struct func_module *m = func_modules_find(n->modules, function);
    struct functions_row row = {.module = UINT32_MAX, .offset = (function & FUNC_ADDRESS_MASK) - (m ? m->base : 0)};
    if (m && symbols_module(f->symbols, m->path, m->build_id, &row.module) < 0)
        return MAP_NONE;
    uint32_t i = map_find(&f->by_place, row.module, row.offset);
    if (i != MAP_NONE)
        return i;
    struct functions_row *all = array_reserve(f->rows, f->n_rows, &f->cap_rows, sizeof *all);
    char *path = m ? strdup(m->path) : NULL;
    if (all)
        f->rows = all;
    if (!all || (m && (!path || row_find_symbol(&row, f->symbols) < 0))) {
        free(path);
        return MAP_NONE;
    }
    row.path = path;
    i = (uint32_t)f->n_rows++;
    all[i] = row;
    return map_put(&f->by_place, row.module, row.offset, i) ? i : MAP_NONE;
}

/* ----------------------------------------------------------------------------------------------------- reading */

/* Events of a recording are those of its first process that has any. */
static const struct func_counter *functions_counters(const struct func_process_header *h)
{
    return (const void *)((const char *)h + FUNC_COUNTERS_AT);
}

static void functions_take_counters(struct upmu_functions *f, const struct func_process_header *h)
{
    if (f->n_counters > 0 || h->counters == 0 || h->counters > FUNC_COUNTERS_MAX || f->profile.n_paths > 0)
        return;
    memcpy(f->counters, functions_counters(h), h->counters * sizeof *f->counters);
    f->n_counters = f->profile.counters = h->counters;
    for (uint32_t i = 0; i < f->n_counters; i++)
        f->counters[i].name[sizeof f->counters[i].name - 1] = f->counters[i].reason[sizeof f->counters[i].reason - 1] =
            0;
}

static bool functions_has_counters(const struct upmu_functions *f, const struct func_process_header *h)
{
    const struct func_counter *c = functions_counters(h);
    bool same = h->counters == f->n_counters;
    for (uint32_t i = 0; same && i < f->n_counters; i++)
        same = strncmp(c[i].name, f->counters[i].name, sizeof c[i].name) == 0;
    return same;
}

/* When the calls that have not returned end; 0: at the last return. */
static uint64_t functions_end(struct func_switch *s, const struct func_process_header *h, const struct func_tree *t)
{
    uint64_t stopped;
    const uint32_t *gate = s ? func_switch_gate(s) : NULL;
    if (t->end_tick)
        return t->end_tick;
    if (gate && func_switch_stopped(s, __atomic_load_n(gate, __ATOMIC_ACQUIRE), t->interval, &stopped))
        return stopped;
    return h->end_tick;
}

static int functions_read_thread(struct numbering *n, const char *dir, const struct func_process_header *h,
                                 const struct file *file, double ns_per_tick)
{
    struct upmu_functions *f = n->functions;
    const struct func_tree *t = file->data;
    if (!func_tree_is_valid(t, file->bytes)) {
        f->totals.damages++;
        return 0;
    }
    f->totals.threads += t->nodes > FUNC_NODES_FIXED ? t->lives : 0; /* the cost was measured in one */
    f->totals.lost_space += t->lost[FUNC_LOSS_NODES];
    f->totals.lost_depth += t->lost[FUNC_LOSS_DEPTH];
    f->totals.left += t->left;
    f->totals.unmatched += t->unmatched;
    f->totals.stopped += t->stopped;
    struct file counts;
    char name[32];
    snprintf(name, sizeof name, FUNC_COUNTS_FILE, (unsigned)t->number);
    n->counts.counts = NULL;
    if (h->counted && functions_has_counters(f, h) && file_map_bytes(&counts, dir, name, 1) == 1) {
        n->counts.counts = counts.data;
        n->counts.bytes = counts.bytes;
    } else {
        counts = (struct file){0};
    }
    uint64_t end = functions_end(n->control.data, h, t);
    bool added = func_profile_add(&f->profile, t, file->bytes, end, ns_per_tick, &n->counts, functions_number, n);
    file_unmap(&counts);
    if (!added)
        return functions_no_memory();
    return functions_add_stream(f, dir, h, t, end, file->bytes, functions_number, n);
}

static int functions_read_threads(struct numbering *n, const char *dir, const struct func_process_header *h)
{
    struct upmu_functions *f = n->functions;
    uint32_t threads = __atomic_load_n(&h->threads, __ATOMIC_ACQUIRE);
    double ns_per_tick = h->hz ? 1e9 / (double)h->hz : 0;
    uint64_t before = f->profile.calls + f->profile.skipped;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < threads; i++) {
        char name[32];
        struct file file;
        snprintf(name, sizeof name, FUNC_THREAD_FILE, (unsigned)i);
        if (file_map(&file, dir, name) == 1)
            rc = functions_read_thread(n, dir, h, &file, ns_per_tick);
        else
            f->totals.damages++;
        file_unmap(&file);
        if (f->totals.damages > FUNCTIONS_DAMAGES_MAX) /* a damaged number of threads */
            break;
    }
    double cost = (double)(h->inner_ticks + h->outer_ticks) * ns_per_tick;
    f->totals.sourceless += h->sourceless;
    f->totals.cost_ns += (uint64_t)((double)(f->profile.calls + f->profile.skipped - before) * cost);
    if (f->totals.call_cost_ps == 0)
        f->totals.call_cost_ps = (uint64_t)(cost * 1000);
    return rc;
}

/* Each start changes the gate. */
static bool functions_never_started(struct func_switch *s)
{
    const uint32_t *gate = s ? func_switch_gate(s) : NULL;
    uint32_t now = gate ? __atomic_load_n(gate, __ATOMIC_ACQUIRE) : FUNC_OFF;
    return now != FUNC_OFF && now == s->paused && (now & FUNC_KIND) == 0;
}

static int functions_read_process(struct upmu_functions *f, const struct upmu_control_status *s)
{
    struct file file;
    struct func_modules modules = {0};
    struct numbering n = {.functions = f, .modules = &modules};
    int found = file_map(&file, s->dir, FUNC_PROCESS_FILE), rc = 0;
    const struct func_process_header *h = file.data;
    if (found == 0)
        return 0;
    if (found < 0 || !h || memcmp(h->magic, FUNC_PROCESS_MAGIC, sizeof h->magic) != 0 ||
        h->version < FUNC_VERSION_OLDEST || h->version > FUNC_VERSION) {
        f->totals.damages++;
        file_unmap(&file);
        return 0;
    }
    if (file_map(&n.control, s->dir, FUNC_SWITCH_FILE) != 1 || !func_switch_is_valid(n.control.data, n.control.bytes)) {
        f->totals.damages++;
        file_unmap(&n.control);
    }
    f->totals.never_started += functions_never_started(n.control.data);
    f->totals.processes++;
    f->totals.running += s->running && h->end_tick == 0;
    f->totals.lost_thread += h->lost[FUNC_LOSS_THREAD] + h->lost[FUNC_LOSS_HANDLER];
    functions_take_counters(f, h);
    for (uint32_t i = 0; i < FUNC_COUNTERS_MAX; i++)
        n.counts.inner[i] = functions_counters(h)[i].inner;
    rc = func_modules_read(&modules, h, file.bytes) ? functions_read_threads(&n, s->dir, h) : functions_no_memory();
    func_modules_free(&modules);
    file_unmap(&n.control);
    file_unmap(&file);
    return rc;
}

static int functions_read(struct upmu_functions *f, const char *dir)
{
    struct upmu_control *control;
    struct upmu_control_status s = {.size = sizeof s};
    int rc = upmu_control_open(&control, dir);
    if (rc < 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < upmu_control_process_count(control); i++) {
        if (upmu_control_status_read(control, i, &s) == 0)
            rc = functions_read_process(f, &s);
        else
            f->totals.damages++;
    }
    upmu_control_close(control);
    if (rc == 0 && f->totals.processes == 0)
        return upmu_fail(
            UPMU_E_STATE,
            "no functions were recorded in \"%s\": build the program with -finstrument-functions, and record it "
            "with 'upmu record --functions'",
            dir);
    return rc;
}

/* -------------------------------------------------------------------------------------------------------- sums */

static int functions_compare(const void *a, const void *b)
{
    const struct functions_rank *x = a, *y = b;
    if (x->exclusive_ns != y->exclusive_ns)
        return x->exclusive_ns < y->exclusive_ns ? 1 : -1;
    return x->calls < y->calls ? 1 : x->calls > y->calls ? -1 : 0;
}

static int functions_compare_edges(const void *a, const void *b)
{
    const struct func_edge *x = a, *y = b;
    if (x->sums.inclusive_ns != y->sums.inclusive_ns)
        return x->sums.inclusive_ns < y->sums.inclusive_ns ? 1 : -1;
    return x->sums.calls < y->sums.calls ? 1 : x->sums.calls > y->sums.calls ? -1 : 0;
}

/* `order` has the functions by importance, `place` each function's place in it. */
static int functions_sort(struct upmu_functions *f)
{
    f->order = malloc((f->n_rows + 1) * sizeof *f->order);
    f->place = malloc((f->n_rows + 1) * sizeof *f->place);
    if (!f->order || !f->place)
        return functions_no_memory();
    for (uint32_t i = 0; i < f->n_rows; i++)
        f->order[i] = (struct functions_rank){f->profile.functions[i].exclusive_ns, f->profile.functions[i].calls, i};
    qsort(f->order, f->n_rows, sizeof *f->order, functions_compare);
    for (uint32_t i = 0; i < f->n_rows; i++) {
        f->place[f->order[i].row] = i;
        f->n_called = f->order[i].calls || !f->stretch ? i + 1 : f->n_called;
    }
    if (f->profile.n_edges > 0)
        qsort(f->profile.edges, f->profile.n_edges, sizeof *f->profile.edges, functions_compare_edges);
    return 0;
}

static int functions_sum(struct upmu_functions *f)
{
    struct func_profile *p = &f->profile;
    if (!func_profile_sum(p, f->n_rows))
        return functions_no_memory();
    for (size_t i = 1; i < p->n_paths; i++)
        f->rows[p->paths[i].function].recursive |= p->paths[i].recursion != 0;
    for (size_t i = 0; i < f->n_rows; i++)
        f->totals.open += p->functions[i].open;
    f->totals.calls = p->calls;
    f->totals.total_ns = p->n_paths > 0 ? p->paths[0].sums.inclusive_ns : 0;
    f->totals.omitted = p->omitted;
    f->totals.skipped = p->skipped;
    return functions_sort(f);
}

int upmu_functions_open(struct upmu_functions **functions, const char *dir, const struct upmu_functions_opts *opts)
{
    struct upmu_functions_opts ours;
    if (!functions || !dir)
        return ARGUMENT_NULL(functions, dir);
    *functions = NULL;
    int rc = OPTS_TAKE(ours, opts, UPMU_FUNCTIONS_OPTS_SIZE_V1);
    if (rc != 0)
        return rc;
    struct upmu_functions *f = calloc(1, sizeof *f);
    if (!f)
        return functions_no_memory();
    if (ours.to_ns != 0 && ours.to_ns < ours.from_ns)
        rc = upmu_fail(UPMU_E_INVAL, "upmu_functions_open: opts->to_ns is before opts->from_ns");
    if (rc == 0)
        rc = symbols_open(&f->symbols, ours.debug_dir);
    if (rc == 0)
        rc = functions_read(f, dir);
    f->stretch = (ours.from_ns | ours.to_ns) != 0;
    if (rc == 0 && f->stretch)
        rc = functions_limit(f, dir, ours.from_ns, ours.to_ns);
    if (rc == 0)
        rc = functions_sum(f);
    if (rc == 0)
        *functions = f;
    else
        upmu_functions_close(f);
    return rc;
}

void upmu_functions_close(struct upmu_functions *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_rows; i++)
        free(f->rows[i].path);
    free(f->rows);
    free(f->order);
    free(f->place);
    map_free(&f->by_place);
    func_profile_free(&f->profile);
    functions_free_streams(f);
    symbols_close(f->symbols);
    free(f);
}

/* ------------------------------------------------------------------------------------------------------ results */

int upmu_functions_totals_read(const struct upmu_functions *functions, struct upmu_functions_totals *out)
{
    if (!functions || !out)
        return ARGUMENT_NULL(functions, out);
    return OPTS_GIVE(out, functions->totals, UPMU_FUNCTIONS_TOTALS_SIZE_V1);
}

size_t upmu_functions_count(const struct upmu_functions *functions)
{
    return functions ? functions->n_called : 0;
}

int upmu_functions_at(const struct upmu_functions *functions, size_t i, struct upmu_function *out)
{
    if (!functions || !out)
        return ARGUMENT_NULL(functions, out);
    if (i >= functions->n_called)
        return UPMU_E_END;
    const struct functions_row *r = &functions->rows[functions->order[i].row];
    const struct func_sums *s = &functions->profile.functions[functions->order[i].row];
    const struct upmu_function ours = {
        .name = r->name,
        .file = r->file,
        .module = r->path,
        .problem = r->module != UINT32_MAX ? symbols_problem(functions->symbols, r->module) : "",
        .offset = r->offset,
        .calls = s->calls,
        .open = s->open,
        .inclusive_ns = s->inclusive_ns,
        .exclusive_ns = s->exclusive_ns,
        .min_ns = s->min_ns,
        .max_ns = s->max_ns,
        .line = r->line,
        .recursive = r->recursive,
    };
    return OPTS_GIVE(out, ours, UPMU_FUNCTION_SIZE_V1);
}

static uint32_t functions_index(const struct upmu_functions *f, uint32_t number)
{
    return number == FUNC_PROFILE_THREAD ? UPMU_NO_INDEX : f->place[number];
}

size_t upmu_functions_edge_count(const struct upmu_functions *functions)
{
    return functions ? functions->profile.n_edges : 0;
}

int upmu_functions_edge_at(const struct upmu_functions *functions, size_t i, struct upmu_function_edge *out)
{
    if (!functions || !out)
        return ARGUMENT_NULL(functions, out);
    if (i >= functions->profile.n_edges)
        return UPMU_E_END;
    const struct func_edge *e = &functions->profile.edges[i];
    const struct upmu_function_edge ours = {
        .caller = functions_index(functions, e->caller),
        .callee = functions_index(functions, e->callee),
        .calls = e->sums.calls,
        .inclusive_ns = e->sums.inclusive_ns,
        .min_ns = e->sums.min_ns,
        .max_ns = e->sums.max_ns,
    };
    return OPTS_GIVE(out, ours, UPMU_FUNCTION_EDGE_SIZE_V1);
}

size_t upmu_functions_path_count(const struct upmu_functions *functions)
{
    return functions ? functions->profile.n_paths : 0;
}

int upmu_functions_path_at(const struct upmu_functions *functions, size_t i, struct upmu_function_path *out)
{
    if (!functions || !out)
        return ARGUMENT_NULL(functions, out);
    if (i >= functions->profile.n_paths)
        return UPMU_E_END;
    const struct func_path *p = &functions->profile.paths[i];
    const struct upmu_function_path ours = {
        .function = functions_index(functions, p->function),
        .parent = p->parent,
        .child = p->child,
        .next = p->next,
        .depth = p->depth,
        .recursion = p->recursion,
        .calls = p->sums.calls,
        .open = p->sums.open,
        .inclusive_ns = p->sums.inclusive_ns,
        .exclusive_ns = p->sums.exclusive_ns,
        .min_ns = p->sums.min_ns,
        .max_ns = p->sums.max_ns,
    };
    return OPTS_GIVE(out, ours, UPMU_FUNCTION_PATH_SIZE_V1);
}
