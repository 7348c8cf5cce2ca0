/* SPDX-License-Identifier: MIT */
/** @file A trace without its events. */
#ifndef UPMU_TRACE_BARE_H
#define UPMU_TRACE_BARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/trace.h"

/** Open the directory of a process, without events. @return 0; UPMU_E_IO, UPMU_E_NOMEM and the codes of bad
 *  metadata. */
int trace_bare_open(struct upmu_trace **trace, const char *process);
/** Add a stack of process `index` under its id, to any trace; its frames are copied. @return 0; UPMU_E_NOMEM. */
int trace_bare_stack(struct upmu_trace *trace, size_t index, uint32_t id, const struct upmu_trace_stack *stack);
/** Add a module; its texts are copied. @return 0; UPMU_E_NOMEM. */
int trace_bare_module(struct upmu_trace *trace, const struct upmu_trace_module *module);

typedef int (*trace_process_fn)(const char *process, pid_t pid, void *arg);
/** Call `each` with the directory and the id of each process of a recording until it returns a negative number. The metadata are
 *  read only where the control file is missing. @return the last result; UPMU_E_IO, UPMU_E_NOMEM, UPMU_E_FORMAT. */
int trace_each_process(const char *dir, trace_process_fn each, void *arg);

/** The program that a process became by exec(), which keeps its id and start time: its index, SIZE_MAX if there is none. */
size_t trace_process_next_image(const struct upmu_trace *t, size_t index);
/** The directory of process `index`. */
const char *trace_process_dir(const struct upmu_trace *trace, size_t index);
/** Whether it was recorded in mode counts for a time at least, without orders of locks. */
bool trace_process_counted(const struct upmu_trace *trace, size_t index);
/** Whether events of any kind of thread `tid` of process `index` were lost, as far as its stream was read; false for rings, which count what they
 *  overwrite as lost. */
bool trace_thread_lost(const struct upmu_trace *trace, size_t index, pid_t tid);
/** Convert a CLOCK_MONOTONIC_RAW time to event time of process `index`. */
uint64_t trace_time_of_raw(const struct upmu_trace *trace, size_t index, uint64_t raw_ns);
/** The address of data with the number of its module, as upmu_trace_module_at() has it: of the module with the return address `call`, or of
 *  the one mapped in process `index` at `tick`. */
uint64_t trace_address_beside(uint64_t address, uint64_t call);
uint64_t trace_address_at(const struct upmu_trace *trace, size_t index, uint64_t address, uint64_t tick);

#endif
