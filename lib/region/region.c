/* SPDX-License-Identifier: MIT */
/* Begin and end of regions, and marks, as public functions. */
#include <string.h>

#include "base/tick.h"
#include "region/region_frames.h"

/* The block of a thread is not ready, mostly because it has none yet. */
static COLD struct region_thread *region_first_use(void)
{
    struct region_thread *t = region_thread_get();
    if (t)
        region_life_begin(t);
    return t;
}

/* The calling thread, inside the recorder; NULL if it cannot be measured (counted). */
static inline struct region_thread *region_enter(void)
{
    struct region_thread *t = region_thread_ready();
    if (!t && !(t = region_first_use()))
        return NULL;
    recorder_enter(t);
    return t;
}

/* --------------------------------------------------------------------------------------------- string form */

/* Id of a name, looked up by address first; the text is compared, since a buffer may be reused. */
static uint32_t region_cached_id(struct region_thread *t, const char *name)
{
    uint32_t slot = (uint32_t)((uintptr_t)name >> 3 ^ (uintptr_t)name >> 9) % REGION_CACHE;
    uint32_t id = t->cache[slot].id;
    if (t->cache[slot].text == name && strcmp(region_name_text(id), name) == 0)
        return id;
    bool cut;
    id = region_name_id(name, &cut);
    if (cut)
        region_bump(&t->misuse.names_cut);
    else if (id) {
        t->cache[slot].text = name;
        t->cache[slot].id = id;
    }
    return id;
}

static int region_begin_named(struct region_thread *t, const char *name)
{
    uint32_t id = name && *name ? region_cached_id(t, name) : 0;
    if (id)
        return region_push(t, id);
    region_bump(&t->misuse.names_refused);
    return name && *name ? UPMU_E_LIMIT : UPMU_E_INVAL;
}

int upmu_region_begin_(const char *name)
{
    struct region_thread *t = region_enter();
    return t ? recorder_leave(t, region_begin_named(t, name)) : UPMU_E_LIMIT;
}

static int region_end_named(struct region_thread *t, const char *name)
{
    if (!name || !*name)
        return UPMU_E_INVAL;
    /* The innermost region is the one that ends, unless the program has an error. */
    if (t->depth > 0 && t->too_deep == 0) {
        uint32_t top = (uint32_t)frame_at(t, t->depth - 1)->record->id;
        if (strcmp(region_name_text(top), name) == 0)
            return region_pop(t, top);
    }
    uint32_t id = region_name_find(name);
    if (id || t->too_deep > 0)
        return region_pop(t, id);
    if (region_name_count() < REGION_NAMES_MAX) /* else its begin was refused and counted */
        region_bump(&t->misuse.end_without_begin);
    return UPMU_E_STATE;
}

int upmu_region_end_(const char *name)
{
    struct region_thread *t = region_enter();
    return t ? recorder_leave(t, region_end_named(t, name)) : UPMU_E_LIMIT;
}

/* --------------------------------------------------------------------------------------------- handle form */

static COLD uint32_t region_handle_first_id(struct region_thread *t, upmu_region_t *region)
{
    if (!region->name || !*region->name)
        return 0;
    bool cut;
    uint32_t id = region_name_id(region->name, &cut);
    if (cut)
        region_bump(&t->misuse.names_cut);
    __atomic_store_n(&region->id, id, __ATOMIC_RELEASE);
    return id;
}

static inline uint32_t region_handle_id(struct region_thread *t, upmu_region_t *region)
{
    uint32_t id = __atomic_load_n(&region->id, __ATOMIC_ACQUIRE);
    return UNLIKELY(id == 0) ? region_handle_first_id(t, region) : id;
}

static int region_enter_handle(struct region_thread *t, upmu_region_t *region)
{
    uint32_t id = region ? region_handle_id(t, region) : 0;
    if (id)
        return region_push(t, id);
    region_bump(&t->misuse.names_refused);
    return region && region->name && *region->name ? UPMU_E_LIMIT : UPMU_E_INVAL;
}

int upmu_region_enter_(upmu_region_t *region)
{
    struct region_thread *t = region_enter();
    return t ? recorder_leave(t, region_enter_handle(t, region)) : UPMU_E_LIMIT;
}

static int region_leave_handle(struct region_thread *t, upmu_region_t *region)
{
    uint32_t id = region ? region_handle_id(t, region) : 0;
    if (id || (region && t->too_deep > 0))
        return region_pop(t, id);
    return region && region->name && *region->name ? UPMU_E_LIMIT : UPMU_E_INVAL;
}

int upmu_region_leave_(upmu_region_t *region)
{
    struct region_thread *t = region_enter();
    return t ? recorder_leave(t, region_leave_handle(t, region)) : UPMU_E_LIMIT;
}

/* ---------------------------------------------------------------------------------------------------- marks */

static int region_mark(struct region_thread *t, const char *text)
{
    if (!text)
        return UPMU_E_INVAL;
    size_t len = strnlen(text, UPMU_REGION_NAME_MAX);
    region_bump(&t->misuse.marks);
    if (!upmu_regions.trace)
        return 0;
    if (!t->stream) {
        region_bump(&t->misuse.trace_lost);
        trace_lost(upmu_regions.trace, LOSS_THREAD, 1);
    } else if (!trace_mark(t->stream, tick_now(), text, len)) {
        region_bump(&t->misuse.trace_lost);
    }
    return 0;
}

int upmu_mark_(const char *text)
{
    struct region_thread *t = region_enter();
    return t ? recorder_leave(t, region_mark(t, text)) : UPMU_E_LIMIT;
}

/* --------------------------------------------------------------------------------------- functions of the library */

/* The inline functions of the header by the same names, for function pointers, dlsym() and other languages. */

int upmu_region_begin(const char *name)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_begin_(name);
}

int upmu_region_end(const char *name)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_end_(name);
}

int upmu_region_enter(upmu_region_t *region)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_enter_(region);
}

int upmu_region_leave(upmu_region_t *region)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_leave_(region);
}

int upmu_mark(const char *text)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_mark_(text);
}
