/* SPDX-License-Identifier: MIT */
/* elfutils_open() of the static library, whose users link libdw and libelf. */
#include "elfutils/elfutils.h"

const struct elfutils *elfutils = &elfutils_table;

bool elfutils_open(void)
{
    return true;
}

const char *elfutils_problem(void)
{
    return "";
}
