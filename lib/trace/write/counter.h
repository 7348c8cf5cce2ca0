/* SPDX-License-Identifier: MIT */
/** @file Description of a recorded counter. */
#ifndef UPMU_TRACE_COUNTER_H
#define UPMU_TRACE_COUNTER_H

/** A counter recorded with each region event. */
struct trace_counter {
    const char *name; /**< as displayed; made into a valid CTF field name */
    const char *unit;
    const char *note; /**< why it is approximate or not counted, or "" */
};

#endif
