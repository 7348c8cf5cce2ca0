/* SPDX-License-Identifier: MIT */
/** @file Names of the modes of sync tracing. */
#ifndef UPMU_TOOL_MODES_H
#define UPMU_TOOL_MODES_H

/** @return enum upmu_sync_mode, or -1 if there is no such mode. */
int mode_number(const char *name);

/** Name of a mode as in struct upmu_control_status. */
const char *mode_name(int mode);

#endif
