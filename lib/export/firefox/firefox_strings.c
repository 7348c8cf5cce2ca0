/* SPDX-License-Identifier: MIT */
/* Strings and threads of a profile for the Firefox Profiler, each numbered once. */
#include "export/firefox/firefox.h"

#include <string.h>

uint32_t firefox_string(struct firefox *f, const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    uint32_t found;
    for (const char *p = text; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    /* Equal hashes use consecutive keys. */
    for (; (found = map_find(&f->by_string, hash, 0)) != MAP_NONE; hash++)
        if (strcmp(f->strings[found], text) == 0)
            return found;
    char **all = array_reserve(f->strings, f->n_strings, &f->cap_strings, sizeof *all);
    if (!all)
        return MAP_NONE;
    f->strings = all;
    all[f->n_strings] = strdup(text);
    if (!all[f->n_strings])
        return MAP_NONE;
    f->n_strings++;
    return map_put(&f->by_string, hash, 0, (uint32_t)(f->n_strings - 1)) ? (uint32_t)(f->n_strings - 1) : MAP_NONE;
}

uint32_t firefox_thread(struct firefox *f, pid_t pid, pid_t tid, const char *name)
{
    uint32_t found = map_find(&f->by_id, (uint64_t)pid, (uint64_t)tid);
    if (found != MAP_NONE)
        return found;
    struct firefox_thread *all = array_reserve(f->threads, f->n_threads, &f->cap_threads, sizeof *all);
    if (!all)
        return MAP_NONE;
    f->threads = all;
    all[f->n_threads] = (struct firefox_thread){.pid = pid, .tid = tid, .name = firefox_string(f, name)};
    if (all[f->n_threads].name == MAP_NONE || !map_put(&f->by_id, (uint64_t)pid, (uint64_t)tid, (uint32_t)f->n_threads))
        return MAP_NONE;
    return (uint32_t)f->n_threads++;
}
