/* SPDX-License-Identifier: MIT */
/** @file Export to a file or a descriptor. */
#ifndef UPMU_TOOL_EXPORT_FILE_H
#define UPMU_TOOL_EXPORT_FILE_H

#include "upmu/export.h"

/** What is wanted. */
struct export_order {
    const char *dir, *format;
    const char *output; /**< of export_to_file() */
    struct upmu_export_opts opts;
};

/** Write to an open descriptor, showing progress on a terminal; losses are reported. @return an exit status. */
int export_to(const struct export_order *order, int fd);
/** Write to `output`, which appears when it is whole, or to the device of that name. @return an exit status. */
int export_to_file(const struct export_order *order);

#endif
