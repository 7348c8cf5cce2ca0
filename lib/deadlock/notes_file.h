/* SPDX-License-Identifier: MIT */
/** @file Reader of the notes in a wait-state file. */
#ifndef UPMU_DEADLOCK_NOTES_FILE_H
#define UPMU_DEADLOCK_NOTES_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format/wait_state.h"

/** A copy of the notes. */
struct notes_file {
    char *data; /**< with a terminating NUL added */
    uint32_t bytes;
    bool whole; /**< nothing is missing so far */
};

/** Read the notes of the process with this directory and header. @return 0; UPMU_E_NOMEM. To be freed in any case. */
int notes_file_read(struct notes_file *n, const char *dir, const struct wait_file_header *h);
/** The same; a directory without a wait-state file has no notes. */
int notes_file_open(struct notes_file *n, const char *dir);
/** The note at `at`, with texts that end within it, of which `second` is the second; the next one is at `at` + bytes. NULL past
 *  the last, or if it is malformed: `whole` is false then. */
const struct wait_file_note *notes_file_at(struct notes_file *n, uint32_t at, const char **second);
void notes_file_free(struct notes_file *n);

#endif
