/* SPDX-License-Identifier: MIT */
/** @file Strings that live as long as the process, each once. Room: core. */
#ifndef UPMU_CORE_INTERN_H
#define UPMU_CORE_INTERN_H

/** The permanent copy of `s`, or NULL without memory. Thread safe; takes a lock and allocates at first sight. */
const char *intern(const char *s);

#endif
