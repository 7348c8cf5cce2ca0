/* SPDX-License-Identifier: MIT */
/** @file Names of functions in debug information. */
#ifndef UPMU_SYMBOLS_FUNCTION_NAME_H
#define UPMU_SYMBOLS_FUNCTION_NAME_H

#include "elfutils/elfutils.h"
#include "symbols/demangle.h"

/** The name of a function or of an inlined instance of one, as long-lived as `demangler`: the demangled linkage name, which
 *  distinguishes overloaded functions. Functions that no other file can name may have none: they are qualified by the scopes
 *  around them, "main::{lambda:13}::operator()" for a lambda written in line 13, "{lambda:13:40}" if there are several in that line. @return NULL if it has no name. */
const char *dwarf_function_name(Dwarf_Die *die, struct demangler *demangler);

#endif
