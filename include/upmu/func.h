/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Function recording: start, stop and selection in the program itself, of functions built with -finstrument-functions.
 * Link with libupmu_func (pkg-config upmu-func). Results are read with upmu/functions.h, or by `upmu report --functions`.
 *
 *     upmu_func_start();          // from here on calls are recorded, in all threads
 *     handle_requests();
 *     upmu_func_stop();
 *
 * Calls that have not returned end at a stop, and at a change of the selection; after the next start, call paths begin with
 * the functions that are called then. While recording is stopped, a hook costs one load and one branch. Other processes can do the
 * same: `upmu ctl PID functions`, and upmu_control_functions_start() of upmu/control.h.
 */
#ifndef UPMU_FUNC_H
#define UPMU_FUNC_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** upmu_func_selection.depth: no limit. */
#define UPMU_FUNC_NO_DEPTH UINT32_MAX
/** upmu_func_selection.min_ns: no limit. */
#define UPMU_FUNC_NO_MIN UINT64_MAX

/**
 * Which functions are recorded; all zero but `size`: no change. Patterns are separated by commas, as in UPMU_FUNC_INCLUDE:
 * "NAME", "@SOURCE", "MODULE:NAME" or "MODULE:@SOURCE", at most 32 of at most 255 characters. "" is no pattern, NULL does not change them.
 */
struct upmu_func_selection {
    size_t size;         /**< sizeof(struct upmu_func_selection) */
    const char *include; /**< only these functions are recorded */
    const char *exclude; /**< these are not */
    const char *below;   /**< only these are outermost: they are recorded, with all that they call */
    uint64_t min_ns;     /**< shorter calls have no events, in mode trace; 0: no change; UPMU_FUNC_NO_MIN */
    uint32_t depth;      /**< functions of a call path, from the outermost on; 0: no change; UPMU_FUNC_NO_DEPTH */
    uint32_t reserved;   /**< 0 */
};
#define UPMU_FUNC_SELECTION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_func_selection, 48)

/**
 * Start recording calls, in all threads. If none of the variables UPMU_FUNC_MODE and UPMU_FUNC_CSV is set, the first call
 * sets recording up: call paths go to the trace of the process (UPMU_TRACE, or "upmu-trace").
 * @return 0; 1 (calls were recorded already); UPMU_E_IO (the trace cannot be created), UPMU_E_NOMEM, UPMU_E_SYSTEM (kernel older
 *         than 4.14), UPMU_E_LIMIT (no thread-specific key is left), UPMU_E_INVAL (a variable UPMU_FUNC_...), UPMU_E_STATE
 *         (recording has ended: at exit, or because the program restricts its system calls).
 * Thread safe; async-signal-safe once recording is set up.
 */
UPMU_API int upmu_func_start(void);

/** Stop recording calls, in all threads. @return 0; 1 (calls were not recorded). Async-signal-safe. */
UPMU_API int upmu_func_stop(void);

/**
 * Select other functions from now on.
 * @return 0; UPMU_E_INVAL (NULL, size, patterns), UPMU_E_STATE (recording was not set up, has ended, or has no events for
 *         `min_ns`), UPMU_E_IO. Thread safe, not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_func_select(const struct upmu_func_selection *selection);

/**
 * Patch the functions that were built with -fpatchable-function-entry=5, or by clang with -fxray-instrument, in all modules that are
 * loaded: from now on their calls are recorded.
 * Recording does so when it begins, and for each module that is opened by a path later. Other threads may run meanwhile.
 * @return the number of places that are patched; UPMU_E_STATE (recording was not set up, or has ended; or a seccomp filter was
 *         installed since), UPMU_E_UNSUPPORTED (the
 *         instruction set is not x86-64, or the program has a shadow stack), UPMU_E_SYSTEM (the kernel or a security module forbids it), UPMU_E_NOMEM. Thread
 *         safe, not async-signal-safe.
 */
UPMU_API int upmu_func_patch(void);

/**
 * Take the patches back: such functions cost nops, or a jump over them, again. Calls that have not returned end at the return of their caller.
 * The bytes that the program skips are restored only if it has no other thread.
 * @return as upmu_func_patch()
 */
UPMU_API int upmu_func_unpatch(void);

UPMU_END_DECLS

#endif
