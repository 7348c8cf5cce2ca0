/* SPDX-License-Identifier: MIT */
/* Relations of recorded processes, from the notes in their wait-state files. */
#include "deadlock/process_relations.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/map.h"
#include "deadlock/notes_file.h"
#include "trace/read/bare.h"

static int relations_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while comparing the lock orders of processes");
}

static uint64_t relations_hash(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h * 31;
}

static int relations_add_mapping(struct related_process *p, const struct wait_file_note *note, const char *boot)
{
    struct shared_note *all = array_reserve(p->mappings, p->n_mappings, &p->cap_mappings, sizeof *all);
    if (!all)
        return relations_no_memory();
    p->mappings = all;
    all[p->n_mappings++] =
        (struct shared_note){.low = note->value[0],
                             .high = note->value[1],
                             .offset = note->value[2],
                             .file = relations_hash(relations_hash(0xcbf29ce484222325u, note->texts), boot)};
    return 0;
}

static int relations_add(struct related_process *p, const struct process_relation *one)
{
    struct process_relation *all = array_reserve(p->relations, p->n_relations, &p->cap_relations, sizeof *all);
    if (!all)
        return relations_no_memory();
    p->relations = all;
    all[p->n_relations++] = *one;
    return 0;
}

static int relations_add_note(struct related_process *p, const struct wait_file_note *note, const char *second)
{
    pid_t process = (pid_t)(uint32_t)note->value[0], thread = (pid_t)(note->value[0] >> 32);
    switch (note->kind) {
    case WAIT_FILE_NOTE_SHARED:
        return relations_add_mapping(p, note, second);
    case WAIT_FILE_NOTE_SELF:
        p->pid = process;
        p->since = note->value[1];
        p->ppid = (pid_t)note->value[2];
        return 0;
    case WAIT_FILE_NOTE_PARENT:
        p->parent.pid = process;
        p->parent.tid = thread;
        p->parent.tick = note->value[1];
        p->parent.since = note->value[2];
        return 0;
    case WAIT_FILE_NOTE_REAPED:
        return relations_add(
            p,
            &(struct process_relation){
                .tick = note->value[1], .begin = note->value[2], .tid = thread, .forked = MAP_NONE, .child = process});
    case WAIT_FILE_NOTE_SPAWNED:
        return relations_add(
            p, &(struct process_relation){
                   .tick = note->value[1], .tid = thread, .forked = MAP_NONE, .child = process, .spawned = true});
    default:
        return 0;
    }
}

static int relations_read_one(struct related_process *p, const char *dir)
{
    struct notes_file n;
    const struct wait_file_note *note;
    const char *second;
    int rc = notes_file_open(&n, dir);
    for (uint32_t at = 0; rc == 0 && (note = notes_file_at(&n, at, &second)) != NULL; at += note->bytes)
        rc = relations_add_note(p, note, second);
    notes_file_free(&n);
    return rc;
}

/* Adds the fork to the process that forked. */
static int relations_add_fork(const struct process_relations *r, uint32_t child)
{
    struct related_process *c = &r->all[child];
    for (uint32_t i = 0; c->parent.pid != 0 && i < r->n; i++) {
        if (r->all[i].pid != c->parent.pid || r->all[i].since != c->parent.since || i == child)
            continue;
        c->parent_index = i;
        return relations_add(
            &r->all[i],
            &(struct process_relation){.tick = c->parent.tick, .tid = c->parent.tid, .forked = child, .child = c->pid});
    }
    return 0;
}

static void relations_set_parent(struct related_process *child, const struct related_process *parent, pid_t tid,
                                 uint64_t tick)
{
    child->parent.pid = parent->pid;
    child->parent.tid = tid;
    child->parent.tick = tick;
    child->parent.since = parent->since;
}

/* Whether `c` is a child of `p` that began within the time of system() or popen(), or of popen()'s pclose(), or a child of such a
 * one: a shell's. */
static bool relations_is_command(const struct process_relations *r, const struct related_process *p,
                                 const struct related_process *c, const struct process_relation *x, bool of_shell)
{
    if (c == p || c->since < x->begin || c->since > x->tick)
        return false;
    if (c->ppid == p->pid)
        return true;
    for (uint32_t k = 0; of_shell && k < r->n; k++)
        if (r->all[k].pid == c->ppid && relations_is_command(r, p, &r->all[k], x, false))
            return true;
    return false;
}

/* Processes that began while their parent was in system(), or until pclose(), and of which no fork is noted: the shell, and what
 * it executes, each a recording of its own. @return 0; UPMU_E_NOMEM. */
static int relations_find_commands(const struct process_relations *r, struct related_process *p)
{
    int rc = 0;
    for (size_t i = 0, n = p->n_relations; rc == 0 && i < n; i++) {
        const struct process_relation x = p->relations[i];
        for (uint32_t k = 0; rc == 0 && x.begin != 0 && x.child == 0 && k < r->n; k++) {
            struct related_process *c = &r->all[k];
            struct process_relation end = x;
            if (c->parent.pid != 0 || !relations_is_command(r, p, c, &x, true))
                continue;
            end.child = c->pid;
            relations_set_parent(c, p, x.tid, x.begin);
            rc = relations_add(p, &end);
        }
    }
    return rc;
}

/* The child that posix_spawn() made. */
static void relations_find_spawned(const struct process_relations *r, struct related_process *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_relations; i++) {
        const struct process_relation x = p->relations[i];
        for (uint32_t k = 0; x.spawned && k < r->n; k++) {
            struct related_process *c = &r->all[k];
            if (c->parent.pid == 0 && c->ppid == p->pid && c->pid == x.child && c->since >= x.tick)
                relations_set_parent(c, p, x.tid, x.tick);
        }
        if (!x.spawned)
            p->relations[kept++] = x;
    }
    p->n_relations = kept;
}

static int relations_compare(const void *a, const void *b)
{
    const struct process_relation *x = a, *y = b;
    return (x->tick > y->tick) - (x->tick < y->tick);
}

int process_relations_read(struct process_relations *r, const struct upmu_trace *trace)
{
    int rc = 0;
    *r = (struct process_relations){.n = upmu_trace_process_count(trace)};
    r->all = calloc(r->n + 1, sizeof *r->all);
    if (!r->all)
        return relations_no_memory();
    for (size_t i = 0; rc == 0 && i < r->n; i++) {
        r->all[i].parent_index = MAP_NONE;
        rc = relations_read_one(&r->all[i], trace_process_dir(trace, i));
    }
    for (size_t i = 0; rc == 0 && i < r->n; i++)
        relations_find_spawned(r, &r->all[i]);
    for (size_t i = 0; rc == 0 && i < r->n; i++)
        rc = relations_find_commands(r, &r->all[i]);
    for (size_t i = 0; rc == 0 && i < r->n; i++)
        rc = relations_add_fork(r, (uint32_t)i);
    for (size_t i = 0; rc == 0 && i < r->n; i++)
        if (r->all[i].n_relations > 0)
            qsort(r->all[i].relations, r->all[i].n_relations, sizeof *r->all[i].relations, relations_compare);
    return rc;
}

void process_relations_free(struct process_relations *r)
{
    for (size_t i = 0; r->all && i < r->n; i++) {
        free(r->all[i].mappings);
        free(r->all[i].relations);
    }
    free(r->all);
    *r = (struct process_relations){0};
}

struct related_process *process_relations_of(const struct process_relations *r, uint32_t process)
{
    return process < r->n ? &r->all[process] : NULL;
}

bool process_relations_shared(const struct process_relations *r, uint32_t process, uint64_t address, uint64_t *object)
{
    const struct related_process *p = process_relations_of(r, process);
    bool found = false;
    for (size_t i = 0; p && i < p->n_mappings; i++) {
        const struct shared_note *m = &p->mappings[i];
        if (address < m->low || address >= m->high)
            continue;
        uint64_t here = (m->file ^ (address - m->low + m->offset)) * 0x9e3779b97f4a7c15u;
        if (found && here != *object)
            return false;
        *object = here;
        found = true;
    }
    return found;
}
