/* SPDX-License-Identifier: MIT */
/** @file The library's ordinary locks, none of which a forked child may find held by a thread that it does not have.
 *  Room: core. What the recorder itself locks lies in wipe-on-fork memory instead (region.h). */
#ifndef UPMU_CORE_FORKING_H
#define UPMU_CORE_FORKING_H

/** In the order in which they may be taken. */
enum forking_lock {
    FORKING_SETUP,   /**< switching regions on */
    FORKING_MACHINE, /**< examining the machine */
    FORKING_LIST,    /**< listing the names of sysfs */
    FORKING_INTERN,  /**< the table of permanent strings */
    FORKING_LOCKS,
};

/** Take and give a lock; fork() waits for those who hold one. Not for the traced path. */
void forking_take(enum forking_lock lock);
void forking_give(enum forking_lock lock);

#endif
