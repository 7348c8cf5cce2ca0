/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: a wait-state file, read and searched for deadlocks.
 *
 * Slots are 64 KiB apart in the file; an input has CHUNK bytes for the header and as many for each slot. Magic, version and
 * slot size are set, since a fuzzer would lose its time with them.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/textbuf.h"
#include "deadlock/wait_state.h"
#include "fuzz.h"
#include "trace/format/wait_state.h"

enum { CHUNK = 1024 };

static void write_at(int fd, const void *data, size_t size, off_t at)
{
    if (pwrite(fd, data, size, at) != (ssize_t)size) {
        perror("pwrite");
        abort();
    }
}

static void write_slots(int fd, const uint8_t *data, size_t size)
{
    for (uint32_t slot = 0; size > 0 && slot < 16; slot++) {
        size_t n = size < CHUNK ? size : CHUNK;
        write_at(fd, data, n, wait_file_slot_at(slot));
        data += n;
        size -= n;
    }
}

static void search(struct wait_state *s)
{
    struct textbuf why = {0};

    if (wait_state_find_blocked(s) >= 0)
        for (size_t i = 0; i < s->snapshot.n_deadlocks; i++) {
            (void)wait_state_signature(s, &s->snapshot.deadlocks[i]);
            wait_state_wakers_text(s, &s->snapshot.deadlocks[i], &why);
        }
    textbuf_free(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wait_file_header header = {.magic = WAIT_FILE_MAGIC};
    struct wait_state state;

    if (size < sizeof header)
        return -1;
    memcpy(&header, data, sizeof header);
    memcpy(header.magic, WAIT_FILE_MAGIC, sizeof header.magic);
    header.version = WAIT_FILE_VERSION;
    header.slot_bytes = WAIT_FILE_SLOT_BYTES;
    int fd = open(fuzz_file(WAIT_FILE_NAME, "", 0), O_WRONLY | O_CLOEXEC);
    write_at(fd, &header, sizeof header, 0);
    write_slots(fd, data + sizeof header, size - sizeof header);
    close(fd);
    if (wait_state_read(&state, fuzz_folder()) > 0)
        search(&state);
    wait_state_free(&state);
    return 0;
}
