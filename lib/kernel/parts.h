/* SPDX-License-Identifier: MIT */
/** @file Parts of the kernel interface's implementation, joined by perf.c. Private to lib/kernel; core/kernel_ops.h
 *  describes the functions. */
#ifndef UPMU_KERNEL_PARTS_H
#define UPMU_KERNEL_PARTS_H

#include <stdbool.h>

#include "core/kernel_ops.h"

/* descriptors.c: the library's share of RLIMIT_NOFILE, and the numbers of its descriptors */

/** Count one more descriptor against the library's share. @return false, with nothing counted, if it is used up. */
bool kernel_descriptor_reserve(void);
/** Count one that the program requested explicitly; it may exceed the share. */
void kernel_descriptor_claim(void);
/** Move a reserved descriptor to a high number. @return its new number; -errno with it closed and unreserved. */
int kernel_descriptor_park(int fd);
/** Cancel a reservation for which no descriptor was created. */
void kernel_descriptor_unreserve(void);
/** Close a parked descriptor and release its reservation. Keeps errno. */
void kernel_descriptor_close(int fd);
/** Number of reserved descriptors. */
unsigned kernel_descriptors_held(void);
void kernel_descriptors_now(struct kernel_descriptors *now);

/* notify.c: signals of events and timers, as in core/kernel_ops.h */
int kernel_overflow_signal(int fd, int signal);
int kernel_cpu_timer(int signal, int *id);
int kernel_cpu_timer_set(int id, uint64_t period_ns);
void kernel_cpu_timer_delete(int id);
bool kernel_thread_lives(pid_t tid);

/* files.c */

/** Whether UPMU_FSROOT replaces the running machine by a recorded one. */
bool kernel_files_recorded(void);
/** Open a path below a folder, and fail if a link leads out of it: for kernels without openat2. @param path begins
 *  with a slash. @return a descriptor, -EXDEV if it leads elsewhere, or -errno. */
int kernel_open_beneath(int top, const char *path, int flags);
ssize_t kernel_read_file(const char *path, char *buf, size_t cap);
int kernel_list_dir(const char *path, int (*each)(const char *name, void *arg), void *arg);
ssize_t kernel_threads(pid_t pid, pid_t *tids, size_t cap);

/* switch_log.c */
int kernel_switches_open(struct kernel_switch_log *log, size_t bytes, const struct kernel_point_layout *points);
/* Layouts of the tracepoints in mask `wanted` (bit i: index i of `layout`). @return 0, or the first failure. */
int kernel_points_find(uint32_t wanted, struct kernel_point_layout *layout);
bool kernel_switches_next(struct kernel_switch_log *log, struct kernel_switch *out);
void kernel_switches_close(struct kernel_switch_log *log);

/* points.c: read the file of tracefs that describes a tracepoint. @return bytes, or -errno. */
ssize_t kernel_point_format(const char *path, char *text, size_t size);

/* futex_waits.c */
int kernel_futexes_find(struct kernel_futex_points *points);
int kernel_futexes_open(struct kernel_futexes *f, const struct kernel_futex_points *points);
void kernel_futexes_close(struct kernel_futexes *f);

/* spawn.c */
pid_t kernel_spawn(char *const argv[], int *gate);
int kernel_release(int gate, struct kernel_usage *before);
void kernel_abandon(int gate, pid_t pid);
int kernel_wait(pid_t pid, int *status, struct kernel_usage *used);

/* work.c */
int kernel_work(struct kernel_work *work, bool sleep);
/* usage.c */
struct rusage;
int kernel_usage(pid_t pid, struct kernel_usage *out);
/** Convert a struct that getrusage() or wait4() filled. */
void kernel_usage_of(const struct rusage *r, struct kernel_usage *out);

/* program.c */
bool kernel_exec_detaches(const char *program);

#endif
