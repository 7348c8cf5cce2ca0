/* SPDX-License-Identifier: MIT */
/*
 * Looking again and again whether threads of a running process stand for ever. Room: analysis. Before it: status.c;
 * after it: upmu record.
 *
 * A picture put together slot by slot may show what was never true at one moment. So what one look finds is believed
 * when the next one finds the same threads in the same waits: then all of it was true between the two.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deadlock/wait_state_only.h"
#include "base/map.h"
#include "base/error.h"
#include "trace/format/control.h"
#include "upmu/deadlock.h"

/* A trouble that was seen. */
struct seen {
    uint64_t signature;
    bool told;
    bool again; /* in the present look */
};

/* A process that was alive, last at this moment. */
struct alive {
    char *dir;
    struct stand_moment at;
};

struct upmu_deadlock_watch {
    char *dir;
    struct alive *alive;
    size_t n_alive, cap_alive;
    struct seen *seen;
    size_t n_seen, cap_seen;
    char *found;                  /* the process told of last */
    struct wait_state wait_state; /* what its threads stand at, until somebody takes it */
    bool untaken;
};

static int no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "no memory for watching a recording");
}

int upmu_deadlock_watch_open(struct upmu_deadlock_watch **watch, const char *dir)
{
    if (!watch || !dir)
        return upmu_fail(UPMU_E_INVAL, "no directory, or no place for the watch");
    *watch = calloc(1, sizeof **watch);
    if (*watch)
        (*watch)->dir = strdup(dir);
    if (*watch && (*watch)->dir)
        return 0;
    free(*watch);
    *watch = NULL;
    return no_memory();
}

/* Leave with the process's recording when it was seen alive last: those who read it when it was killed need it. Where that
 * cannot be written they know less. */
static void leave(struct upmu_deadlock_watch *w, size_t i)
{
    (void)wait_state_keep_alive(w->alive[i].dir, &w->alive[i].at);
    free(w->alive[i].dir);
    w->alive[i] = w->alive[--w->n_alive];
}

void upmu_deadlock_watch_close(struct upmu_deadlock_watch *watch)
{
    if (!watch)
        return;
    while (watch->n_alive > 0)
        leave(watch, watch->n_alive - 1);
    free(watch->alive);
    free(watch->dir);
    free(watch->seen);
    free(watch->found);
    wait_state_free(&watch->wait_state);
    free(watch);
}

/* @return 1 if this was seen before and not told of: now it is; 0; UPMU_E_NOMEM. */
static int note(struct upmu_deadlock_watch *w, uint64_t signature)
{
    for (size_t i = 0; i < w->n_seen; i++) {
        struct seen *s = &w->seen[i];
        if (s->signature != signature)
            continue;
        bool fresh = !s->told;
        s->again = s->told = true;
        return fresh;
    }
    struct seen *all = array_room(w->seen, w->n_seen, &w->cap_seen, sizeof *all);
    if (!all)
        return no_memory();
    w->seen = all;
    all[w->n_seen++] = (struct seen){.signature = signature, .again = true};
    return 0;
}

static void forget_others(struct upmu_deadlock_watch *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->n_seen; i++) {
        if (w->seen[i].again)
            w->seen[kept++] = (struct seen){.signature = w->seen[i].signature, .told = w->seen[i].told};
    }
    w->n_seen = kept;
}

static bool all_wait(const struct wait_state *s)
{
    for (size_t i = 0; i < s->n_threads; i++)
        if (s->threads[i].head.state == LIVE_RUNS)
            return false;
    return true;
}

/* Notes all certain troubles. @return 1 if one of them is told of now, 0, or UPMU_E_NOMEM. */
static int note_all(struct upmu_deadlock_watch *w, const struct wait_state *s)
{
    int found = 0;
    for (size_t i = 0; i < s->picture.n_found; i++) {
        const struct wg_trouble_found *f = &s->picture.found[i];
        int fresh = f->certainty == WG_CERTAIN ? note(w, wait_state_signature(s, f)) : 0;
        if (fresh < 0)
            return fresh;
        found |= fresh;
    }
    return found;
}

/* @return 1 if there is something new, 0, or an error. */
static int look_at(struct upmu_deadlock_watch *w, const char *dir)
{
    struct wait_state s;
    int found = 0, rc = wait_state_read(&s, dir);
    if (rc > 0) {
        if (all_wait(&s))
            wait_state_ask(&s);
        rc = wait_state_solve(&s);
    }
    if (rc == 0)
        rc = found = note_all(w, &s);
    /* What the process is like while it stands is kept for those who come later; without it they say less. */
    if (rc >= 0 && s.picture.n_found > 0 && s.wakers.known && s.wakers.asleep)
        (void)wait_state_keep(&s, dir);
    if (found > 0) {
        wait_state_free(&w->wait_state);
        w->wait_state = s;
    } else {
        wait_state_free(&s);
    }
    /* A file that is just being made, or of another version, is none to be watched. */
    return rc == UPMU_E_NOMEM ? rc : found > 0;
}

/* @return 0, UPMU_E_NOMEM. */
static int note_alive(struct upmu_deadlock_watch *w, const char *dir, bool running, const struct stand_moment *now)
{
    size_t i = 0;
    while (i < w->n_alive && strcmp(w->alive[i].dir, dir) != 0)
        i++;
    if (i < w->n_alive && !running)
        leave(w, i);
    else if (i < w->n_alive)
        w->alive[i].at = *now;
    if (i < w->n_alive || !running)
        return 0;
    struct alive *all = array_room(w->alive, w->n_alive, &w->cap_alive, sizeof *all);
    char *copy = all ? strdup(dir) : NULL;
    w->alive = all ? all : w->alive;
    if (!copy)
        return no_memory();
    all[w->n_alive++] = (struct alive){.dir = copy, .at = *now};
    return 0;
}

/* The process's directory, if somebody lives who writes it: looked at. */
static int look_at_process(struct upmu_deadlock_watch *w, const char *dir)
{
    const struct stand_moment now = wait_state_moment();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool running = fd >= 0 && control_is_running(fd) == 1;
    if (fd >= 0)
        close(fd);
    int found = note_alive(w, dir, running, &now);
    if (found == 0 && running)
        found = look_at(w, dir);
    if (found > 0) {
        free(w->found);
        w->found = strdup(dir);
        found = w->found ? 1 : no_memory();
        w->untaken = found > 0;
    }
    return found;
}

int upmu_deadlock_watch_poll(struct upmu_deadlock_watch *watch, const char **process)
{
    int found;
    char path[PATH_MAX];
    const struct dirent *entry;
    if (!watch || !process)
        return upmu_fail(UPMU_E_INVAL, "no watch, or no place for the process");
    /* What is watched may be one process alone. */
    found = look_at_process(watch, watch->dir);
    DIR *dir = opendir(watch->dir);
    while (dir && found == 0 && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", watch->dir, entry->d_name) < (int)sizeof path)
            found = look_at_process(watch, path);
    if (dir)
        closedir(dir);
    if (found == 0)
        forget_others(watch);
    *process = watch->found;
    return found;
}

int upmu_deadlock_watch_take(struct upmu_deadlock_watch *watch, struct upmu_deadlocks **deadlocks)
{
    if (!watch || !deadlocks)
        return upmu_fail(UPMU_E_INVAL, "no watch, or no place for the deadlocks");
    *deadlocks = NULL;
    if (!watch->untaken)
        return upmu_fail(UPMU_E_STATE, "the last look has found nothing new, or it was taken");
    watch->untaken = false;
    return deadlocks_at_once(deadlocks, watch->found, &watch->wait_state);
}
