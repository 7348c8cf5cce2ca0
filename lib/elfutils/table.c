/* SPDX-License-Identifier: MIT */
/* The table of libdw's and libelf's functions, linked with them. */
#include "elfutils/functions.h"

#define ELFUTILS_ROW(name) .name = name,
const struct elfutils elfutils_table = {ELFUTILS_FUNCTIONS(ELFUTILS_ROW)};
