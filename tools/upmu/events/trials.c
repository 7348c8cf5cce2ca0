/* SPDX-License-Identifier: MIT */
/*
 * The trials behind upmu list: each event once, remembered between runs where nothing that decides them can have changed.
 * Room: tools/upmu. Before it: cmd_list; after it: the library's trial, and trial_cache.
 */
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "ui/memory.h"
#include "trial_cache.h"

struct trial_store {
    struct trial_row *rows;
    size_t n;
    bool news; /* rows that the cache does not have */
};

struct trial_store *trials_open(bool refresh)
{
    struct trial_store *store = memory_array(1, sizeof *store);

    if (!refresh)
        trial_cache_read(&store->rows, &store->n);
    return store;
}

/* What stands against an event may go by itself: such an answer is good for this run alone. */
static bool lasting(int code)
{
    switch (code) {
    case UPMU_OK:
    case UPMU_E_NAME:
    case UPMU_E_UNSUPPORTED:
    case UPMU_E_NO_PMU:
    case UPMU_E_PERM:
    case UPMU_E_SECCOMP:
    case UPMU_E_NO_SYSCALL:
        return true;
    default:
        return false;
    }
}

static const struct trial_row *find_row(const struct trial_store *store, const struct upmu_event_info *info)
{
    for (size_t i = 0; i < store->n; i++)
        if (strcmp(store->rows[i].event, info->name) == 0 && strcmp(store->rows[i].encoding, info->encoding) == 0)
            return &store->rows[i];
    return NULL;
}

static const struct trial_row *try_now(struct trial_store *store, const struct upmu_event_info *info)
{
    store->rows = memory_resize(store->rows, store->n + 1, sizeof *store->rows);
    struct trial_row *row = &store->rows[store->n++];
    *row = (struct trial_row){.event = memory_copy(info->name), .encoding = memory_copy(info->encoding)};
    row->code = upmu_event_try(info->name, &row->seen);
    row->reason = memory_copy(row->code == 0 ? "" : upmu_error());
    row->lasting = lasting(row->code);
    store->news |= row->lasting;
    return row;
}

struct list_trial trials_of_event(struct trial_store *store, const struct upmu_event_info *info)
{
    const struct trial_row *row = find_row(store, info);

    if (!row)
        row = try_now(store, info);
    return (struct list_trial){
        .made = true,
        .code = row->code,
        .seen = row->seen,
        .event = row->event,
        .reason = row->code == 0 ? NULL : row->reason,
    };
}

void trials_close(struct trial_store *store)
{
    if (!store)
        return;
    if (store->news)
        trial_cache_write(store->rows, store->n);
    trial_rows_free(store->rows, store->n);
    free(store);
}
