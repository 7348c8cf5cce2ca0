/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Control file of a process: mode word, options and requests from outside.
 *
 * CTF readers pass over hidden files. The writer keeps a write lock on the file's description for as long as the
 * process lives: it goes away with the process however that ends, and is seen from other pid namespaces too.
 *
 * The mailbox brings marks from outside. A sender holds flock() on the process's directory, finds `mail` 0, fills `text`
 * and stores its length in `mail` (release). The next event of the process takes the text, records it as a mark, and
 * stores 0.
 */
#ifndef UPMU_TRACE_CONTROL_H
#define UPMU_TRACE_CONTROL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTROL_FILE ".control"
#define CONTROL_MAGIC "upmuctl"

enum {
    CONTROL_VERSION = 2, /**< 2: the mode word is that of sync tracing, and there is a mailbox */
    CONTROL_BYTES = 4096,
    CONTROL_MAIL_MAX = 255, /**< bytes of a mark */
};

/** The mode word while sync tracing is off; else it is 1 + enum upmu_sync_mode. */
enum { CONTROL_OFF = 0 };

/** Beginning of the file; it has CONTROL_BYTES, the rest is zero and for later versions. */
struct control_header {
    char magic[8];
    uint32_t version;
    uint32_t bytes; /**< of this header */
    uint32_t pid;
    uint32_t complete;    /**< 1 once the final metadata is written */
    uint64_t start_ticks; /**< start time of the process, as in /proc/PID/stat */
    uint8_t boot_id[16];
    uint32_t mode; /**< CONTROL_OFF, or 1 + enum upmu_sync_mode; the hot path reads it, anybody of the user writes it */
    uint32_t mail; /**< bytes of `text`, which wait to become a mark; 0 = the mailbox is empty */
    uint64_t lost; /**< events lost, whether or not they reached a stream */
    uint64_t clamped; /**< events whose tick was raised to the one before */
    uint32_t chosen;  /**< mode word to go back to from CONTROL_OFF; 0 = nobody in this process reads the mode word */
    char text[CONTROL_MAIL_MAX + 1]; /**< the mailbox: senders take turns by flock() on the directory */
    uint32_t refusal;     /**< errno of the last packet that could not be made: why events were lost; 0 = none yet */
    uint64_t overwritten; /**< events that made room for later ones, in the rings of all threads */
    uint32_t stopped;     /**< 1: the trace has the size that was set as its end, and recording has ended */
};

static_assert(offsetof(struct control_header, mode) == 48, "other processes know the layout");
static_assert(offsetof(struct control_header, mail) == 52, "mode and mailbox lie in one cache line");
static_assert(offsetof(struct control_header, text) == 76, "no padding before the text");
static_assert(offsetof(struct control_header, refusal) == 332, "what was padding before");
static_assert(offsetof(struct control_header, overwritten) == 336, "other processes know the layout");
static_assert(offsetof(struct control_header, stopped) == 344, "other processes know the layout");
static_assert(sizeof(struct control_header) <= CONTROL_BYTES, "the header fits the file");

/** Start time of a process in clock ticks since boot; 0 if there is none (a real one is never 0). */
uint64_t control_start_ticks(pid_t pid);

/** This boot's id: as bytes, and as text of 36 characters with its NUL. @return 0 or -errno. */
int control_boot_id(uint8_t id[16], char text[37]);

/** Open a file of a recording for reading: only regular files, links not followed, and nobody who has put something else in
 *  its place is waited for. `path` is looked up as openat() does. @return descriptor or -errno. */
int control_open_at(int dirfd, const char *path);

/** Whether the process that writes the directory `dirfd` is alive. @return 1, 0 (also without a control file), or
 *  -errno when it cannot be told. */
int control_is_running(int dirfd);

#endif
