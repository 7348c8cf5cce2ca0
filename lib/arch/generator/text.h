/* SPDX-License-Identifier: MIT */
/** @file Text block of the event tables: each text once. */
#ifndef UPMU_ARCH_GENERATOR_TEXT_H
#define UPMU_ARCH_GENERATOR_TEXT_H

#include <stdio.h>

#include "core/arch_ops.h"

/** Add a text, unless the block has it. The program ends if the block is full. Equal texts have one reference. */
arch_text_ref text_add(const char *text);

/** Write the initializer of the block, a text on each line, with its reference. */
void text_emit(FILE *out);

#endif
