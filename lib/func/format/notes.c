/* SPDX-License-Identifier: MIT */
/* Modules noted in a process's file of recorded functions. */
#include "func/format/notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* A note's two texts; false if they are not both within it. */
static bool notes_texts(const struct func_note *n, struct func_module *m)
{
    const char *text = (const char *)(n + 1);
    size_t bytes = n->bytes - sizeof *n, id = strnlen(text, bytes);
    if (id == bytes || strnlen(text + id + 1, bytes - id - 1) == bytes - id - 1)
        return false;
    m->build_id = text;
    m->path = text + id + 1;
    return true;
}

bool func_modules_read(struct func_modules *m, const struct func_process_header *h, size_t bytes)
{
    size_t at = FUNC_HEADER_BYTES, end = at + __atomic_load_n(&h->notes, __ATOMIC_ACQUIRE);
    end = end < bytes ? end : bytes;
    while (at < end && end - at >= sizeof(struct func_note)) {
        const struct func_note *n = (const void *)((const char *)h + at);
        struct func_module new = {.base = n->base, .start = n->start, .end = n->end, .gone = n->gone};
        if (n->bytes < sizeof *n || n->bytes % 8 != 0 || n->bytes > end - at || !notes_texts(n, &new))
            break;
        struct func_module *all = array_reserve(m->module, m->n, &m->cap, sizeof *all);
        if (!all)
            return false;
        m->module = all;
        all[m->n++] = new;
        at += n->bytes;
    }
    return true;
}

const struct func_module *func_modules_find(const struct func_modules *m, uint64_t function)
{
    uint64_t number = function >> FUNC_ADDRESS_BITS, address = function & FUNC_ADDRESS_MASK;
    if (number != 0 && number != FUNC_SAME_MODULE)
        return number <= m->n ? &m->module[number - 1] : NULL;
    for (size_t i = m->n; i-- > 0;)
        if (!m->module[i].gone && address >= m->module[i].start && address < m->module[i].end)
            return &m->module[i];
    return NULL;
}

void func_modules_free(struct func_modules *m)
{
    free(m->module);
    *m = (struct func_modules){0};
}
