/* SPDX-License-Identifier: MIT */
/* Reader of a samples file: its records in time order, up to the first incomplete one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "samples/records.h"
#include "upmu/sampler.h"

/* The sample_id fields at the end of each record other than a sample: pid, tid, time, cpu. */
enum { TAIL_BYTES = 24, TAIL_TIME = 8, BUILD_ID_MAX = 20 };

/* The string that begins here; NULL if it has no terminating null byte. */
static const char *take_text(struct record_cursor *c)
{
    return memchr(c->at, '\0', c->left) ? c->at : NULL;
}

/* --------------------------------------------------------------------------------------------------------- index */

/* Time of the record at `offset`; 0 if it is too short. */
static uint64_t record_time(const struct record_file *f, const struct sampling_header *header, uint64_t offset)
{
    struct perf_event_header h;
    struct record_cursor c = record_open(f, offset, &h);
    uint64_t time = 0;
    if (h.type == PERF_RECORD_SAMPLE) {
        (void)take_bytes(&c, header->sample_type & PERF_SAMPLE_IP ? 16 : 8); /* ip; pid and tid */
        return take_u64(&c);
    }
    if (c.left >= TAIL_BYTES)
        memcpy(&time, c.at + c.left - TAIL_BYTES + TAIL_TIME, sizeof time);
    return time;
}

static int record_compare(const void *a, const void *b)
{
    const struct record_index *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int record_index_all(struct upmu_samples *s, struct record_file *f)
{
    uint64_t at = s->header.header_bytes;
    while (at < f->bytes) {
        struct perf_event_header h = {.size = 0};
        if (f->bytes - at >= sizeof h)
            memcpy(&h, f->data + at, sizeof h);
        if (h.size < sizeof h || h.size > f->bytes - at) {
            s->totals.damages++;
            break;
        }
        struct record_index *all = array_reserve(f->index, f->n, &f->cap, sizeof *all);
        if (!all)
            return samples_no_memory();
        f->index = all;
        all[f->n++] = (struct record_index){record_time(f, &s->header, at), at, 0};
        at += h.size;
    }
    if (f->n > 0)
        qsort(f->index, f->n, sizeof *f->index, record_compare);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- threads */

static bool read_comm(struct upmu_samples *s, struct record_cursor *c, const struct perf_event_header *h)
{
    uint32_t tid, pid = take_u32_pair(c, &tid), i = samples_thread(s, pid, tid);
    const char *name = take_text(c);
    if (i == MAP_NONE)
        return false;
    if (name)
        snprintf(s->threads[i].name, sizeof s->threads[i].name, "%.15s", name);
    struct space *space = h->misc & PERF_RECORD_MISC_COMM_EXEC ? spaces_of(&s->spaces, pid) : NULL;
    if (space)
        spaces_exec(space);
    return true;
}

static bool read_fork(struct upmu_samples *s, struct record_cursor *c)
{
    uint32_t parent, pid = take_u32_pair(c, &parent), creator, tid = take_u32_pair(c, &creator);
    if (c->failed)
        return true;
    uint32_t from = samples_thread(s, parent, creator), to = samples_thread(s, pid, tid);
    if (from == MAP_NONE || to == MAP_NONE)
        return false;
    memcpy(s->threads[to].name, s->threads[from].name, sizeof s->threads[to].name);
    return pid == parent || spaces_fork(&s->spaces, parent, pid);
}

/* ------------------------------------------------------------------------------------------------------ mappings */

static void read_build_id(const char *field, char *text)
{
    size_t n = (unsigned char)field[0];
    for (size_t i = 0; i < n && i < BUILD_ID_MAX; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)(unsigned char)field[4 + i]);
}

static bool read_mapping(struct upmu_samples *s, struct record_cursor *c, const struct perf_event_header *h)
{
    uint32_t tid, pid = take_u32_pair(c, &tid);
    uint64_t start = take_u64(c), bytes = take_u64(c), offset = take_u64(c);
    char build_id[2 * BUILD_ID_MAX + 1] = "";
    const char *field = take_bytes(c, 4 + BUILD_ID_MAX); /* or device, inode and generation */
    (void)take_u64(c);                                   /* protection and flags */
    const char *path = c->failed ? NULL : take_text(c);
#ifdef PERF_RECORD_MISC_MMAP_BUILD_ID
    if (path && h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
        read_build_id(field, build_id);
#else
    (void)field;
    (void)h;
    (void)read_build_id;
#endif
    struct space *space = path ? spaces_of(&s->spaces, pid) : NULL;
    return !path || (space && spaces_map(&s->spaces, space, start, bytes, offset, path, build_id));
}

/* ------------------------------------------------------------------------------------------------------- samples */

/* User frames of a PERF_SAMPLE_CALLCHAIN, without the PERF_CONTEXT_ markers between them. A chain with as many frames as the
 * kernel keeps is reported as cut. */
static void read_chain(struct record_cursor *c, struct samples_stack *out)
{
    enum { KEPT = 127, CODE_LOWEST = 4096 }; /* kernel.perf_event_max_stack */
    uint64_t n = take_u64(c);
    for (uint64_t i = 0; i < n && !c->failed; i++) {
        uint64_t address = take_u64(c);
        if (address < CODE_LOWEST || address >= (uint64_t)PERF_CONTEXT_MAX) /* a marker, or the end of a chain */
            continue;
        if (out->n < SAMPLES_FRAMES_MAX)
            out->address[out->n++] = address;
    }
    out->cut = out->n >= KEPT;
}

/* The kernel follows frame pointers from the caller's frame if the sampled function has not set up its own, or has none: its caller
 * is missing. It is on the top of the stack, of which some words were copied. */
static bool read_caller(struct upmu_samples *s, struct record_cursor *c, const struct space *space,
                        struct samples_stack *out)
{
    uint64_t caller = 0;
    uint64_t abi = take_u64(c);
    if (abi != PERF_SAMPLE_REGS_ABI_NONE)
        (void)take_u64(c);
    uint64_t bytes = take_u64(c);
    const char *top = take_bytes(c, bytes <= c->left ? (size_t)bytes : SIZE_MAX);
    uint64_t used = bytes > 0 ? take_u64(c) : 0;
    if (c->failed || out->n == 0 || abi != PERF_SAMPLE_REGS_ABI_64)
        return true;
    const struct samples_location *l = samples_locate(s, space, out->address[0], false);
    if (!l)
        return false;
    if (l->return_at < 0 || (size_t)l->return_at + sizeof caller > used || used > bytes)
        return true;
    memcpy(&caller, top + l->return_at, sizeof caller);
    bool known = out->n > 1 && out->address[1] == caller;
    if (known || out->n == SAMPLES_FRAMES_MAX || spaces_find(&s->spaces, space, caller - 1).file == MAP_NONE)
        return true;
    memmove(&out->address[2], &out->address[1], (out->n - 1) * sizeof *out->address);
    out->address[1] = caller;
    out->n++;
    return true;
}

static bool read_copy(struct upmu_samples *s, struct record_cursor *c, struct space *space, struct samples_stack *out)
{
    struct samples_copy copy = {.regs = NULL};
    uint64_t regs[64] = {0};
    size_t n = (size_t)__builtin_popcountll(s->header.regs);
    if (take_u64(c) != PERF_SAMPLE_REGS_ABI_NONE)
        for (size_t i = 0; i < n; i++)
            regs[i] = take_u64(c);
    copy.regs = regs;
    uint64_t bytes = take_u64(c);
    copy.data = take_bytes(c, bytes <= c->left ? (size_t)bytes : SIZE_MAX);
    uint64_t used = bytes > 0 ? take_u64(c) : 0;
    copy.bytes = (size_t)(used < bytes ? used : bytes);
    return c->failed || samples_unwind(s, space, &copy, out);
}

static bool read_stack(struct upmu_samples *s, struct record_cursor *c, const struct perf_event_header *h, uint64_t ip,
                       struct space *space, struct samples_stack *out)
{
    uint64_t type = s->header.sample_type;
    uint32_t raw = 0;
    out->kernel = (h->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    if (type & PERF_SAMPLE_CALLCHAIN)
        read_chain(c, out);
    if (type & PERF_SAMPLE_RAW)
        raw = take_u32(c);
    (void)take_bytes(c, raw);
    bool is_copy = s->header.stacks == UPMU_SAMPLER_COPY;
    if (type & PERF_SAMPLE_REGS_USER && !(is_copy ? read_copy(s, c, space, out) : read_caller(s, c, space, out)))
        return false;
    if (out->n == 0 && !out->kernel)
        out->address[out->n++] = ip;
    return true;
}

static bool read_sample(struct upmu_samples *s, struct record_cursor *c, const struct perf_event_header *h,
                        uint64_t weight)
{
    static struct samples_stack empty;
    struct samples_stack stack = empty;
    struct samples_row row = {.raw_ns = 0};
    uint32_t tid, reserved;
    uint64_t ip = take_u64(c);
    uint32_t pid = take_u32_pair(c, &tid);
    row.raw_ns = take_u64(c);
    row.cpu = take_u32_pair(c, &reserved);
    row.weight = s->header.sample_type & PERF_SAMPLE_PERIOD ? take_u64(c) : s->header.period;
    if (s->header.flags & SAMPLING_CALLS)
        row.weight = weight;
    struct space *space = spaces_of(&s->spaces, pid);
    row.thread = samples_thread(s, pid, tid);
    if (space && row.thread != MAP_NONE && !c->failed && !samples_in_stretch(s, row.raw_ns))
        return true;
    if (!space || row.thread == MAP_NONE || !read_stack(s, c, h, ip, space, &stack))
        return false;
    if (c->failed) {
        s->totals.damages++;
        return true;
    }
    return samples_path(s, space, &stack, &row) && samples_add(s, &row);
}

static bool read_record(struct upmu_samples *s, const struct record_file *f, const struct record_index *i)
{
    struct perf_event_header h;
    struct record_cursor c = record_open(f, i->offset, &h);
    switch (h.type) {
    case PERF_RECORD_SAMPLE:
        return i->weight == RECORD_IS_EXIT || read_sample(s, &c, &h, i->weight);
    case PERF_RECORD_COMM:
        return read_comm(s, &c, &h);
    case PERF_RECORD_FORK:
        return read_fork(s, &c);
    case PERF_RECORD_MMAP2:
        return read_mapping(s, &c, &h);
    case PERF_RECORD_LOST:
        (void)take_u64(&c);
        s->totals.lost += take_u64(&c);
        return true;
    case PERF_RECORD_THROTTLE:
        s->totals.throttled++;
        return true;
    default:
        return true;
    }
}

/* ---------------------------------------------------------------------------------------------------------- file */

static int read_header(struct upmu_samples *s, const struct record_file *f, const char *path)
{
    struct sampling_header *h = &s->header;
    if (f->bytes < SAMPLING_HEADER_BYTES_V1 || memcmp(f->data, SAMPLING_MAGIC, sizeof h->magic) != 0)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\" is not a samples file", path);
    memcpy(h, f->data, SAMPLING_HEADER_BYTES_V1);
    if (h->version != SAMPLING_VERSION)
        return upmu_fail(UPMU_E_VERSION, "\"%s\" has version %u, this libupmu reads version %d", path,
                         (unsigned)h->version, (int)SAMPLING_VERSION);
    if (h->header_bytes < SAMPLING_HEADER_BYTES_V1 || h->header_bytes > f->bytes)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\": the header is damaged", path);
    memcpy(h, f->data, h->header_bytes < sizeof *h ? h->header_bytes : sizeof *h);
    h->event[sizeof h->event - 1] = h->machine[sizeof h->machine - 1] = '\0';
    return 0;
}

static int read_file(struct upmu_samples *s, struct record_file *f, const char *path)
{
    int rc = read_header(s, f, path);
    if (rc == 0)
        rc = record_index_all(s, f);
    bool asked = (s->asked_from_ns | s->asked_to_ns) != 0 && s->from_ns == 0 && s->to_ns == UINT64_MAX;
    if (rc == 0 && asked && f->n > 0)
        rc = samples_set_stretch(s, samples_time(s, f->index[0].time), samples_time(s, f->index[f->n - 1].time));
    if (rc == 0 && s->header.flags & SAMPLING_CALLS && !samples_time_calls(s, f))
        rc = samples_no_memory();
    for (size_t i = 0; rc == 0 && i < f->n; i++)
        if (!read_record(s, f, &f->index[i]))
            rc = samples_no_memory();
    free(f->index);
    return rc;
}

int samples_read(struct upmu_samples *s, const char *path)
{
    struct stat st;
    struct record_file f = {0};
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return UPMU_E_STATE;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        int rc = upmu_fail(UPMU_E_IO, "cannot read \"%s\": %s", path, fd < 0 ? strerror(errno) : "not a regular file");
        if (fd >= 0)
            close(fd);
        return rc;
    }
    f.bytes = (size_t)st.st_size;
    void *data = f.bytes > 0 ? mmap(NULL, f.bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (data == MAP_FAILED)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\" is not a samples file", path);
    f.data = data;
    int rc = read_file(s, &f, path);
    munmap(data, f.bytes);
    return rc;
}
