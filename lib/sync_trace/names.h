/* SPDX-License-Identifier: MIT */
/** @file Names that the program gives to objects before there is a trace. */
#ifndef UPMU_SYNC_NAMES_H
#define UPMU_SYNC_NAMES_H

#include "sync_trace/state/thread.h"

/** Store the name of an object until tracing begins. Signal safe. */
void sync_names_keep(const void *object, int32_t type, const char *name);
/** The object was destroyed. */
void sync_names_forget(const void *object);
/** Record the stored names. */
void sync_names_write(struct sync_thread *t);

#endif
