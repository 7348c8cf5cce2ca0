/* SPDX-License-Identifier: MIT */
/** @file Cells of event tables: match words, encodings, counters and formulas. */
#ifndef UPMU_ARCH_GENERATOR_CELLS_H
#define UPMU_ARCH_GENERATOR_CELLS_H

#include "core/arch_ops.h"

/** Each returns NULL, or what is wrong with the cell. */
const char *cells_match(const char *cell, uint8_t *match);
/** Fills kind, config, config1, raw_encoding and formula. */
const char *cells_encoding(const char *cell, struct arch_event *out);
const char *cells_counters(const char *cell, uint32_t *counters);

/** One term of a formula. */
struct cells_term {
    uint64_t weight;
    bool negative;
    const char *name; /**< not terminated: `name_len` */
    size_t name_len;
};
/** Read the next term; `*at` starts as the formula and ends at its end. @return NULL, or what is wrong */
const char *cells_term(const char **at, struct cells_term *out);

#endif
