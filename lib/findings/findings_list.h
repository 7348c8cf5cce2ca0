/* SPDX-License-Identifier: MIT */
/** @file The list of findings while it is made. */
#ifndef UPMU_FINDINGS_LIST_H
#define UPMU_FINDINGS_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/textbuf.h"
#include "upmu/findings.h"

struct upmu_findings {
    struct upmu_finding *all; /**< `text` of each is owned */
    size_t n, cap;
    struct upmu_overview *overview;
    const struct upmu_deadlocks *deadlocks; /**< while findings are added */
    uint64_t percent;
    /* Of each process, while findings are added: its objects, and its first thread, with which the others follow. */
    uint32_t *objects, *first_object, *first_thread;
};

/** Indices of the objects of process `process`, `*n` of them, in their order. */
const uint32_t *findings_objects(const struct upmu_findings *f, uint32_t process, size_t *n);

/** The first thread of process `process`, and the one behind its last one: threads are in the order of processes. */
static inline uint32_t findings_first_thread(const struct upmu_findings *f, uint32_t process)
{
    return f->first_thread[process];
}
static inline uint32_t findings_end_thread(const struct upmu_findings *f, uint32_t process)
{
    return f->first_thread[process + 1];
}

/** Number objects and threads by process. @return 0; UPMU_E_NOMEM. */
int findings_index(struct upmu_findings *f);
void findings_index_free(struct upmu_findings *f);

/** A finding of process `process` about nothing yet. */
struct upmu_finding finding_of(const struct upmu_overview_path *path, uint32_t process, int kind);

/** Length of a path without the time in which recording was stopped. */
uint64_t findings_run_ns(const struct upmu_overview_path *path);

/** Whether a gain is worth a finding. */
int finding_counts(const struct upmu_findings *f, const struct upmu_overview_path *path, uint64_t gain_ns);

/** Add a finding with its sentence, which is freed. @return 0; UPMU_E_NOMEM. */
int findings_add(struct upmu_findings *f, struct upmu_finding finding, struct textbuf *sentence);

int findings_no_memory(void);

/* Each looks for one kind in process `process`. @return 0; UPMU_E_NOMEM. */
int findings_in_locks(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path);
int findings_in_barriers(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path);
int findings_in_joins(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path);
int findings_in_wakes(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path);
int findings_in_scheduling(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path);
/** Of all processes. */
int findings_in_deadlocks(struct upmu_findings *f);

/* sentence.c: each adds to a sentence. */
void sentence_duration(struct textbuf *b, uint64_t ns);
void sentence_percent(struct textbuf *b, uint64_t part, uint64_t whole);
/** What an object is called, in backquotes. */
void sentence_object(struct textbuf *b, const struct upmu_overview_object *object);
/** " in f() file.c:12", nothing if `address` is not known. */
void sentence_site(struct textbuf *b, struct upmu_overview *overview, uint32_t process, uint64_t address,
                   uint32_t stack);
/** "thread 12 (name)" */
void sentence_thread(struct textbuf *b, pid_t tid, const char *name);
/** "2.8 s (23 %)": the gain, and its share of the run. */
void sentence_gain(struct textbuf *b, const struct upmu_finding *found);

#endif
