/* SPDX-License-Identifier: MIT */
/** @file Libraries of libupmu, beside the one that the command itself uses. */
#ifndef UPMU_TOOL_LIBRARY_H
#define UPMU_TOOL_LIBRARY_H

/** @param name a path from their folder on @return its absolute path, to be freed; NULL after a message. */
char *library_path(const char *name);

#endif
