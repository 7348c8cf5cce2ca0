/* SPDX-License-Identifier: MIT */
/* Decoding of events. */
#include "trace/read/decode.h"

#include <string.h>

#include "trace/format/ctf.h"

static size_t cursor_left(const struct decode_cursor *c)
{
    return (size_t)(c->end - c->pos);
}

static inline const char *decode_head(struct decode_cursor *c, uint32_t *id)
{
    if (cursor_left(c) < CTF_SHORT_HEAD_BYTES)
        return "an event head is truncated";
    *id = ctf_head_id(c->pos[0]);
    if (*id != CTF_ID_LONG) {
        uint32_t head;
        memcpy(&head, c->pos, sizeof head);
        c->pos += sizeof head;
        /* The full tick is the next one with these low bits. */
        uint64_t forward = (ctf_head_tick(head) - c->tick) & CTF_TICK_MASK;
        return __builtin_add_overflow(c->tick, forward, &c->tick) ? "a tick is beyond 64 bits" : NULL;
    }
    if (cursor_left(c) < CTF_LONG_HEAD_BYTES)
        return "a long event head is truncated";
    uint64_t tick;
    memcpy(id, c->pos + 1, sizeof *id);
    memcpy(&tick, c->pos + 1 + sizeof *id, sizeof tick);
    c->pos += CTF_LONG_HEAD_BYTES;
    if (tick < c->tick)
        return "time goes back";
    c->tick = tick;
    return NULL;
}

static inline uint64_t decode_load(const uint8_t *p, enum schema_type type)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    int8_t i8;
    int32_t i32;
    switch (type) {
    case SCHEMA_U16:
    case SCHEMA_MPI_CALL:
        memcpy(&u16, p, sizeof u16);
        return u16;
    case SCHEMA_U32:
        memcpy(&u32, p, sizeof u32);
        return u32;
    case SCHEMA_I8:
        memcpy(&i8, p, sizeof i8);
        return (uint64_t)(int64_t)i8;
    case SCHEMA_I32:
        memcpy(&i32, p, sizeof i32);
        return (uint64_t)(int64_t)i32;
    case SCHEMA_U64:
    case SCHEMA_HEX64:
    case SCHEMA_TICK:
        memcpy(&u64, p, sizeof u64);
        return u64;
    default: /* one byte; strings are decoded elsewhere */
        memcpy(&u8, p, sizeof u8);
        return u8;
    }
}

static void decoded_store_value(struct upmu_value *v, enum schema_slot slot, uint64_t x)
{
    switch (slot) {
    case SCHEMA_VALUE:
        v->value = x;
        break;
    case SCHEMA_VALUE_STATUS:
        v->status = (int32_t)x;
        break;
    case SCHEMA_CAUSE:
        v->cause = (int32_t)x;
        break;
    case SCHEMA_TIME:
        v->enabled = v->running = x;
        break;
    case SCHEMA_RAW:
        v->raw = x;
        break;
    case SCHEMA_ENABLED:
        v->enabled = x;
        break;
    case SCHEMA_RUNNING:
        v->running = x;
        break;
    default: /* not of a counter */
        break;
    }
}

/* Store a number that is not of a counter. */
static inline void decoded_store(struct decoded *d, enum schema_slot slot, uint64_t x)
{
    struct upmu_trace_event *e = &d->event;
    switch (slot) {
    case SCHEMA_OBJECT:
        e->object = x;
        break;
    case SCHEMA_OBJECT_TYPE:
        e->object_type = (int32_t)x;
        break;
    case SCHEMA_RESULT:
        e->result = (int32_t)x;
        break;
    case SCHEMA_STACK:
        e->stack = (uint32_t)x;
        break;
    case SCHEMA_SITE:
        e->site = x;
        break;
    case SCHEMA_FLAGS:
        e->flags = (uint32_t)x;
        break;
    case SCHEMA_HOLDER:
        e->lock_block.holder = (pid_t)x;
        break;
    case SCHEMA_HOLDER_SITE:
        e->lock_block.holder_site = x;
        break;
    case SCHEMA_HOLDER_SINCE:
        e->lock_block.holder_since = x;
        break;
    case SCHEMA_HOLDER_STACK:
        e->lock_block.holder_stack = (uint32_t)x;
        break;
    case SCHEMA_HELD_STACK:
        e->lock_order.held_stack = (uint32_t)x;
        break;
    case SCHEMA_RELEASED_SITE:
        e->lock_release.held_site = x;
        break;
    case SCHEMA_RELEASED_SINCE:
        e->lock_release.held_since = x;
        break;
    case SCHEMA_HELD:
        e->lock_order.held = x;
        break;
    case SCHEMA_HELD_SITE:
        e->lock_order.held_site = x;
        break;
    case SCHEMA_HELD_COUNT:
        e->lock_order.n_held = (uint32_t)x;
        e->lock_order.permits = (uint32_t)(x >> SCHEMA_PERMITS_SHIFT);
        break;
    case SCHEMA_ACQUISITIONS:
        e->lock_counts.acquisitions = x;
        break;
    case SCHEMA_CONTENDED:
        e->lock_counts.contended = x;
        break;
    case SCHEMA_COUNTED_THREAD:
        e->lock_counts.thread = (pid_t)x;
        break;
    case SCHEMA_MUTEX:
        e->cond.mutex = x;
        break;
    case SCHEMA_MUTEX_SITE:
        e->cond.held_site = x;
        break;
    case SCHEMA_MUTEX_SINCE:
        e->cond.held_since = x;
        break;
    case SCHEMA_SEM_VALUE:
        e->sem_value.value = x;
        break;
    case SCHEMA_PEER:
        e->thread.peer = (pid_t)x;
        break;
    case SCHEMA_THREAD_SWITCHES:
        e->thread_exit.switches = x;
        break;
    case SCHEMA_THREAD_CPU:
        e->thread_exit.cpu_ns = x;
        break;
    case SCHEMA_THREAD_READY:
        e->thread_exit.ready_ns = x;
        break;
    case SCHEMA_THREAD_CPUS:
        e->thread_exit.cpus = (uint32_t)x;
        break;
    case SCHEMA_FUTEXES:
        e->futex_wait.n_futexes = x;
        break;
    case SCHEMA_FUTEX_INDEX:
        e->futex_woken.index = x;
        break;
    case SCHEMA_WAKER:
        e->call.waker = (pid_t)x;
        break;
    case SCHEMA_MOVED_TO:
        e->futex_wake.moved_to = x;
        break;
    case SCHEMA_FUTEX_WOKEN:
        e->futex_wake.n_woken = x;
        break;
    case SCHEMA_CPU:
        e->sched.cpu = (uint32_t)x;
        break;
    case SCHEMA_SWITCHES:
        e->sched_count.switches = x;
        break;
    case SCHEMA_THREAD_WOKEN:
        e->sched_wake.woken = (pid_t)x;
        break;
    case SCHEMA_KERNEL_LOCK_KINDS:
        e->kernel_lock.kinds = (uint32_t)x;
        break;
    case SCHEMA_FUTEX_WAITS:
        e->futex_counts.waits = x;
        break;
    case SCHEMA_FUTEX_RECORDED:
        e->futex_counts.recorded = x;
        break;
    case SCHEMA_MPI_CALL_NUMBER:
        e->mpi.call = (uint32_t)x;
        break;
    case SCHEMA_MPI_COMM:
        e->mpi.comm = x;
        break;
    case SCHEMA_MPI_PEER:
        e->mpi.peer = (int32_t)x;
        break;
    case SCHEMA_MPI_TAG:
        e->mpi.tag = (int32_t)x;
        break;
    case SCHEMA_MPI_BYTES:
        e->mpi.bytes = x;
        break;
    case SCHEMA_MPI_REQUEST:
        e->mpi.request = x;
        break;
    case SCHEMA_MPI_SEQUENCE:
        e->mpi.sequence = x;
        break;
    case SCHEMA_MPI_BEGIN:
        d->mpi_begin = x;
        break;
    case SCHEMA_MPI_MADE:
        d->mpi_made = (uint32_t)x;
        break;
    case SCHEMA_MPI_SOURCE:
        d->mpi_source = (int32_t)x;
        break;
    case SCHEMA_MPI_SOURCE_TAG:
        d->mpi_source_tag = (int32_t)x;
        break;
    case SCHEMA_MPI_RECEIVED:
        d->mpi_received = x;
        break;
    case SCHEMA_MPI_POLLED:
        e->mpi_poll.call = (uint32_t)x;
        break;
    case SCHEMA_MPI_POLLS:
        e->mpi_poll.calls = x;
        break;
    case SCHEMA_MPI_SINCE:
        e->mpi_poll.since = x;
        break;
    case SCHEMA_MPI_BUSY:
        e->mpi_poll.busy_ns = x;
        break;
    case SCHEMA_MPI_COMM_ID:
        e->mpi_comm.comm = x;
        break;
    case SCHEMA_MPI_PARENT:
        e->mpi_comm.parent = x;
        break;
    case SCHEMA_MPI_COMM_RANK:
        e->mpi_comm.rank = (int32_t)x;
        break;
    case SCHEMA_MPI_COMM_SIZE:
        e->mpi_comm.size = (int32_t)x;
        break;
    case SCHEMA_MPI_JOB:
        e->mpi_env.job = x;
        break;
    case SCHEMA_MPI_RANK:
        e->mpi_env.rank = (int32_t)x;
        break;
    case SCHEMA_MPI_SIZE:
        e->mpi_env.size = (int32_t)x;
        break;
    case SCHEMA_MPI_THREAD_LEVEL:
        e->mpi_env.thread_level = (int32_t)x;
        break;
    case SCHEMA_MPI_WRAPPED:
        e->mpi_env.wrapped = (int32_t)x;
        break;
    case SCHEMA_MPI_COUNTED:
        e->mpi_count.call = (uint32_t)x;
        break;
    case SCHEMA_MPI_CALLS:
        e->mpi_count.calls = x;
        break;
    case SCHEMA_SAMPLE_CPU:
        e->sample.cpu_ns = x;
        break;
    case SCHEMA_SAMPLE_TOTAL:
        e->sample.total_ns = x;
        break;
    case SCHEMA_SAMPLE_PERIOD:
        e->sample.period_ns = x;
        break;
    case SCHEMA_OMP_EVENT:
        e->omp.event = (uint32_t)x;
        break;
    case SCHEMA_OMP_CONSTRUCT:
        e->omp.construct = (uint32_t)x;
        break;
    case SCHEMA_OMP_NUMBER:
        e->omp.number = (uint32_t)x;
        break;
    case SCHEMA_OMP_VALUE:
        e->omp.value = x;
        break;
    case SCHEMA_OMP_REGION:
        e->omp_parallel.region = x;
        break;
    case SCHEMA_OMP_THREADS:
        e->omp_parallel.threads = (uint32_t)x;
        break;
    case SCHEMA_OMP_METHOD:
        e->omp_env.method = (uint32_t)x;
        break;
    case SCHEMA_HEAP_BYTES:
        e->heap.bytes = x;
        break;
    case SCHEMA_HEAP_WEIGHT:
        e->heap.weight = x;
        break;
    case SCHEMA_HEAP_PERIOD:
        e->heap.period = x;
        break;
    case SCHEMA_METHOD:
        d->method = (uint32_t)x;
        break;
    case SCHEMA_TRUNCATED:
        d->truncated = (uint32_t)x;
        break;
    case SCHEMA_BASE:
        d->base = x;
        break;
    case SCHEMA_START:
        d->start = x;
        break;
    case SCHEMA_END:
        d->end = x;
        break;
    case SCHEMA_COST_FULL:
        d->cost.full = x;
        break;
    case SCHEMA_COST_COMPACT:
        d->cost.compact = x;
        break;
    case SCHEMA_COST_STACK:
        d->cost.stack = x;
        break;
    default: /* ignored, or not a single number */
        break;
    }
}

static const char *decode_string(struct decode_cursor *c, const struct meta_op *op, struct decoded *d)
{
    const uint8_t *nul = memchr(c->pos, '\0', cursor_left(c));
    if (!nul)
        return "a string has no end";
    if (op->slot == SCHEMA_NAME)
        d->event.name = (const char *)c->pos;
    else if (op->slot == SCHEMA_BUILD_ID)
        d->build_id = (const char *)c->pos;
    c->pos = nul + 1;
    return NULL;
}

/* `length` is the field before it, already decoded. */
static const char *decode_sequence(struct decode_cursor *c, const struct meta_op *op, uint64_t length,
                                   struct decoded *d)
{
    size_t bytes = schema_type_bytes(op->type);
    if (cursor_left(c) / bytes < length)
        return "a sequence is truncated";
    if (op->slot == SCHEMA_FRAMES) {
        d->frames = c->pos;
        d->n_frames = (uint32_t)length;
    }
    c->pos += length * bytes;
    return NULL;
}

/* Numbers of counters: one each, or one number for all of them. */
static void decode_counters(const struct meta *m, const uint8_t *p, const struct meta_op *op, struct upmu_value *values)
{
    if (op->slot == SCHEMA_VALUE)
        decoded_store_value(&values[op->first], SCHEMA_VALUE, decode_load(p, op->type));
    for (size_t i = 0; op->slot != SCHEMA_VALUE && i < m->n_counters; i++)
        decoded_store_value(&values[i], op->slot, decode_load(p + i * op->step, op->type));
}

/* meta_class.packed: the counters at `p`; `op` is the one of their times. */
static void decode_packed(const struct meta *m, const uint8_t *p, const struct meta_op *op, struct upmu_value *values)
{
    const size_t n = m->n_counters;
    const uint8_t *status = p + n * sizeof(uint64_t), *cause = status + n, *time = cause + n;
    for (size_t i = 0; i < n; i++) {
        bool exact = status[i] == UPMU_EXACT;
        uint64_t value = decode_load(p + i * sizeof value, SCHEMA_U64);
        uint64_t passed = exact ? decode_load(time + i * op->step, SCHEMA_U64) : 0;
        values[i] = (struct upmu_value){.value = value,
                                        .raw = exact ? value : 0,
                                        .enabled = passed,
                                        .running = passed,
                                        .status = status[i],
                                        .cause = (int8_t)cause[i]};
    }
}

/* Fill in fields that the short forms omit because they follow from the status. */
static void decoded_complete_values(const struct meta *m, struct upmu_value *values)
{
    for (size_t i = 0; i < m->n_counters; i++) {
        struct upmu_value *v = &values[i];
        if (v->status == UPMU_EXACT)
            v->raw = v->value;
        else
            v->raw = v->enabled = v->running = 0;
    }
}

/* Pass the run that begins with `op`. */
static inline const char *decode_run(struct decode_cursor *c, const struct meta_op *op, const uint8_t **run)
{
    if (cursor_left(c) < op->run_bytes)
        return "an event is truncated";
    *run = c->pos;
    c->pos += op->run_bytes;
    return NULL;
}

static inline const char *decode_fixed(const struct meta_class *class, const struct meta_op *op,
                                       struct decode_cursor *c, struct decoded *d)
{
    const uint8_t *run;
    const char *wrong = class->n_ops > 0 ? decode_run(c, op, &run) : NULL;
    if (wrong)
        return wrong;
    for (const struct meta_op *end = op + class->n_ops; op < end; op++)
        decoded_store(d, op->slot, decode_load(run + op->at, op->type));
    return NULL;
}

static __attribute__((noinline)) const char *decode_variable(const struct meta *m, const struct meta_class *class,
                                                             struct decode_cursor *c, struct decoded *d,
                                                             struct upmu_value *values)
{
    const uint8_t *run = c->pos;
    const struct meta_op *op = &m->ops[class->first_op], *last = op + class->n_ops;
    for (size_t i = 0; class->has_values && !class->whole && i < m->n_counters; i++)
        values[i] = (struct upmu_value){.value = UPMU_NO_VALUE, .status = UPMU_NOT_COUNTED};
    for (const struct meta_op *end = class->packed ? op + class->packed : last; op < end; op++) {
        const char *wrong = op->run_bytes ? decode_run(c, op, &run) : NULL;
        if (op->type == SCHEMA_STRING)
            wrong = decode_string(c, op, d);
        else if (op->sequence)
            wrong = decode_sequence(c, op, decode_load(run + op[-1].at, op[-1].type), d);
        else if (!wrong && schema_slot_is_of_counters(op->slot))
            decode_counters(m, run + op->at, op, values);
        else if (!wrong && op->slot != SCHEMA_SKIP)
            decoded_store(d, op->slot, decode_load(run + op->at, op->type));
        if (wrong)
            return wrong;
    }
    if (class->packed) {
        const char *wrong = op->run_bytes ? decode_run(c, op, &run) : NULL;
        if (wrong)
            return wrong;
        decode_packed(m, run + op->at, last - 1, values);
    } else if (class->has_values && !class->has_raw) {
        decoded_complete_values(m, values);
    }
    d->event.n_values = class->has_values ? m->n_counters : 0;
    d->event.values = class->has_values ? values : NULL;
    return NULL;
}

/* meta_class.named: events of regions in their short forms. */
static inline const char *decode_named(const struct meta *m, const struct meta_class *class, struct decode_cursor *c,
                                       struct decoded *d, struct upmu_value *values)
{
    const struct meta_op *op = &m->ops[class->first_op];
    const uint8_t *run, *nul = memchr(c->pos, '\0', cursor_left(c));
    if (!nul)
        return "a string has no end";
    d->event.name = (const char *)c->pos;
    d->event.n_values = m->n_counters;
    d->event.values = values;
    c->pos = nul + 1;
    const char *wrong = decode_run(c, op + 1, &run);
    if (!wrong)
        decode_packed(m, run, op + class->n_ops - 1, values);
    return wrong;
}

/* Clear all that a class may set. */
static inline void decoded_clear(struct decoded *d)
{
    struct upmu_trace_event *e = &d->event;
    e->object = e->site = 0;
    e->result = 0;
    memset(e->reserved, 0, sizeof e->reserved);
    e->stack = 0;
    e->n_values = 0;
    e->values = NULL;
    e->name = "";
}

static void decoded_clear_rest(struct decoded *d)
{
    d->method = d->truncated = d->n_frames = 0;
    d->frames = NULL;
    d->base = d->start = d->end = 0;
    d->mpi_begin = d->mpi_received = 0;
    d->mpi_made = 0;
    d->mpi_source = d->mpi_source_tag = 0;
    d->build_id = "";
}

const char *decode_event(const struct meta *m, struct decode_cursor *c, struct decoded *out, struct upmu_value *values)
{
    uint32_t id;
    const char *wrong = decode_head(c, &id);
    if (wrong)
        return wrong;
    if (id >= m->n_classes || !m->classes[id].readable)
        return "an event of a class the metadata does not define";
    const struct meta_class *class = &m->classes[id];
    decoded_clear(out);
    if (class->kind < 0)
        decoded_clear_rest(out);
    out->event.kind = class->kind;
    out->event.object_type = class->object_type;
    out->event.flags = class->flags;
    out->event.tick = c->tick;
    if (class->fixed)
        return decode_fixed(class, &m->ops[class->first_op], c, out);
    if (class->named)
        return decode_named(m, class, c, out, values);
    return decode_variable(m, class, c, out, values);
}
