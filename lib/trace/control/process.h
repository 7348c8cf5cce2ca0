/* SPDX-License-Identifier: MIT */
/** @file Processes of a control, and the control files of those that run. */
#ifndef UPMU_TRACE_CONTROL_PROCESS_H
#define UPMU_TRACE_CONTROL_PROCESS_H

#include "trace/format/control.h"
#include "trace/read/recording.h"
#include "upmu/control.h"

struct upmu_control {
    struct path_list processes;
};

/** The directory of process `index`. `function` is for messages. @return 0; UPMU_E_END, UPMU_E_INVAL. */
int control_process(const char *function, const struct upmu_control *control, size_t index, const char **dir);
/** Whether the process of a directory runs. @return 1, 0 or UPMU_E_IO. */
int control_process_is_running(const char *dir);
/** Map the control file of process `index`, which must run; to be released with control_file_unmap().
 *  @return 0; UPMU_E_END, UPMU_E_INVAL, UPMU_E_GONE, UPMU_E_PERM, UPMU_E_FORMAT, UPMU_E_VERSION, UPMU_E_IO, UPMU_E_NOMEM. */
int control_map_running(const char *function, const struct upmu_control *control, size_t index, const char **dir,
                        struct control_header **h);

#endif
