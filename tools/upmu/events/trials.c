/* SPDX-License-Identifier: MIT */
/* Trials of events, one per event: several metrics share an event. */
#include "events/trials.h"

#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "upmu/upmu.h"

struct trial_store {
    struct trial *trials;
    size_t n;
};

struct trial_store *trials_open(void)
{
    return memory_array(1, sizeof(struct trial_store));
}

struct trial trials_of_event(struct trial_store *store, const char *event)
{
    for (size_t i = 0; i < store->n; i++)
        if (strcmp(store->trials[i].event, event) == 0)
            return store->trials[i];
    store->trials = memory_resize(store->trials, store->n + 1, sizeof *store->trials);
    struct trial *trial = &store->trials[store->n++];
    *trial = (struct trial){.made = true, .event = memory_copy(event)};
    trial->code = upmu_event_probe(event, &trial->seen);
    if (trial->code != 0)
        trial->reason = memory_copy(upmu_error());
    return *trial;
}

const struct trial *trials_at(const struct trial_store *store, size_t i)
{
    return i < store->n ? &store->trials[i] : NULL;
}

void trials_close(struct trial_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->n; i++) {
        free((char *)store->trials[i].event);
        free((char *)store->trials[i].reason);
    }
    free(store->trials);
    free(store);
}
