/* SPDX-License-Identifier: MIT */
/** @file Snapshots of recordings that this command did not start. */
#ifndef UPMU_TOOL_CTL_WATCH_H
#define UPMU_TOOL_CTL_WATCH_H

#include <sys/types.h>

/** Copy the recording or process directory `dir` to `to`, NULL: a directory of our choice named for `target`. @return an exit
 *  status. */
int ctl_snapshot(const char *dir, const char *target, const char *to);

/** Carry out triggers of the recording `dir`, with snapshots below `to`, NULL: beside it, until SIGINT or SIGTERM. @return an
 *  exit status. */
int ctl_watch(const char *dir, const char *to);

#endif
