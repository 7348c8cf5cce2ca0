/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: a wait-state file, read and searched for deadlocks.
 *
 * An input has the header, NOTES bytes of notes, and for each slot its head and the first bytes of its call stack, of the holder's stack and
 * of its locks held; in the file these parts are far from each other. Magic, version and slot size are set, since a fuzzer would lose its
 * time with them. wait_state_seed.py makes an input from a file.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/textbuf.h"
#include "deadlock/notes_file.h"
#include "deadlock/wait_state.h"
#include "fuzz.h"
#include "trace/format/wait_state.h"
#include "upmu/trace.h"

enum { NOTES = 512, STACK = 40, HELD = 64, SLOTS = 64 };

static_assert(WAIT_FILE_VERSION == 4 && sizeof(struct wait_file_header) == 600,
              "make the seeds anew by wait_state_seed.py");

struct input {
    const uint8_t *at;
    size_t left;
};

/* Writes the next bytes of the input into the file, at most `size`. */
static void put(struct input *in, int fd, size_t size, off_t at)
{
    size_t n = size < in->left ? size : in->left;
    if (pwrite(fd, in->at, n, at) != (ssize_t)n) {
        perror("pwrite");
        abort();
    }
    in->at += n;
    in->left -= n;
}

static void write_file(const uint8_t *data, size_t size)
{
    struct wait_file_header header;
    struct input in = {data, size};
    memcpy(&header, data, sizeof header);
    memcpy(header.magic, WAIT_FILE_MAGIC, sizeof header.magic);
    header.version = WAIT_FILE_VERSION;
    header.slot_bytes = WAIT_FILE_SLOT_BYTES;
    int fd = open(fuzz_file(WAIT_FILE_NAME, &header, sizeof header), O_WRONLY | O_CLOEXEC);
    in.at += sizeof header;
    in.left -= sizeof header;
    put(&in, fd, NOTES, WAIT_FILE_NOTES_AT);
    for (uint32_t slot = 0; in.left > 0 && slot < SLOTS; slot++) {
        put(&in, fd, WAIT_FILE_HEAD_BYTES, wait_file_slot_at(slot));
        put(&in, fd, STACK, wait_file_slot_at(slot) + WAIT_FILE_HEAD_BYTES);
        put(&in, fd, STACK, wait_file_slot_at(slot) + WAIT_FILE_HOLDER_AT);
        put(&in, fd, HELD, wait_file_slot_at(slot) + WAIT_FILE_HELD_AT);
    }
    if (ftruncate(fd, wait_file_slot_at(SLOTS)) != 0)
        abort();
    close(fd);
}

static void search(struct wait_state *s)
{
    struct textbuf why = {0};

    if (wait_state_find_blocked(s, 0) >= 0)
        for (size_t i = 0; i < s->snapshot.n_deadlocks; i++) {
            (void)wait_state_signature(s, &s->snapshot.deadlocks[i]);
            (void)wait_state_identity(s, &s->snapshot.deadlocks[i]);
            wait_state_wakers_text(s, &s->snapshot.deadlocks[i], &why);
        }
    textbuf_free(&why);
    struct alive_time now = alive_time_now();
    if (wait_state_save_wakers(s, fuzz_folder()) != 0 || wait_state_save_alive(fuzz_folder(), &now) != 0)
        abort();
}

static void read_notes(void)
{
    static volatile size_t sum;
    struct notes_file n;
    const struct wait_file_note *note;
    const char *second;
    int rc = notes_file_open(&n, fuzz_folder());
    for (uint32_t at = 0; rc == 0 && (note = notes_file_at(&n, at, &second)) != NULL; at += note->bytes)
        sum += strlen(note->texts) + strlen(second);
    (void)sum;
    notes_file_free(&n);
}

static void make_calls(const struct wait_state_file *f)
{
    struct upmu_trace_event e;
    for (size_t i = 0; i < f->n_threads; i++)
        if (wait_state_is_call(&f->threads[i].head))
            wait_state_call_event(&f->threads[i].head, 0, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wait_state state;

    if (size < sizeof(struct wait_file_header))
        return -1;
    write_file(data, size);
    if (wait_state_read(&state, fuzz_folder()) > 0) {
        search(&state);
        read_notes();
        make_calls(&state.file);
        wait_state_file_end_pauses(&state.file);
    }
    wait_state_free(&state);
    return 0;
}
