/* SPDX-License-Identifier: MIT */
/** @file Locks of the library that are free in a forked child. The recorder's own locks are in wipe-on-fork memory
 *  instead (tiny_lock.h). */
#ifndef UPMU_BASE_FORKING_H
#define UPMU_BASE_FORKING_H

/** In the order in which they may be acquired. */
enum forking_lock {
    FORKING_SETUP,   /**< region setup */
    FORKING_MACHINE, /**< examining the machine */
    FORKING_LIST,    /**< list of sysfs event names */
    FORKING_INTERN,  /**< interned strings */
    FORKING_LOCKS,
};

/** Acquire and release a lock; fork() waits until it is free. Not for the traced path. */
void forking_take(enum forking_lock lock);
void forking_give(enum forking_lock lock);

#endif
