/* SPDX-License-Identifier: MIT */
/* upmu/elfutils.so. It is linked with libdw and libelf, so that packages depend on them as on any other library, and finds them by
 * its own run path. */
#include "elfutils/module.h"

#include "elfutils/functions.h"

__attribute__((visibility("default"))) const struct elfutils *upmu_elfutils(size_t bytes)
{
    return bytes == sizeof elfutils_table ? &elfutils_table : NULL;
}
