/* SPDX-License-Identifier: MIT */
/** @file Numbers of the command line: whole words within a range. */
#ifndef UPMU_TOOL_NUMBERS_H
#define UPMU_TOOL_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/** A decimal whole number between `low` and `high`. @return false, and `*out` untouched, if `text` is anything else. */
bool number_long(const char *text, long low, long high, long *out);
/** Whether `text` is a whole number of bytes, with K, M or G behind it or without, between `low` and `high`. */
bool number_is_size(const char *text, uint64_t low, uint64_t high);
/** The same, as `*out`. */
bool number_size(const char *text, uint64_t low, uint64_t high, uint64_t *out);
/** Seconds: a decimal number above 0 and at most a hundred years. */
bool number_seconds(const char *text, double *out);

/** Seconds, not negative, as nanoseconds. Rounded without libm, whose loading takes as long as most commands. */
uint64_t number_nanoseconds(double seconds);

/** Seconds, 0 among them, as nanoseconds. */
bool number_time(const char *text, uint64_t *ns);

#endif
