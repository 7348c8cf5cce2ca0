/* SPDX-License-Identifier: MIT */
/*
 * Reader of the wait-state file of a process.
 *
 * The file is read with pread(), not mapped: its process may write to it or truncate it at any time. No content is trusted:
 * a thread with a malformed slot counts as running, and a running thread is part of no deadlock.
 */
#include "analysis/wait_state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"
#include "trace/format/schema.h"
#include "upmu/trace.h"

enum { TRIES = 8 /* attempts to read a slot that is being written */ };

int wait_state_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading a wait-state file");
}

int wait_state_io_failed(const char *path, int err)
{
    const char *text = strerrordesc_np(err);
    return upmu_fail(UPMU_E_IO, "cannot read the wait-state file \"%s\": %s", path, text ? text : "unknown error");
}

/* @return true if all bytes were read. */
static bool wait_state_read_all(int fd, void *to, size_t bytes, off_t at)
{
    size_t got = 0;
    while (got < bytes) {
        ssize_t n = pread(fd, (char *)to + got, bytes - got, at + (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

static bool wait_state_slot_is_valid(const struct wait_file_slot *h)
{
    return h->version % 2 == 0 && h->state <= WAIT_FILE_CHILD && h->n_held <= WAIT_FILE_HELD_MAX;
}

/* Reads one slot consistently. @return 1; 0 if it kept changing; UPMU_E_NOMEM. */
static int wait_state_read_slot(struct wait_state_file *f, int fd, off_t at, struct wait_state_thread *t)
{
    for (int i = 0; i < TRIES; i++) {
        struct wait_file_slot again;
        if (!wait_state_read_all(fd, &t->head, WAIT_FILE_HEAD_BYTES, at))
            return 0;
        if (!wait_state_slot_is_valid(&t->head))
            continue;
        t->first_held = (uint32_t)f->n_held;
        t->n_held = 0;
        t->at = at;
        t->inspected = t->left = t->waits = false;
        t->paused = t->head.state == WAIT_FILE_PAUSED;
        t->several = t->several_kind = t->several_threads = 0;
        bool waits = t->head.state == WAIT_FILE_BLOCKED || t->paused;
        bool holds = waits || t->head.state == WAIT_FILE_ENDED || t->head.state == WAIT_FILE_CHILD;
        for (uint32_t k = 0; holds && k < t->head.n_held; k++) {
            struct wait_file_held *all = array_reserve(f->held, f->n_held + k, &f->cap_held, sizeof *all);
            if (!all)
                return wait_state_no_memory();
            f->held = all;
        }
        uint32_t n = holds ? t->head.n_held : 0;
        if (n > 0 && !wait_state_read_all(fd, &f->held[f->n_held], n * sizeof *f->held, at + WAIT_FILE_HELD_AT))
            return 0;
        t->stack = (struct wait_file_stack){0};
        t->holder_stack = (struct wait_file_holder_stack){0};
        if (waits && (!wait_state_read_all(fd, &t->stack, sizeof t->stack, at + WAIT_FILE_HEAD_BYTES) ||
                      !wait_state_read_all(fd, &t->holder_stack, sizeof t->holder_stack, at + WAIT_FILE_HOLDER_AT)))
            return 0;
        /* All of the head, since a copy by the kernel has no order: it may have an older object beside a newer version. */
        if (!wait_state_read_all(fd, &again, WAIT_FILE_HEAD_BYTES, at) || memcmp(&again, &t->head, sizeof again) != 0)
            continue;
        t->n_held = t->paused ? 0 : n;
        t->paused_held = t->paused ? n : 0;
        t->head.state = t->paused ? WAIT_FILE_RUNNING : t->head.state;
        f->n_held += n;
        t->head.name[sizeof t->head.name - 1] = '\0';
        return 1;
    }
    return 0;
}

/* Slots that the header counts and the file does not have, because it is damaged, are one running thread together. */
static int wait_state_read_slots(struct wait_state_file *f, int fd)
{
    struct stat st;
    bool ends = false;
    for (uint32_t i = 0; i < f->header.slots && i < WAIT_FILE_SLOTS_MAX && !ends; i++) {
        struct wait_state_thread *all = array_reserve(f->threads, f->n_threads, &f->cap_threads, sizeof *all);
        if (!all)
            return wait_state_no_memory();
        f->threads = all;
        struct wait_state_thread *t = &all[f->n_threads];
        int rc = wait_state_read_slot(f, fd, wait_file_slot_at(i), t);
        if (rc < 0)
            return rc;
        ends = rc == 0 && fstat(fd, &st) == 0 && st.st_size <= wait_file_slot_at(i);
        if (rc == 0) /* the slot kept changing, or is not there: the thread runs */
            *t = (struct wait_state_thread){.head = {.state = WAIT_FILE_RUNNING}};
        f->n_threads += t->head.state != WAIT_FILE_FREE;
    }
    return 1;
}

void wait_state_file_end_pauses(struct wait_state_file *f)
{
    for (size_t i = 0; i < f->n_threads; i++) {
        struct wait_state_thread *t = &f->threads[i];
        if (!t->paused || t->head.kind != UPMU_TRACE_LOCK_BLOCK || t->head.type == UPMU_OBJECT_SEM)
            continue;
        t->head.state = WAIT_FILE_BLOCKED;
        t->n_held = t->paused_held;
    }
}

void wait_state_thread_runs(struct wait_state_thread *t)
{
    t->head.state = WAIT_FILE_RUNNING;
    t->n_held = 0;
}

void wait_state_file_end_left(struct wait_state_file *f)
{
    for (size_t i = 0; i < f->n_threads; i++)
        if (wait_file_is_left(&f->threads[i].head))
            wait_state_thread_runs(&f->threads[i]);
}

static int wait_state_check_header(const struct wait_file_header *h, const char *path)
{
    if (memcmp(h->magic, WAIT_FILE_MAGIC, sizeof h->magic) != 0)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\" is not a wait-state file", path);
    if (h->version != WAIT_FILE_VERSION || h->slot_bytes != WAIT_FILE_SLOT_BYTES)
        return upmu_fail(
            UPMU_E_VERSION,
            "the wait-state file \"%s\" has version %u, this libupmu reads version %d. Use the upmu command of the "
            "libupmu that recorded it.",
            path, h->version, WAIT_FILE_VERSION);
    return 0;
}

int wait_state_file_read(struct wait_state_file *f, const char *dir)
{
    char path[PATH_MAX];
    memset(f, 0, sizeof *f);
    if (snprintf(path, sizeof path, "%s/" WAIT_FILE_NAME, dir) >= (int)sizeof path)
        return upmu_fail(UPMU_E_IO, "the path of the wait-state file in \"%s\" is too long", dir);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? 0 : wait_state_io_failed(path, errno);
    int rc = wait_state_read_all(fd, &f->header, sizeof f->header, 0)
                 ? wait_state_check_header(&f->header, path)
                 : upmu_fail(UPMU_E_FORMAT, "the wait-state file \"%s\" is truncated", path);
    if (rc == 0)
        rc = wait_state_read_slots(f, fd);
    close(fd);
    return rc;
}

void wait_state_call_event(const struct wait_file_slot *slot, uint32_t process, struct upmu_trace_event *out)
{
    *out = (struct upmu_trace_event){
        .size = sizeof *out,
        .time_ns = slot->since_ns,
        .kind = UPMU_TRACE_CALL_BLOCK,
        .process = process,
        .tid = slot->tid,
        .name = "",
        .object = slot->object,
        .object_type = UPMU_OBJECT_CALL,
        .flags = slot->flags,
        .site = slot->site,
        .call = {.call = SCHEMA_CALL_OF(slot->object),
                 .descriptor = (int32_t)slot->object,
                 .descriptor_type = SCHEMA_CALL_DESCRIPTOR_TYPE(slot->object)},
    };
}

void wait_state_file_free(struct wait_state_file *f)
{
    free(f->threads);
    free(f->held);
    memset(f, 0, sizeof *f);
}
