/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Symbol lookup: function, file and line of an address in a module, inlined functions included.
 *
 * A module's files are opened at its first lookup. Only the compile units needed are read, each once, into sorted
 * tables. Missing data is never guessed: without DWARF there are names only, without a symbol table nothing.
 */
#ifndef UPMU_ANALYSIS_SYMBOLS_H
#define UPMU_ANALYSIS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/frame.h"

struct symbols;
struct textbuf;

/** Reads the wrapper patterns of the file that UPMU_WRAPPERS names. @param debug_dir folder of separate debug files, copied; NULL:
 *  that of UPMU_DEBUG_DIR, else /usr/lib/debug. Modules are searched below UPMU_SYSROOT first. @return 0; UPMU_E_NOMEM; the errors of wrappers_read(). */
int symbols_open(struct symbols **out, const char *debug_dir);
void symbols_close(struct symbols *s);

/** Add a module; the same path and build-id return the same index. @return 0; UPMU_E_NOMEM. */
int symbols_module(struct symbols *s, const char *path, const char *build_id, uint32_t *module);

/** Why the module's file was not used ("... its build-id is X, recorded was Y"), "" if it was used, or not needed
 *  yet. */
const char *symbols_problem(const struct symbols *s, uint32_t module);

/** The functions at `address` (of the file: without the load bias), innermost first. @return the number of frames
 *  filled, 0 if none is known; UPMU_E_NOMEM. */
int symbols_find(struct symbols *s, uint32_t module, uint64_t address, struct symbol_frame *frames, size_t max);

/** The kind of code at `address`, and the nearest name if it has none. @return 0; UPMU_E_NOMEM. */
int symbols_code(struct symbols *s, uint32_t module, uint64_t address, struct symbol_code *out);

/** Begin and end of the code around `address`, by its symbol or by unwind information. A function with parts in several places has
 *  a range for each. @return 1; 0 if not known; UPMU_E_NOMEM. */
int symbols_range(struct symbols *s, uint32_t module, uint64_t address, uint64_t *begin, uint64_t *end);

/** The function named by the call that returns to `address`, if that function can make a tail call: if the inner
 *  frame is of another function, this one has left the stack. @return 1; 0 if not known; UPMU_E_NOMEM. */
int symbols_tail_caller(struct symbols *s, uint32_t module, uint64_t address, struct symbol_frame *out);
/** Whether the function that contains the return address `address` only passes the call on: by its lines, nothing is before
 *  the call and nothing but the return is after it. @return 1 or 0; UPMU_E_NOMEM. */
int symbols_passes_on(struct symbols *s, uint32_t module, uint64_t address);

/** The static variable that contains the lock at `address`, with the way to it: "pool[3].lock", "state+0x28" without debug
 *  information. @param is_bytes out: the variable is known to be of bytes there, not of locks @return 1; 0 if none is known;
 *  UPMU_E_NOMEM. */
int symbols_variable(struct symbols *s, uint32_t module, uint64_t address, struct textbuf *out, bool *is_bytes);

/** Whether a frame is of a function that only passes a call on, as std::mutex::lock() (wrappers.h). */
bool symbols_is_wrapper(const struct symbols *s, const struct symbol_frame *frame, const char *module);

#endif
