/* SPDX-License-Identifier: MIT */
/** @file Names of threads and objects: the one module that decides them. */
#ifndef UPMU_ANALYSIS_IDENTITY_H
#define UPMU_ANALYSIS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "upmu/analysis.h"

/**
 * What a thread is called: the name it was given, "main", the function it was started with, or the name of its program.
 * @return "" if nothing is known.
 */
const char *identity_thread(const struct upmu_overview *o, uint32_t thread);

/** Whether a stack reaches the begin of its thread and shows the function that was started: all others may be wrappers, as in
 *  std::call_once(). */
bool identity_stack_shows_start(const struct upmu_overview *o, uint32_t process, uint32_t stack);

/** What an object is called, and by what. */
struct identity {
    int kind;          /**< enum upmu_identity */
    const char *name;  /**< "" if only its address is known */
    const char *group; /**< the same for all objects of one origin; "" likewise */
    uint32_t variable; /**< the same for all objects that are one static variable of one file; 0: none */
};

/** What an object is called: the name it was given, its static variable, where it was created, where it was first used. */
struct identity identity_object(const struct upmu_overview *o, uint32_t object);

/** Whether a program may construct one object after the other at an address: on the heap, a stack, in a mapping, or in a static
 *  variable that is known to be of bytes. */
bool identity_memory_is_reusable(const struct upmu_overview *o, uint32_t process, int type, uint64_t address);

struct lookup;
void identity_free(struct lookup *lookup);

#endif
