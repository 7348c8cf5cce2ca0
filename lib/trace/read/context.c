/* SPDX-License-Identifier: MIT */
/* Stacks and modules of a process. */
#include "trace/read/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024, STACKS_AT_FIRST = 256, ROOM_AT_FIRST = 16 };

/** A piece of memory that is never moved; its content follows its head. */
struct context_chunk {
    struct context_chunk *next;
    size_t used, size;
    uint64_t memory[];
};

void context_free(struct context *c)
{
    for (struct context_chunk *chunk = c->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(c->stacks);
    free(c->modules);
    free(c->mappings);
    *c = (struct context){0};
}

/* Allocate `bytes`, aligned for frames. */
static void *context_allocate(struct context *c, size_t bytes)
{
    bytes = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    if (!c->chunks || c->chunks->size - c->chunks->used < bytes) {
        size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct context_chunk *chunk = malloc(sizeof *chunk + size);
        if (!chunk)
            return NULL;
        *chunk = (struct context_chunk){.next = c->chunks, .size = size};
        c->chunks = chunk;
    }
    void *p = (uint8_t *)c->chunks->memory + c->chunks->used;
    c->chunks->used += bytes;
    return p;
}

static const char *context_keep_text(struct context *c, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *kept = context_allocate(c, bytes);
    return kept ? memcpy(kept, text, bytes) : NULL;
}

/* ------------------------------------------------------------------------------------------------------ stacks */

/* The slot of the id, or a free one for it; there always is one. */
static size_t stack_slot(const struct context_stack *stacks, size_t cap, uint32_t id)
{
    size_t i = (size_t)(id * 0x9E3779B1u) & (cap - 1); /* ids are consecutive: spread them over the table */
    while (stacks[i].frames && stacks[i].id != id)
        i = (i + 1) & (cap - 1);
    return i;
}

/* Keep at most half of the slots in use. */
static int context_grow_stacks(struct context *c)
{
    if (c->n_stacks < c->cap_stacks / 2)
        return 0;
    size_t cap = c->cap_stacks ? c->cap_stacks * 2 : STACKS_AT_FIRST;
    struct context_stack *wider = calloc(cap, sizeof *wider);
    if (!wider)
        return -ENOMEM;
    for (size_t i = 0; i < c->cap_stacks; i++)
        if (c->stacks[i].frames)
            wider[stack_slot(wider, cap, c->stacks[i].id)] = c->stacks[i];
    free(c->stacks);
    c->stacks = wider;
    c->cap_stacks = cap;
    return 0;
}

int context_add_stack(struct context *c, const struct context_stack *stack, const uint8_t *frames)
{
    if (context_grow_stacks(c) != 0)
        return -ENOMEM;
    struct context_stack *slot = &c->stacks[stack_slot(c->stacks, c->cap_stacks, stack->id)];
    if (slot->frames)
        return 0;
    size_t bytes = stack->n_frames * sizeof(uint64_t);
    uint64_t *kept = context_allocate(c, bytes ? bytes : sizeof(uint64_t)); /* an empty stack is kept, too */
    if (!kept)
        return -ENOMEM;
    if (bytes)
        memcpy(kept, frames, bytes);
    *slot = *stack;
    slot->frames = kept;
    c->n_stacks++;
    return 0;
}

struct context_stack *context_stack(const struct context *c, uint32_t id)
{
    if (c->cap_stacks == 0)
        return NULL;
    struct context_stack *slot = &c->stacks[stack_slot(c->stacks, c->cap_stacks, id)];
    return slot->frames ? slot : NULL;
}

/* ----------------------------------------------------------------------------------------------------- modules */

void *context_grow(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    size_t want = *cap ? *cap * 2 : ROOM_AT_FIRST;
    void *more = reallocarray(array, want, size);
    if (more)
        *cap = want;
    return more;
}

int context_add_module(struct context *c, const struct context_module *module)
{
    struct context_module *all = context_grow(c->modules, c->n_modules, &c->cap_modules, sizeof *all);
    if (!all)
        return -ENOMEM;
    c->modules = all;
    struct context_module kept = *module;
    kept.path = context_keep_text(c, module->path);
    kept.build_id = context_keep_text(c, module->build_id);
    if (!kept.path || !kept.build_id)
        return -ENOMEM;
    c->modules[c->n_modules++] = kept;
    return 0;
}
