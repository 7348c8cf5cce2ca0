/* SPDX-License-Identifier: MIT */
/*
 * Modules, object names, shared mappings and relatives in the wait-state file, for readers that do not read the events, and
 * for those that compare processes.
 *
 * A writer reserves space behind the last note and publishes its note when it is complete. If a note does not fit,
 * `notes_missing` is set: then only the trace has all of them.
 */
#include "sync_trace/state/notes.h"

#include <errno.h>
#include <string.h>

#include "region/recorder.h"
#include "sync_trace/state/state.h"
#include "trace/format/wait_state.h"

enum { TEXT_MAX = 4096 };

static uint32_t notes_round_up(uint32_t bytes)
{
    return (bytes + WAIT_FILE_NOTES_STEP - 1) / WAIT_FILE_NOTES_STEP * WAIT_FILE_NOTES_STEP;
}

/* Whether there is disk space for notes that end at `to`, where those before end at `from`. */
static bool notes_reserve(uint32_t from, uint32_t to)
{
    uint32_t have = notes_round_up(WAIT_FILE_NOTES_AT + from), need = notes_round_up(WAIT_FILE_NOTES_AT + to);
    return need <= have || upmu_recorder_wait_file_reserve_(WAIT_FILE_HEADER_INDEX, need) == 0;
}

static void write_note(enum wait_file_note_kind kind, const uint64_t value[3], const char *first, const char *second)
{
    int saved = errno;
    struct wait_file_header *h = __atomic_load_n(&sync_gate.wait_states, __ATOMIC_ACQUIRE);
    size_t a = strnlen(first, TEXT_MAX), b = strnlen(second, TEXT_MAX);
    uint32_t bytes = (uint32_t)(sizeof(struct wait_file_note) + a + b + 2 + 7) / 8 * 8;
    uint32_t at = h ? __atomic_load_n(&h->notes, __ATOMIC_RELAXED) : 0;
    if (!h)
        return;
    do {
        if (bytes > WAIT_FILE_NOTES_MAX - at || !notes_reserve(at, at + bytes)) {
            __atomic_store_n(&h->notes_missing, 1, __ATOMIC_RELAXED);
            errno = saved;
            return;
        }
    } while (!__atomic_compare_exchange_n(&h->notes, &at, at + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    struct wait_file_note *n = wait_file_note_at(h, at);
    __atomic_store_n(&n->bytes, bytes, __ATOMIC_RELAXED);
    memcpy(n->value, value, sizeof n->value);
    memcpy(n->texts, first, a); /* the NULs are there: the file is zero */
    memcpy(n->texts + a + 1, second, b);
    __atomic_store_n(&n->kind, kind, __ATOMIC_RELEASE);
    errno = saved;
}

void sync_note_module(uint64_t base, uint64_t start, uint64_t end, const char *build_id, const char *path)
{
    const uint64_t value[3] = {base, start, end};
    write_note(WAIT_FILE_NOTE_MODULE, value, build_id, path);
}

void sync_note_shared(const uint64_t value[3], const char *file, const char *boot)
{
    write_note(WAIT_FILE_NOTE_SHARED, value, file, boot);
}

static uint64_t note_ids(pid_t process, pid_t thread)
{
    return (uint64_t)(uint32_t)process | (uint64_t)(uint32_t)thread << 32;
}

void sync_note_self(pid_t process, uint64_t since, pid_t parent)
{
    const uint64_t value[3] = {note_ids(process, 0), since, (uint64_t)parent};
    write_note(WAIT_FILE_NOTE_SELF, value, "", "");
}

void sync_note_parent(pid_t process, pid_t thread, uint64_t tick, uint64_t since)
{
    const uint64_t value[3] = {note_ids(process, thread), tick, since};
    write_note(WAIT_FILE_NOTE_PARENT, value, "", "");
}

void sync_note_spawned(pid_t child, pid_t thread, uint64_t tick)
{
    const uint64_t value[3] = {note_ids(child, thread), tick, 0};
    write_note(WAIT_FILE_NOTE_SPAWNED, value, "", "");
}

void sync_note_reaped(pid_t child, pid_t thread, uint64_t tick, uint64_t begin)
{
    const uint64_t value[3] = {note_ids(child, thread), tick, begin};
    write_note(WAIT_FILE_NOTE_REAPED, value, "", "");
}

static uint64_t *notes_named_word(struct wait_file_header *h, uint64_t address, uint64_t *mask)
{
    uint32_t bit = wait_file_named_bit(address);
    *mask = (uint64_t)1 << bit % 64;
    return &h->named[bit / 64];
}

void sync_note_name(uint64_t object, int32_t type, const char *name)
{
    struct wait_file_header *h = __atomic_load_n(&sync_gate.wait_states, __ATOMIC_ACQUIRE);
    const uint64_t value[3] = {object, (uint64_t)type, 0};
    uint64_t mask;
    if (!h || !name || name[0] == '\0')
        return;
    uint64_t *word = notes_named_word(h, object, &mask);
    __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
    write_note(WAIT_FILE_NOTE_NAME, value, "", name);
}

void sync_note_end(uint64_t object)
{
    struct wait_file_header *h = __atomic_load_n(&sync_gate.wait_states, __ATOMIC_ACQUIRE);
    const uint64_t value[3] = {object, 0, 0};
    uint64_t mask;
    if (!h)
        return;
    const uint64_t *word = notes_named_word(h, object, &mask);
    if (UNLIKELY(__atomic_load_n(word, __ATOMIC_RELAXED) & mask))
        write_note(WAIT_FILE_NOTE_END, value, "", "");
}
