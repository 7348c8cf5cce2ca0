/* SPDX-License-Identifier: MIT */
/* Trials of events for upmu list, one per event: several metrics share an event. */
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "ui/memory.h"

struct trial {
    char *event; /* canonical name */
    int code;    /* enum upmu_code */
    uint64_t seen;
    char *reason; /* "" if code is 0 */
};

struct trial_store {
    struct trial *trials;
    size_t n;
};

struct trial_store *trials_open(void)
{
    return memory_array(1, sizeof(struct trial_store));
}

static const struct trial *trial_find(const struct trial_store *store, const char *event)
{
    for (size_t i = 0; i < store->n; i++)
        if (strcmp(store->trials[i].event, event) == 0)
            return &store->trials[i];
    return NULL;
}

static const struct trial *trial_make(struct trial_store *store, const char *event)
{
    store->trials = memory_resize(store->trials, store->n + 1, sizeof *store->trials);
    struct trial *trial = &store->trials[store->n++];
    *trial = (struct trial){.event = memory_copy(event)};
    trial->code = upmu_event_probe(event, &trial->seen);
    trial->reason = memory_copy(trial->code == 0 ? "" : upmu_error());
    return trial;
}

struct list_trial trials_of_event(struct trial_store *store, const struct upmu_event_info *info)
{
    const struct trial *trial = trial_find(store, info->name);

    if (!trial)
        trial = trial_make(store, info->name);
    return (struct list_trial){
        .made = true,
        .code = trial->code,
        .seen = trial->seen,
        .event = trial->event,
        .reason = trial->code == 0 ? NULL : trial->reason,
    };
}

void trials_close(struct trial_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->n; i++) {
        free(store->trials[i].event);
        free(store->trials[i].reason);
    }
    free(store->trials);
    free(store);
}
