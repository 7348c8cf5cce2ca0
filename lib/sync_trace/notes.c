/* SPDX-License-Identifier: MIT */
/*
 * Modules and names beside the trace, where a reader of a process that stands finds them without reading its events. Room:
 * sync_trace; before it modules.c and the calls that name things, after it the file .live (trace/format/wait_state.h).
 *
 * Whoever has a note takes room behind the last one, and publishes it when it is whole. What finds no room is missing, and
 * is said to be: then only the trace has all.
 */
#include <errno.h>
#include <string.h>

#include "region/recorder.h"
#include "sync_trace/sync.h"
#include "trace/format/wait_state.h"

enum { TEXT_MAX = 4096 };

static uint32_t whole_steps(uint32_t bytes)
{
    return (bytes + LIVE_NOTES_STEP - 1) / LIVE_NOTES_STEP * LIVE_NOTES_STEP;
}

/* Room on the disk for notes that end there, where those before end at `from`. */
static bool has_room(uint32_t from, uint32_t to)
{
    uint32_t have = whole_steps(LIVE_NOTES_AT + from), need = whole_steps(LIVE_NOTES_AT + to);
    return need <= have || upmu_recorder_live_reserve_(LIVE_HEADER_INDEX, need) == 0;
}

static void write_note(enum live_note_kind kind, const uint64_t value[3], const char *first, const char *second)
{
    int saved = errno;
    struct live_header *h = __atomic_load_n(&sync_gate.live, __ATOMIC_ACQUIRE);
    size_t a = strnlen(first, TEXT_MAX), b = strnlen(second, TEXT_MAX);
    uint32_t bytes = (uint32_t)(sizeof(struct live_note) + a + b + 2 + 7) / 8 * 8;
    uint32_t at = h ? __atomic_load_n(&h->notes, __ATOMIC_RELAXED) : 0;
    if (!h)
        return;
    do {
        if (bytes > LIVE_NOTES_MAX - at || !has_room(at, at + bytes)) {
            __atomic_store_n(&h->notes_missing, 1, __ATOMIC_RELAXED);
            errno = saved;
            return;
        }
    } while (!__atomic_compare_exchange_n(&h->notes, &at, at + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    struct live_note *n = live_note_at(h, at);
    __atomic_store_n(&n->bytes, bytes, __ATOMIC_RELAXED);
    memcpy(n->value, value, sizeof n->value);
    memcpy(n->texts, first, a); /* their ends are there already: the file is zero */
    memcpy(n->texts + a + 1, second, b);
    __atomic_store_n(&n->kind, kind, __ATOMIC_RELEASE);
    errno = saved;
}

void sync_note_module(uint64_t base, uint64_t start, uint64_t end, const char *build_id, const char *path)
{
    const uint64_t value[3] = {base, start, end};
    write_note(LIVE_NOTE_MODULE, value, build_id, path);
}

static uint64_t *named_word(struct live_header *h, uint64_t address, uint64_t *mask)
{
    uint32_t bit = live_named_bit(address);
    *mask = (uint64_t)1 << bit % 64;
    return &h->named[bit / 64];
}

void sync_note_name(uint64_t object, int32_t type, const char *name)
{
    struct live_header *h = __atomic_load_n(&sync_gate.live, __ATOMIC_ACQUIRE);
    const uint64_t value[3] = {object, (uint64_t)type, 0};
    uint64_t mask;
    if (!h || !name || name[0] == '\0')
        return;
    uint64_t *word = named_word(h, object, &mask);
    __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
    write_note(LIVE_NOTE_NAME, value, "", name);
}

void sync_note_end(uint64_t object)
{
    struct live_header *h = __atomic_load_n(&sync_gate.live, __ATOMIC_ACQUIRE);
    const uint64_t value[3] = {object, 0, 0};
    uint64_t mask;
    if (!h)
        return;
    const uint64_t *word = named_word(h, object, &mask);
    if (UNLIKELY(__atomic_load_n(word, __ATOMIC_RELAXED) & mask))
        write_note(LIVE_NOTE_END, value, "", "");
}
