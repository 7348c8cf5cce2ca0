/* SPDX-License-Identifier: MIT */
/** @file Attributes of entries of debug information. */
#ifndef UPMU_SYMBOLS_DIE_H
#define UPMU_SYMBOLS_DIE_H

#include "elfutils/elfutils.h"

/** A number of the entry itself; 0 if it has none. */
static inline Dwarf_Word die_number(Dwarf_Die *die, unsigned what)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    return dwarf_attr(die, what, &attribute) && dwarf_formudata(&attribute, &number) == 0 ? number : 0;
}

#endif
