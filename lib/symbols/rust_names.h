/* SPDX-License-Identifier: MIT */
/** @file Rust's names as their author wrote them. Room: analysis. Before it: demangle; after it: nothing. */
#ifndef UPMU_ANALYSIS_RUST_NAMES_H
#define UPMU_ANALYSIS_RUST_NAMES_H

/** The readable form of a name as Rust's compilers make them, v0 ("_R...") or legacy ("_ZN...17h<16 digits>E"); NULL if it is
 *  none, or without memory. Hashes and disambiguators are left out. To be freed. */
char *rust_demangle(const char *name);

#endif
