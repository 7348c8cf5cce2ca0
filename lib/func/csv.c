/* SPDX-License-Identifier: MIT */
/*
 * Functions and edges as two CSV files at exit.
 *
 * Names are from symbol tables. C++ names are readable if the program has the C++ library, whose demangler is used.
 */
#include "func/csv.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"
#include "base/text/textbuf.h"
#include "base/tick.h"
#include "func/counts.h"
#include "func/symbols/elf_functions.h"
#include "func/format/notes.h"
#include "func/format/profile.h"
#include "func/threads.h"

struct csv_function {
    char *name;         /* NULL: without memory */
    const char *module; /* "" if not known */
};

struct csv {
    struct func_modules modules;
    struct elf_functions *symbols; /* by module, read at the first look-up */
    bool *read;
    struct csv_function *functions;
    size_t n, cap;
    struct map by_place; /* index of a function by module and offset */
    struct func_profile profile;
    char *(*demangle)(const char *, char *, size_t *, int *);
};

static int csv_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while summing up functions");
}

/* ------------------------------------------------------------------------------------------------------- names */

static char *csv_hex(uint64_t n)
{
    struct textbuf b = {0};
    textbuf_printf(&b, "0x%" PRIx64, n);
    return b.data;
}

static char *csv_name(struct csv *c, const struct func_module *m, uint64_t offset)
{
    size_t i = (size_t)(m - c->modules.module);
    if (!c->read[i] && elf_functions_read(&c->symbols[i], m->path) < 0)
        return NULL;
    c->read[i] = true;
    const struct elf_function *f = elf_functions_find(&c->symbols[i], offset);
    if (!f)
        return csv_hex(offset);
    char *readable = c->demangle && strncmp(f->name, "_Z", 2) == 0 ? c->demangle(f->name, NULL, NULL, NULL) : NULL;
    return readable ? readable : strdup(f->name);
}

static uint64_t csv_hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/* A module that was loaded at several addresses has its functions once. */
static uint32_t csv_number(void *arg, uint64_t function)
{
    struct csv *c = arg;
    const struct func_module *m = func_modules_find(&c->modules, function);
    uint64_t offset = (function & FUNC_ADDRESS_MASK) - (m ? m->base : 0), place = m ? csv_hash(m->path) : 0;
    uint32_t i = map_find(&c->by_place, place, offset);
    if (i != MAP_NONE)
        return i;
    struct csv_function *all = array_reserve(c->functions, c->n, &c->cap, sizeof *all);
    if (!all)
        return MAP_NONE;
    c->functions = all;
    i = (uint32_t)c->n;
    all[i] = (struct csv_function){m ? csv_name(c, m, offset) : csv_hex(offset), m ? m->path : ""};
    c->n++;
    return all[i].name && map_put(&c->by_place, place, offset, i) ? i : MAP_NONE;
}

/* ------------------------------------------------------------------------------------------------------- files */

static int csv_save(const char *prefix, const char *suffix, struct textbuf *text)
{
    struct textbuf path = {0};
    textbuf_printf(&path, "%s.%s.csv", prefix, suffix);
    if (path.failed || text->failed) {
        textbuf_free(&path);
        return csv_no_memory();
    }
    int fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int rc = fd < 0 ? -errno : textbuf_write(text, fd);
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = -errno;
    rc = rc < 0 ? upmu_fail(UPMU_E_IO, "cannot write \"%s\": %s", path.data, strerror(-rc)) : 0;
    textbuf_free(&path);
    return rc;
}

static void csv_ms(struct textbuf *b, uint64_t ns)
{
    textbuf_printf(b, ",%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}

/* The columns of the events. */
static void csv_count_names(struct textbuf *b, const char *suffix)
{
    for (uint32_t i = 0; i < func_process.counters; i++)
        textbuf_printf(b, ",%s%s", func_counts_counter(i)->name, suffix);
}

/* Nothing, if it is not known. */
static void csv_count(struct textbuf *b, const struct func_sum *s, uint64_t lost)
{
    uint64_t value;
    textbuf_add(b, ",", 1);
    if (func_sum_value(s, lost, &value) != FUNC_COUNT_UNKNOWN)
        textbuf_printf(b, "%" PRIu64, value);
}

static const struct func_profile *sorted_profile;

static int csv_by_exclusive(const void *a, const void *b)
{
    const struct func_sums *x = &sorted_profile->functions[*(const uint32_t *)a];
    const struct func_sums *y = &sorted_profile->functions[*(const uint32_t *)b];
    return x->exclusive_ns < y->exclusive_ns ? 1 : x->exclusive_ns > y->exclusive_ns ? -1 : 0;
}

static void csv_function_row(struct textbuf *b, const struct csv *c, uint32_t row)
{
    const struct csv_function *f = &c->functions[row];
    const struct func_sums *s = &c->profile.functions[row];
    const struct func_count_sums *counts = c->profile.function_counts + (size_t)row * c->profile.counters;
    uint64_t children = s->inclusive_ns > s->exclusive_ns ? s->inclusive_ns - s->exclusive_ns : 0;
    textbuf_csv(b, f->name, ',');
    textbuf_add(b, ",", 1);
    textbuf_csv(b, f->module, ',');
    textbuf_printf(b, ",%" PRIu64, s->calls);
    csv_ms(b, s->inclusive_ns);
    csv_ms(b, s->exclusive_ns);
    csv_ms(b, children);
    for (uint32_t i = 0; i < c->profile.counters; i++)
        csv_count(b, &counts[i].inclusive, counts[i].inclusive_lost);
    for (uint32_t i = 0; i < c->profile.counters; i++)
        csv_count(b, &counts[i].exclusive, counts[i].exclusive_lost);
    textbuf_add(b, "\n", 1);
}

static int csv_functions(struct csv *c, const char *prefix)
{
    struct textbuf b = {0};
    uint32_t *order = malloc((c->n + 1) * sizeof *order);
    if (!order)
        return csv_no_memory();
    for (uint32_t i = 0; i < c->n; i++)
        order[i] = i;
    sorted_profile = &c->profile;
    qsort(order, c->n, sizeof *order, csv_by_exclusive);
    textbuf_printf(&b, "name,module,calls,inclusive_ms,exclusive_ms,children_ms");
    csv_count_names(&b, " inclusive");
    csv_count_names(&b, " exclusive");
    textbuf_add(&b, "\n", 1);
    for (size_t i = 0; i < c->n; i++)
        csv_function_row(&b, c, order[i]);
    free(order);
    int rc = csv_save(prefix, "functions", &b);
    textbuf_free(&b);
    return rc;
}

static int csv_edges(struct csv *c, const char *prefix)
{
    struct textbuf b = {0};
    textbuf_printf(&b, "caller,callee,count,sum_ns,mean_ns");
    csv_count_names(&b, "");
    textbuf_add(&b, "\n", 1);
    for (size_t i = 0; i < c->profile.n_edges; i++) {
        const struct func_edge *e = &c->profile.edges[i];
        textbuf_csv(&b, e->caller == FUNC_PROFILE_THREAD ? "(thread)" : c->functions[e->caller].name, ',');
        textbuf_add(&b, ",", 1);
        textbuf_csv(&b, c->functions[e->callee].name, ',');
        textbuf_printf(&b, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, e->sums.calls, e->sums.inclusive_ns,
                       e->sums.calls ? e->sums.inclusive_ns / e->sums.calls : 0);
        for (uint32_t k = 0; k < c->profile.counters; k++) {
            const struct func_count_sums *s = &c->profile.edge_counts[e->counts * c->profile.counters + k];
            csv_count(&b, &s->inclusive, s->inclusive_lost);
        }
        textbuf_add(&b, "\n", 1);
    }
    int rc = csv_save(prefix, "edges", &b);
    textbuf_free(&b);
    return rc;
}

/* --------------------------------------------------------------------------------------------------------- all */

static int csv_collect(struct csv *c)
{
    const struct func_shared *s = func_process.shared;
    uint32_t n = __atomic_load_n(&s->trees, __ATOMIC_ACQUIRE);
    if (!func_modules_read(&c->modules, s->header, FUNC_HEADER_BYTES + FUNC_NOTES_BYTES))
        return csv_no_memory();
    c->symbols = calloc(c->modules.n + 1, sizeof *c->symbols);
    c->read = calloc(c->modules.n + 1, sizeof *c->read);
    if (!c->symbols || !c->read)
        return csv_no_memory();
    struct func_tree_counts counts = {.counts = NULL};
    c->profile.counters = func_process.counters;
    for (uint32_t i = 0; i < func_process.counters; i++)
        counts.inner[i] = func_counts_counter(i)->inner;
    for (uint32_t i = 0; i < n; i++) {
        const struct func_tree *t = s->thread[i].tree;
        counts.counts = (const struct func_count *)(uintptr_t)t->counts;
        counts.bytes = (size_t)t->nodes_ready * func_process.counters * sizeof *counts.counts;
        size_t bytes = t->nodes_at + t->nodes_ready * sizeof(struct func_node);
        uint64_t stopped, end = t->end_tick ? t->end_tick : s->header->end_tick;
        if (func_thread_is_stopped(t, &stopped) && !t->end_tick)
            end = stopped;
        if (!func_profile_add(&c->profile, t, bytes, end, 1e9 / (double)s->header->hz, &counts, csv_number, c))
            return csv_no_memory();
    }
    return func_profile_sum(&c->profile, c->n) ? 0 : csv_no_memory();
}

static void csv_free(struct csv *c)
{
    for (size_t i = 0; c->symbols && i < c->modules.n; i++)
        elf_functions_free(&c->symbols[i]);
    for (size_t i = 0; i < c->n; i++)
        free(c->functions[i].name);
    free(c->functions);
    free(c->symbols);
    free(c->read);
    map_free(&c->by_place);
    func_profile_free(&c->profile);
    func_modules_free(&c->modules);
}

/* The files have no place for it. */
static int csv_check_lost(void)
{
    const struct func_shared *s = func_process.shared;
    uint64_t lost = 0;
    for (int cause = 0; cause < FUNC_LOSSES; cause++) {
        lost += s->header->lost[cause];
        for (uint32_t i = 0; i < s->trees; i++)
            lost += s->thread[i].tree->lost[cause];
    }
    return lost == 0 ? 0
                     : upmu_fail(UPMU_E_LIMIT,
                                 "%" PRIu64 " calls were lost, and are not in the CSV files (UPMU_FUNC_NODES)", lost);
}

int func_csv_write(const char *prefix)
{
    struct csv c = {0};
    *(void **)(void *)&c.demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    int rc = csv_collect(&c);
    if (rc == 0 && c.n == 0) { /* a shell leaves the files of its child alone */
        csv_free(&c);
        return csv_check_lost();
    }
    if (rc == 0)
        rc = csv_functions(&c, prefix);
    if (rc == 0)
        rc = csv_edges(&c, prefix);
    csv_free(&c);
    return rc == 0 ? csv_check_lost() : rc;
}
