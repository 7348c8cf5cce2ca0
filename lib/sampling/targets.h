/* SPDX-License-Identifier: MIT */
/** @file Functions of a file that uprobes are put on. */
#ifndef UPMU_SAMPLING_TARGETS_H
#define UPMU_SAMPLING_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** An instruction. */
struct target {
    uint64_t offset; /**< in the file */
    bool jumps;      /**< an exit that may also lead on within the function */
};

/** All zero has none. */
struct targets {
    struct target *entries,
        *exits; /**< first instructions; those by which the functions end, if these were asked for */
    size_t n_entries, n_exits, cap_entries, cap_exits;
    bool emulated; /**< the kernel emulates the first instruction of one */
    const char *
        address; /**< at an exit: the kernel's name for the register with its address; NULL: exits were not asked for */
};

/** Find the functions of the file `path` whose names match `pattern`, with their exits if `timed`. @return 0; UPMU_E_NAME,
 *  UPMU_E_UNSUPPORTED (a file of another machine; exits of this one, or of these functions), UPMU_E_NOMEM. */
int targets_find(struct targets *t, const char *path, const char *pattern, bool timed);
void targets_free(struct targets *t);

#endif
