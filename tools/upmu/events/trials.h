/* SPDX-License-Identifier: MIT */
/** @file Probes of events by counting, once per event, for upmu list and upmu gather. */
#ifndef UPMU_TOOL_TRIALS_H
#define UPMU_TOOL_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Result of a trial: whether an event or metric can be counted on this machine now. */
struct trial {
    bool made;          /**< false: not tried (--no-probe), nothing is known */
    int code;           /**< 0: it opens and runs; else enum upmu_code */
    uint64_t seen;      /**< what was counted under the trial's load; 0: not seen counting */
    const char *event;  /**< the event this is about: for metrics the one that decides; NULL if none was tried */
    const char *reason; /**< the library's message with the remedy; NULL unless code < 0 */
};

/** Results of upmu_event_probe(), each event probed once. */
struct trial_store;

/** An empty store, to be closed by trials_close(). */
struct trial_store *trials_open(void);
/** The trial of an event by its canonical name, made at its first use. Its strings live as long as the store. */
struct trial trials_of_event(struct trial_store *store, const char *event);
/** The `i`-th trial made; NULL past the last. */
const struct trial *trials_at(const struct trial_store *store, size_t i);
void trials_close(struct trial_store *store);

#endif
