/* SPDX-License-Identifier: MIT */
/** @file Interned strings: one permanent copy of each. */
#ifndef UPMU_CORE_INTERN_H
#define UPMU_CORE_INTERN_H

/** The permanent copy of `s`, or NULL if out of memory. Thread safe; takes a lock, and allocates for a new string. */
const char *intern(const char *s);

#endif
