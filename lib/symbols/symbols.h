/* SPDX-License-Identifier: MIT */
/**
 * @file
 * From an address in a module to function, file and line, with the functions inlined there.
 * Room: analysis. Before it: the modules of a trace; after it: the overview's public face.
 *
 * A module's files are opened at its first address; of its DWARF only the compile units asked for are read, each once,
 * into sorted tables that are bisected. What is not known is left out, never guessed: without DWARF there is a name
 * only, without a symbol table nothing.
 */
#ifndef UPMU_ANALYSIS_SYMBOLS_H
#define UPMU_ANALYSIS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

/** One function at an address; strings live as long as the symbols. */
struct symbol_frame {
    const char *function; /**< NULL if not known */
    const char *file;     /**< NULL if not known */
    uint32_t line;        /**< 0 if not known */
    uint32_t column;      /**< 0 if not known */
    bool inlined;         /**< it was inlined into the frame after it */
};

/** What is known of the code at an address beside its functions; strings live as long as the symbols. */
struct symbol_code {
    int kind;             /**< enum upmu_frame_kind */
    const char *stub;     /**< UPMU_FRAME_STUB: its name; NULL if not known */
    const char *before;   /**< the last function that begins before it, if none covers it; NULL */
    uint64_t from_before; /**< how far before */
};

/** Where separate debug files are looked for. */
#define SYMBOLS_DEBUG_DIR "/usr/lib/debug"

/** @param debug_dir where separate debug files are, SYMBOLS_DEBUG_DIR; copied. @return 0; UPMU_E_NOMEM. */
int symbols_open(struct symbols **out, const char *debug_dir);
void symbols_close(struct symbols *s);

/** Make a module known; the same path and build-id get the same number. @return 0; UPMU_E_NOMEM. */
int symbols_module(struct symbols *s, const char *path, const char *build_id, uint32_t *module);

/** Why the module's file was not used ("... its build-id is X, recorded was Y"), "" if it was or was not yet asked. */
const char *symbols_problem(const struct symbols *s, uint32_t module);

/** The functions at `address` (as in the file: without the load bias), innermost first.
 *  @return how many frames were filled, 0 if nothing is known; UPMU_E_NOMEM. */
int symbols_find(struct symbols *s, uint32_t module, uint64_t address, struct symbol_frame *frames, size_t max);

/** The code at `address`: of what kind it is, and what is near if it has no name. @return 0; UPMU_E_NOMEM. */
int symbols_code(struct symbols *s, uint32_t module, uint64_t address, struct symbol_code *out);

/** The function named by the call that returns to `address`, if that function can go on to another one by a tail call:
 *  where the frame inside is another one's, this one has left the stack.
 *  @return 1; 0 if nothing is known of it; UPMU_E_NOMEM. */
int symbols_tail_caller(struct symbols *s, uint32_t module, uint64_t address, struct symbol_frame *out);

#endif
