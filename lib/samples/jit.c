/* SPDX-License-Identifier: MIT */
/* Names of code that sampled processes have generated at run time, by their JIT symbol maps. */
#include <stdlib.h>

#include "samples/samples.h"
#include "symbols/jit_map.h"
#include "upmu/control.h"

/* Of a process: one that called exec() has several, of one pid. */
struct samples_jit_map {
    uint32_t pid;
    struct jit_map map;
};

struct samples_jit {
    struct samples_jit_map *all;
    size_t n;
    const char *dir;
    bool is_read;
};

int samples_jit_open(struct upmu_samples *s, const char *dir)
{
    s->jit = calloc(1, sizeof *s->jit);
    if (!s->jit)
        return samples_no_memory();
    s->jit->dir = dir;
    return 0;
}

void samples_jit_close(struct samples_jit *j)
{
    for (size_t i = 0; j && i < j->n; i++)
        jit_map_free(&j->all[i].map);
    free(j ? j->all : NULL);
    free(j);
}

/* Each process of the recording; a map that cannot be read is empty. */
static bool jit_read(struct samples_jit *j)
{
    struct upmu_control *control = NULL;
    struct upmu_control_status status = {.size = sizeof status};
    int rc = upmu_control_open(&control, j->dir);
    size_t n = rc == 0 ? upmu_control_process_count(control) : 0;
    j->is_read = true;
    j->all = calloc(n + 1, sizeof *j->all);
    for (size_t i = 0; j->all && rc == 0 && i < n; i++) {
        if (upmu_control_status_read(control, i, &status) != 0)
            continue;
        j->all[j->n].pid = (uint32_t)status.pid;
        rc = jit_map_read(&j->all[j->n++].map, status.dir, status.pid, jit_map_since(status.dir));
    }
    upmu_control_close(control);
    return j->all && rc != UPMU_E_NOMEM;
}

bool samples_jit_find(struct upmu_samples *s, uint32_t pid, uint64_t address, const char **name)
{
    struct samples_jit *j = s->jit;
    *name = NULL;
    if (!j->is_read && !jit_read(j))
        return false;
    for (size_t i = j->n; i > 0 && !*name; i--) {
        const struct jit_name *found = j->all[i - 1].pid == pid ? jit_map_find(&j->all[i - 1].map, address) : NULL;
        *name = found ? found->name : NULL;
    }
    return true;
}
