/* SPDX-License-Identifier: MIT */
/** @file Modules and object names in the wait-state file. All keep errno. */
#ifndef UPMU_SYNC_NOTES_H
#define UPMU_SYNC_NOTES_H

#include <stdint.h>

void sync_note_module(uint64_t base, uint64_t start, uint64_t end, const char *build_id, const char *path);
/** The program has named an object; NULL and "" are no name. */
void sync_note_name(uint64_t object, int32_t type, const char *name);
/** The object at this address ends, or a new one begins. */
void sync_note_end(uint64_t object);

#endif
