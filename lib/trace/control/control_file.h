/* SPDX-License-Identifier: MIT */
/** @file Control file of a process, mapped. */
#ifndef UPMU_TRACE_CONTROL_FILE_H
#define UPMU_TRACE_CONTROL_FILE_H

struct control_header;

/** Check magic and version of the header read from `path`. @return 0; UPMU_E_FORMAT, UPMU_E_VERSION. */
int control_file_check(const char *path, const struct control_header *h);

/** Map the control file of the process's directory `dir` for reading and writing. @return 0; UPMU_E_PERM (another user's),
 *  UPMU_E_FORMAT, UPMU_E_VERSION, UPMU_E_IO, UPMU_E_NOMEM. */
int control_file_map(const char *dir, struct control_header **out);
void control_file_unmap(struct control_header *control);

#endif
