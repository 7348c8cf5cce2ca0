/* SPDX-License-Identifier: MIT */
/** @file C source of the event tables. */
#ifndef UPMU_ARCH_GENERATOR_EMIT_H
#define UPMU_ARCH_GENERATOR_EMIT_H

#include <stdio.h>

#include "arch/generator/model.h"

/** The tables: one `struct arch_table` per family. */
void emit_source(FILE *out, const struct model *m);
/** Their declarations. */
void emit_header(FILE *out, const struct model *m);

#endif
