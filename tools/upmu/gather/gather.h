/* SPDX-License-Identifier: MIT */
/** @file Archive of upmu gather and the groups of files in it. */
#ifndef UPMU_TOOL_GATHER_H
#define UPMU_TOOL_GATHER_H

#include <stddef.h>
#include <stdio.h>

#include "tar.h"
#include "upmu/api.h"

/** Everything lies below this folder of the archive; UPMU_FSROOT is set to it. */
#define GATHER_ROOT "upmu-gather"

/** An archive in the making. */
struct gather {
    struct tar tar;
    FILE *manifest; /**< size, checksum and path of each file so far */
    size_t files, bytes;
    size_t unreadable; /**< files that are there and could not be read */
    size_t left_out;   /**< files that are too long, or whose name is */
};

/** Add a file of our own making. */
void gather_text(struct gather *g, const char *path, const char *text, size_t len);

/* gather_machine.c: files of /proc and /sys, each group with what is left out of it */

/** A group of files. */
struct gather_group {
    const char *what;    /**< for people */
    const char *without; /**< what is left out of it, or "" */
    void (*take)(struct gather *g);
};
/** All groups; the last one's `what` is NULL. */
extern const struct gather_group gather_groups[];

#endif
