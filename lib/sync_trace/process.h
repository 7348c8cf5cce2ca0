/* SPDX-License-Identifier: MIT */
/** @file End of sync tracing before the end of the process. */
#ifndef UPMU_SYNC_PROCESS_H
#define UPMU_SYNC_PROCESS_H

/** End the recording for good, as at exit: no system call is made any more, in this process and its children. Not signal
 *  safe; keeps errno. */
void sync_process_finish(void);

#endif
