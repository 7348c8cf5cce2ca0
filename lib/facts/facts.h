/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Facts of a recording as JSON.
 *
 * A function with a key adds an object of its own (`key` is NULL inside an array), one without adds members to the current
 * object.
 */
#ifndef UPMU_FACTS_H
#define UPMU_FACTS_H

#include "base/text/json.h"
#include "upmu/analysis.h"
#include "upmu/findings.h"

/** "value", "status" and "cause": the value is null unless there is a number. */
void facts_value_members(struct textbuf *b, const struct upmu_value *v);
void facts_value(struct textbuf *b, const char *key, const struct upmu_value *v);
/** "0x7f12", or null for 0: as a number it could be rounded by readers that hold numbers as doubles. */
void facts_address(struct textbuf *b, const char *key, uint64_t address);
/** An array of the first `n` counters of the process. */
void facts_counters(struct textbuf *b, const struct upmu_overview *o, uint32_t process,
                    const struct upmu_overview_count *counts, size_t n);

void facts_totals(struct textbuf *b, const struct upmu_overview_totals *t);
void facts_damages(struct textbuf *b, const struct upmu_overview *o, const struct upmu_overview_totals *t);
void facts_process(struct textbuf *b, const struct upmu_trace_process *p);
/** Of process `i`, which is `p`: how long recording was stopped; nothing if it was not. */
void facts_recorded(struct textbuf *b, const struct upmu_overview *o, size_t i, const struct upmu_trace_process *p);
/** Thread `i`, but its times and counters. */
void facts_thread(struct textbuf *b, const struct upmu_overview *o, size_t i, const struct upmu_overview_thread *t);
/** An object, but its type. */
void facts_object(struct textbuf *b, const struct upmu_overview_object *x);
void facts_object_thread(struct textbuf *b, const struct upmu_overview_object_thread *t);
void facts_call_site(struct textbuf *b, const struct upmu_overview_call_site *s);
/** "held" and "waited": the first `n` counters while object `i` was held and waited for; null if they were not read. */
void facts_sections(struct textbuf *b, const struct upmu_overview *o, size_t i, uint32_t process);
void facts_region(struct textbuf *b, const struct upmu_overview_region *r);
/** A critical path, but its ends. */
void facts_path(struct textbuf *b, const struct upmu_overview_path *p);
void facts_path_object(struct textbuf *b, const struct upmu_overview_path_object *x);
/** A finding, but its times and locations. */
void facts_finding(struct textbuf *b, const struct upmu_finding *f);

#endif
