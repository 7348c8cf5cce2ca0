/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of libgomp's tasks.
 *
 * libgomp copies a task's arguments: the wrapped function finds the real one in a head before them. The head begins with two
 * words that libgomp writes: the range of a taskloop, or the event of a detached task.
 */
#include "openmp/wrap.h"

/* Of libgomp's interface, as compilers use it. */
enum { TASK_FLAG_DETACH = 1 << 13 };

typedef void (*task_function)(void *);
typedef void (*task_copy)(void *, void *);

struct task_head {
    uint64_t written[2]; /* by libgomp */
    task_function function;
    task_copy copy;
    void *data;             /* of the creating thread, for `copy` */
    uintptr_t site;         /* that created it */
    uint32_t offset;        /* of the arguments, from the head on */
    uint32_t written_bytes; /* for the arguments */
};

static void task_run(void *argument)
{
    const struct task_head *h = argument;
    char *data = (char *)argument + h->offset;
    memcpy(data, h->written, h->written_bytes);
    omp_write(UPMU_OMP_TASK, UPMU_OMP_NONE, 0, h->site);
    h->function(data);
    omp_write(UPMU_OMP_TASK_END, UPMU_OMP_NONE, 0, 0);
}

static void task_copy_run(void *to, void *from)
{
    const struct task_head *h = from;
    memcpy(to, h, sizeof *h);
    h->copy((char *)to + h->offset, h->data);
}

/* Arguments of a task on the stack of its creator. */
struct task_call {
    task_function function;
    void *data;
    task_copy copy;
    long bytes, align;
};

enum {
    TASK_BYTES_MAX = 65536,
    TASK_ALIGN_MAX = 64,
    TASK_ALIGN_BITS = 8 * TASK_ALIGN_MAX
}; /* others are passed on as they are */

/* Offset of the task's arguments from its head, as their alignment demands. */
static size_t task_offset(const struct task_call *c)
{
    size_t align = c->align > 0 ? (size_t)c->align : 1;
    return (sizeof(struct task_head) + align - 1) / align * align;
}

/* Whether the task is recorded, with `space` bytes for its head and arguments. */
static bool task_is_wrapped(const struct task_call *c, size_t *space)
{
    *space = task_offset(c) + (size_t)(c->bytes > 0 ? c->bytes : 0);
    return c->bytes >= 0 && c->bytes <= TASK_BYTES_MAX && c->align <= TASK_ALIGN_MAX;
}

/* Put a head for task_run() and the arguments into `memory`, and make the call pass these. */
static void task_replace(struct task_call *c, void *memory, size_t space, uintptr_t site, uint32_t written_bytes)
{
    struct task_head *h = memory;
    *h = (struct task_head){.function = c->function,
                            .copy = c->copy,
                            .data = c->data,
                            .site = site,
                            .offset = (uint32_t)task_offset(c),
                            .written_bytes = written_bytes};
    if (!c->copy && c->bytes > 0)
        memcpy((char *)memory + h->offset, c->data, (size_t)c->bytes);
    c->function = task_run;
    c->copy = c->copy ? task_copy_run : NULL;
    c->data = memory;
    c->bytes = (long)space;
    if (c->align < (long)_Alignof(struct task_head))
        c->align = (long)_Alignof(struct task_head);
}

/* Memory on the stack of the wrapper. A task that is not deferred gets it as its arguments: they are aligned as the stack is. */
#define TASK_MEMORY(space) __builtin_alloca_with_align((space), TASK_ALIGN_BITS)

UPMU_API void GOMP_task(task_function function, void *data, task_copy copy, long bytes, long align, bool deferred,
                        unsigned flags, void **depend, int priority, void *detach);
void GOMP_task(task_function function, void *data, task_copy copy, long bytes, long align, bool deferred,
               unsigned flags, void **depend, int priority, void *detach)
{
    OMP_REAL(GOMP_task);
    struct task_call c = {function, data, copy, bytes, align};
    enum omp_way way = omp_way_of(&behind, address);
    size_t space;
    if (!real) {
        function(data);
        return;
    }
    if (way == OMP_RECORD && task_is_wrapped(&c, &space)) {
        omp_write(UPMU_OMP_TASK_CREATE, UPMU_OMP_NONE, 0, omp_site_of_body(function));
        task_replace(&c, TASK_MEMORY(space), space, omp_site_of_body(function),
                     flags & TASK_FLAG_DETACH ? sizeof(void *) : 0);
    }
    omp_site_leave(way, omp_site_of_body(function));
    real(c.function, c.data, c.copy, c.bytes, c.align, deferred, flags, depend, priority, detach);
    omp_site_clear(way);
}

#define TASKLOOP(name, integer)                                                                                    \
    UPMU_API void name(task_function function, void *data, task_copy copy, long bytes, long align, unsigned flags, \
                       unsigned long tasks, int priority, integer start, integer end, integer step);               \
    void name(task_function function, void *data, task_copy copy, long bytes, long align, unsigned flags,          \
              unsigned long tasks, int priority, integer start, integer end, integer step)                         \
    {                                                                                                              \
        OMP_REAL(name);                                                                                            \
        struct task_call c = {function, data, copy, bytes, align};                                                 \
        enum omp_way way = omp_way_of(&behind, address);                                                           \
        size_t space;                                                                                              \
        if (!real)                                                                                                 \
            return; /* nothing has made such a task: its parts are not known here */                               \
        if (way == OMP_RECORD && task_is_wrapped(&c, &space)) {                                                    \
            omp_write(UPMU_OMP_TASK_CREATE, UPMU_OMP_NONE, 0, omp_site_of_body(function));                         \
            task_replace(&c, TASK_MEMORY(space), space, omp_site_of_body(function), 2 * sizeof(integer));          \
        }                                                                                                          \
        omp_site_leave(way, omp_site_of_body(function));                                                           \
        real(c.function, c.data, c.copy, c.bytes, c.align, flags, tasks, priority, start, end, step);              \
        omp_site_clear(way);                                                                                       \
    }

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
