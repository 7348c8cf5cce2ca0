/* SPDX-License-Identifier: MIT */
/** @file What kind of mutex it is, as flags of an event. Room: sync_trace; before it the wrappers of mutexes, after it
 *  libc's own field, which is read for labelling and never changed. */
#ifndef UPMU_SYNC_MUTEX_KIND_H
#define UPMU_SYNC_MUTEX_KIND_H

#include "sync_trace/sync.h"

/** UPMU_TRACE_FLAG_RECURSIVE and its kin of a mutex that exists; 0 where libc does not tell. */
uint32_t sync_mutex_flags(const pthread_mutex_t *m);
/** The same of one that was just made with these attributes, which know more. */
uint32_t sync_mutex_init_flags(const pthread_mutex_t *m, const pthread_mutexattr_t *attr);

#endif
