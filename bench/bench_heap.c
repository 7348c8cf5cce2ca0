/* SPDX-License-Identifier: MIT */
/*
 * Sampled allocations: a program that keeps words in a table, through libupmu_heap and through the C library's own functions.
 *
 * Each word is hashed, takes two blocks of 16 to 143 bytes, and replaces an older one, whose blocks are freed: about a third of the
 * time is malloc() and free(). The process is recorded as by `upmu record --heap`: a sample every 512 KiB, with its call stack.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "bench.h"
#include "files.h"

enum { WARM_UP = 1 << 16, WORDS = 1 << 15, BATCH = 2000, NAME_BYTES = 24, LETTERS = 26, SIZES = 112 };

static const bool sanitized = UNDER_TSAN + UNDER_ASAN > 0;

struct allocator {
    void *(*malloc)(size_t);
    void (*free)(void *);
};

struct word {
    char *name;
    uint64_t hash, count;
};

struct table {
    struct allocator of;
    struct word *words[WORDS];
    uint64_t random;
};

static uint64_t table_random(struct table *t)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    return t->random ^= t->random << 17;
}

static uint64_t hash_of(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

static void words(void *arg, size_t n)
{
    struct table *t = arg;
    for (size_t i = 0; i < n; i++) {
        char name[NAME_BYTES];
        uint64_t r = table_random(t);
        for (size_t k = 0; k < sizeof name - 1; k++, r = r * 6364136223846793005u + 1442695040888963407u)
            name[k] = (char)('a' + (r >> 33) % LETTERS);
        name[sizeof name - 1] = '\0';
        struct word *w = t->of.malloc(sizeof *w);
        char *copy = t->of.malloc(sizeof name + table_random(t) % SIZES);
        if (!w || !copy)
            abort();
        memcpy(copy, name, sizeof name);
        *w = (struct word){copy, hash_of(name), 1};
        struct word **at = &t->words[w->hash % WORDS];
        if (*at) {
            w->count += (*at)->count;
            t->of.free((*at)->name);
            t->of.free(*at);
        }
        *at = w;
    }
    bench_barrier();
}

static void pairs(void *arg, size_t n)
{
    struct table *t = arg;
    for (size_t i = 0; i < n; i++) {
        void *volatile p = t->of.malloc(64);
        t->of.free(p);
    }
    bench_barrier();
}

static const char *const variables[] = {"UPMU_HEAP", "UPMU_TRACE", "UPMU_SYNC", "UPMU_REPORT", NULL};

/* They are read when the libraries are loaded. */
static void record_into(const char *dir, char **argv)
{
    const char *const values[] = {"524288", dir, "holders", "none"};
    int rc = 0;
    for (size_t i = 0; variables[i] && rc == 0; i++)
        rc = setenv(variables[i], values[i], 1);
    if (rc == 0)
        execv("/proc/self/exe", argv);
    perror("bench_heap");
    exit(1);
}

static void row(struct bench *b, struct table *ours, struct table *bare, void (*loop)(void *, size_t),
                const char *title, const char *floor, double bar)
{
    const struct bench_pair pair = {
        .subject = {title, loop, ours, NULL, NULL},
        .floor = {floor, loop, bare, NULL, NULL},
        .n = BATCH,
        .judge = bar > 0 ? BENCH_RATIO : BENCH_NOTHING,
        .bar = bar,
    };
    (void)bench_compare(b, &pair);
}

/* The functions behind libupmu_heap: of libupmu_sync, whose free() looks for locks, and of the C library. */
static bool find(const char *library, struct allocator *out)
{
    void *handle = dlopen(library, RTLD_NOW);
    void *const found[] = {handle ? dlsym(handle, "malloc") : NULL, handle ? dlsym(handle, "free") : NULL};
    _Static_assert(sizeof found == sizeof *out, "one each");
    memcpy(out, found, sizeof found);
    return out->malloc && out->free;
}

static void rows(struct bench *b)
{
    static struct table ours = {.of = {malloc, free}, .random = 1}, locks = {.random = 1}, bare = {.random = 1};
    if (!find("libupmu_sync.so.0", &locks.of) || !find("libc.so.6", &bare.of)) {
        bench_skip(b, "sampled heap", "the functions behind it were not found");
        return;
    }
    words(&ours, WARM_UP);
    words(&locks, WARM_UP);
    words(&bare, WARM_UP);
    row(b, &ours, &locks, words, "words in a table, heap and locks recorded", "the same, locks recorded", 1.03);
    row(b, &ours, &bare, words, "words in a table, heap and locks recorded", "the same, bare", 0);
    row(b, &ours, &locks, pairs, "malloc and free, heap and locks recorded", "the same, locks recorded", 0);
    row(b, &ours, &bare, pairs, "malloc and free, heap and locks recorded", "the same, bare", 0);
}

int main(int argc, char **argv)
{
    char dir[PATH_MAX];
    const char *into = getenv("UPMU_HEAP") ? getenv("UPMU_TRACE") : NULL;
    bool recorded = into && snprintf(dir, sizeof dir, "%s", into) < (int)sizeof dir;
    if (!recorded && !sanitized) {
        bench_folder_make(dir);
        record_into(dir, argv);
    }
    for (const char *const *name = variables; *name; name++)
        (void)unsetenv(*name); /* bench_start() refuses what would change the numbers of others */
    struct bench *b = bench_start("heap", argc, argv);
    if (sanitized)
        bench_skip(b, "sampled heap", "the sanitizer has an allocator of its own");
    else
        rows(b);
    int status = bench_end(b);
    if (recorded)
        bench_folder_remove(dir);
    return status;
}
