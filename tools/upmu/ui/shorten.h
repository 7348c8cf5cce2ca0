/* SPDX-License-Identifier: MIT */
/** @file Width of text on a terminal, and long names shortened in the middle. */
#ifndef UPMU_TOOL_SHORTEN_H
#define UPMU_TOOL_SHORTEN_H

#include <stddef.h>

/** Columns that the text takes as it is shown: of wide characters two, of combining marks none. */
size_t text_width(const char *text);
/** The text in at most `width` columns, "..." in place of its middle; to be freed. */
char *text_shortened(const char *text, size_t width);

#endif
