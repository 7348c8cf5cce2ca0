/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The control file of a process being recorded: DIR/<process>/.control. Room: trace (format). Before it: the writer,
 * which maps it shared; after it: repair, which must know whether the writer lives.
 *
 * CTF readers pass over hidden files. The writer keeps a write lock on the file's description for as long as the
 * process lives: it goes away with the process however that ends, and is seen from other pid namespaces too.
 */
#ifndef UPMU_TRACE_CONTROL_H
#define UPMU_TRACE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTROL_FILE ".control"
#define CONTROL_MAGIC "upmuctl"

enum { CONTROL_VERSION = 1, CONTROL_BYTES = 4096 };

/** What the writer is doing. */
enum control_mode { CONTROL_OFF = 0, CONTROL_RECORDING = 1 };

/** Beginning of the file; it has CONTROL_BYTES, the rest is zero and for later versions. */
struct control_header {
    char magic[8];
    uint32_t version;
    uint32_t bytes; /**< of this header */
    uint32_t pid;
    uint32_t complete;    /**< 1 once the final metadata is written */
    uint64_t start_ticks; /**< start time of the process, as in /proc/PID/stat */
    uint8_t boot_id[16];
    uint32_t mode; /**< enum control_mode */
    uint32_t reserved;
    uint64_t lost;    /**< events lost, whether or not they reached a stream */
    uint64_t clamped; /**< events whose tick was raised to the one before */
};

/** Start time of a process in clock ticks since boot; 0 if there is none (a real one is never 0). */
uint64_t control_start_ticks(pid_t pid);

/** This boot's id: as bytes, and as text of 36 characters with its NUL. @return 0 or -errno. */
int control_boot_id(uint8_t id[16], char text[37]);

/** Whether the process that writes the directory `dirfd` is alive. @return 1, 0 (also without a control file), or
 *  -errno when it cannot be told. */
int control_is_running(int dirfd);

#endif
