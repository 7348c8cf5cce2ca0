/* SPDX-License-Identifier: MIT */
/** @file Modules, object names, shared mappings and relatives in the wait-state file. All keep errno. */
#ifndef UPMU_SYNC_NOTES_H
#define UPMU_SYNC_NOTES_H

#include <stdint.h>
#include <sys/types.h>

void sync_note_module(uint64_t base, uint64_t start, uint64_t end, const char *build_id, const char *path);
/** The program has named an object; NULL and "" are no name. */
void sync_note_name(uint64_t object, int32_t type, const char *name);
/** A shared mapping, as WAIT_FILE_NOTE_SHARED describes it. */
void sync_note_shared(const uint64_t value[3], const char *file, const char *boot);
/** This process, the tick at which it began to record, and its parent. */
void sync_note_self(pid_t process, uint64_t since, pid_t parent);
/** The fork that made this process: by which thread, and when that process began to record. */
void sync_note_parent(pid_t process, pid_t thread, uint64_t tick, uint64_t since);
/** posix_spawn(), which was called at `tick`, made a child. */
void sync_note_spawned(pid_t child, pid_t thread, uint64_t tick);
/** A child was waited for; `child` 0: that of system() or popen(), which was called at `begin`. */
void sync_note_reaped(pid_t child, pid_t thread, uint64_t tick, uint64_t begin);
/** The object at this address ends, or a new one begins. */
void sync_note_end(uint64_t object);

#endif
