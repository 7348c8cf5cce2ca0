/* SPDX-License-Identifier: MIT */
/** @file Reports of deadlocks and lock-order cycles, for upmu deadlock, record and top. */
#ifndef UPMU_TOOL_DEADLOCK_H
#define UPMU_TOOL_DEADLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/output.h"
#include "report/report.h"
#include "upmu/deadlock.h"
#include "upmu/mpi.h"

struct deadlock_report {
    struct upmu_deadlocks *deadlocks;
    struct report report; /**< for report_location() */
    const char *subject;  /**< the directory or process asked for */
    struct upmu_mpi *mpi; /**< ranks of the recording; NULL: it has none */
};

/** How many cycles in the order of locks of a class are not suppressed. */
size_t deadlock_count_cycles(const struct deadlock_report *r, int class_number);
/** How many deadlocks of a certainty are not suppressed. */
size_t deadlock_count(const struct deadlock_report *r, int certainty);

void deadlock_write_text(struct output *out, const struct deadlock_report *r);
void deadlock_write_json(struct output *out, const struct deadlock_report *r);
/** Lines as gcc's warnings, of Qt Creator's task files, and SARIF 2.1. */
void deadlock_write_gcc(struct output *out, const struct deadlock_report *r);
void deadlock_write_tasks(struct output *out, const struct deadlock_report *r);
void deadlock_write_sarif(struct output *out, const struct deadlock_report *r);
/** One deadlock as text, with its threads. */
void deadlock_write_one(struct output *out, const struct deadlock_report *r, size_t i);

/** A function of a call stack with its file, or how the stack ends. @param number of the next frame, advanced */
void deadlock_write_frame(struct output *out, const struct upmu_symbol *s, unsigned *number);
/** The call stack `id`, or the call site if that is not recorded; and "since 12:00:00.000". */
void deadlock_write_stack(struct output *out, struct upmu_overview *o, uint32_t process, uint32_t id, uint64_t site);
void deadlock_write_since(struct output *out, uint64_t ns);

/** Report the futex waits of a process that is not recorded. `only_found`: nothing unless it is deadlocked or stalled.
 *  @return the exit status. */
int deadlock_inspect(pid_t pid, bool as_json, bool only_found);
/** The same as a document of deadlock_write_json(), with `cycles` deadlocks and all other threads. */
void deadlock_inspect_json(struct output *out, struct upmu_deadlock_inspect *inspect, pid_t pid, uint32_t cycles);
/** What the thread waits for, as far as that is known; to be freed. */
char *deadlock_inspect_wait(const struct upmu_deadlock_inspect_thread *t);
/** Kind and number of threads of deadlock `cycle`, 0: of the other threads. */
struct upmu_deadlock deadlock_inspect_summary(const struct upmu_deadlock_inspect *inspect, uint32_t cycle);
struct textbuf;
/** One function of a call stack. */
void deadlock_json_frame(struct textbuf *j, const struct upmu_symbol *s);

/** Call `run(arg, CHILD)` for each child of a process, and in its turn for its children, until it does not return EXIT_OK.
 *  @return what it returned last; EXIT_OK: there is none. */
int deadlock_children(pid_t pid, int (*run)(void *arg, pid_t child), void *arg);

/* deadlock_names.c: texts common to all formats, to be freed. */

/** "2 threads wait for each other". */
char *deadlock_headline(const struct upmu_deadlock *d);
/** "2 threads take 2 locks in orders that contradict each other". */
char *deadlock_cycle_headline(const struct upmu_lock_cycle *c);
/** Whether acquisitions of cycle `i` are of several processes. */
bool deadlock_cycle_spans(const struct deadlock_report *r, size_t i);
/** The lock that acquisition `k` of cycle `i` acquires, or the one `held`, by a name that the other process of the cycle may have. */
char *deadlock_cycle_lock(const struct deadlock_report *r, size_t i, size_t k, bool held);
/** "mutex queue (0x1234)". */
char *deadlock_object(const struct deadlock_report *r, uint32_t process, int type, uint64_t address);
/** The line that matters at an address, in the stack of that id if there is one: outside of wrappers such as std::mutex.
 *  @return false without a symbol. */
bool deadlock_symbol(const struct deadlock_report *r, uint32_t process, uint64_t address, uint32_t stack,
                     struct upmu_symbol *out);
/** The same in one line, as report_location() has it. */
char *deadlock_location(const struct deadlock_report *r, uint32_t process, uint64_t address, uint32_t stack);
/** "thread 17 (worker)". */
char *deadlock_thread_name(pid_t tid, const char *name);
/** "waits for mutex 0x1234, held by thread 17". */
char *deadlock_wait(const struct deadlock_report *r, uint32_t process, const struct upmu_deadlock_thread *t);

#endif
