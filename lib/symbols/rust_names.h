/* SPDX-License-Identifier: MIT */
/** @file Demangling of Rust names. */
#ifndef UPMU_ANALYSIS_RUST_NAMES_H
#define UPMU_ANALYSIS_RUST_NAMES_H

/** The readable form of a name in v0 ("_R...") or legacy mangling ("_ZN...17h<16 digits>E"); NULL if it is
 *  neither, or without memory. Hashes and disambiguators are left out. The caller frees it. */
char *rust_demangle(const char *name);

#endif
