/* SPDX-License-Identifier: MIT */
/* Control of a running process from outside. */
#include "trace/control/control_file.h"
#include "trace/control/find.h"
#include "trace/control/functions.h"
#include "trace/control/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/process/host_clock.h"
#include "trace/format/control.h"
#include "trace/read/recording.h"
#include "trace/read/packets.h"
#include "upmu/control.h"

/* -------------------------------------------------------------------------------------------- open and close */

static int control_new(struct upmu_control **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory for the control of a recording");
}

int upmu_control_open(struct upmu_control **control, const char *dir)
{
    if (!control || !dir)
        return ARGUMENT_NULL(control, dir);
    int rc = control_new(control);
    if (rc == 0)
        rc = recording_processes(dir, &(*control)->processes);
    if (rc != 0) {
        free(*control);
        *control = NULL;
    }
    return rc;
}

int upmu_control_open_pid(struct upmu_control **control, pid_t pid)
{
    if (!control)
        return argument_null(__func__, "control");
    char *dir;
    *control = NULL;
    int rc = control_find(pid, &dir);
    if (rc == 0) {
        rc = upmu_control_open(control, dir);
        free(dir);
    }
    return rc;
}

size_t upmu_control_process_count(const struct upmu_control *control)
{
    return control ? control->processes.n : 0;
}

void upmu_control_close(struct upmu_control *control)
{
    if (!control)
        return;
    path_list_free(&control->processes);
    free(control);
}

/* ------------------------------------------------------------------------------------------------ the mode */

/* Called with the control file of a process whose `chosen` mode word was read, and flock() held on its directory. */
typedef void (*mode_fn)(struct control_header *h, uint32_t chosen, uint32_t arg);

/* @return a descriptor whose close() releases the lock; UPMU_E_IO. */
static int control_lock(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 || flock(fd, LOCK_EX) != 0 ? packets_io_failed(dir, errno) : 0;
    if (rc != 0 && fd >= 0)
        close(fd);
    return rc == 0 ? fd : rc;
}

static int control_change_mode(const char *function, const struct upmu_control *control, size_t index, mode_fn change,
                               uint32_t arg)
{
    const char *dir = NULL;
    struct control_header *h = NULL;
    int rc = control_map_running(function, control, index, &dir, &h);
    if (rc != 0 || !h || !dir)
        return rc;
    int lock = control_lock(dir);
    uint32_t chosen = __atomic_load_n(&h->chosen, __ATOMIC_RELAXED);
    if (lock < 0)
        rc = lock;
    else if (chosen == 0)
        rc = upmu_fail(UPMU_E_STATE,
                       "sync tracing is not on in process %u: its regions are recorded, its locks and "
                       "threads are not; start it with \"upmu record\"",
                       h->pid);
    else
        change(h, chosen, arg);
    if (lock >= 0)
        close(lock);
    control_file_unmap(h);
    return rc;
}

static void mode_start(struct control_header *h, uint32_t chosen, uint32_t unused)
{
    uint32_t off = CONTROL_OFF;
    (void)unused;
    if (__atomic_load_n(&h->mode, __ATOMIC_RELAXED) == CONTROL_OFF)
        control_switch(h, CONTROL_OFF, chosen, host_clock_raw_ns());
    __atomic_compare_exchange_n(&h->mode, &off, chosen, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void mode_stop(struct control_header *h, uint32_t chosen, uint32_t unused)
{
    (void)unused;
    uint32_t before = __atomic_load_n(&h->mode, __ATOMIC_RELAXED);
    if (before == CONTROL_OFF)
        return;
    control_switch(h, before, CONTROL_OFF, host_clock_raw_ns());
    before = __atomic_exchange_n(&h->mode, CONTROL_OFF, __ATOMIC_ACQ_REL);
    /* The program may have changed the mode itself: that is the one to restore. */
    if (before != CONTROL_OFF && before != chosen)
        __atomic_store_n(&h->chosen, before, __ATOMIC_RELAXED);
}

static void mode_set(struct control_header *h, uint32_t chosen, uint32_t word)
{
    (void)chosen;
    __atomic_store_n(&h->chosen, word, __ATOMIC_RELAXED);
    uint32_t before = __atomic_load_n(&h->mode, __ATOMIC_RELAXED);
    if (before != CONTROL_OFF)
        control_switch(h, before, word, host_clock_raw_ns());
    while (before != CONTROL_OFF &&
           !__atomic_compare_exchange_n(&h->mode, &before, word, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

int upmu_control_start(const struct upmu_control *control, size_t index)
{
    return control_change_mode(__func__, control, index, mode_start, 0);
}

int upmu_control_stop(const struct upmu_control *control, size_t index)
{
    return control_change_mode(__func__, control, index, mode_stop, 0);
}

int upmu_control_set_mode(const struct upmu_control *control, size_t index, int mode)
{
    if (mode < UPMU_SYNC_HOLDERS || mode > UPMU_SYNC_COUNTS)
        return upmu_fail(UPMU_E_INVAL, "upmu_control_set_mode: `mode` is %d, a value of enum upmu_sync_mode is needed",
                         mode);
    return control_change_mode(__func__, control, index, mode_set, 1 + (uint32_t)mode);
}

/* ------------------------------------------------------------------------------------------------- marks */

/* Fill the mailbox; the caller holds its lock. @return 0, UPMU_E_BUSY. */
static int mail_put(struct control_header *h, const char *text, size_t len)
{
    if (__atomic_load_n(&h->mail, __ATOMIC_ACQUIRE) != 0)
        return upmu_fail(UPMU_E_BUSY,
                         "process %u has not written the previous mark yet, because it has recorded no event since",
                         h->pid);
    memcpy(h->text, text, len);
    __atomic_store_n(&h->mail, (uint32_t)len, __ATOMIC_RELEASE);
    return 0;
}

static int mail_send(const char *dir, struct control_header *h, const char *text, size_t len)
{
    int lock = control_lock(dir);
    int rc = lock < 0 ? lock : mail_put(h, text, len);
    if (lock >= 0)
        close(lock);
    return rc;
}

/* @return 1 if the mailbox was emptied within 100 ms, 0 if not. */
static int mail_wait(const struct control_header *h)
{
    enum { LOOKS = 50, LOOK_NS = 2000000 };
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    for (int i = 0; i < LOOKS; i++) {
        if (__atomic_load_n(&h->mail, __ATOMIC_ACQUIRE) == 0)
            return 1;
        nanosleep(&pause, NULL); /* a signal only makes the next check earlier */
    }
    return 0;
}

int upmu_control_mark(const struct upmu_control *control, size_t index, const char *text)
{
    const char *dir = NULL;
    struct control_header *h = NULL;
    size_t len = text ? strlen(text) : 0;
    if (!control || !text)
        return ARGUMENT_NULL(control, text);
    if (len == 0 || len > CONTROL_MAIL_MAX)
        return upmu_fail(UPMU_E_INVAL, "upmu_control_mark: `text` has %zu bytes, 1 to %d are possible", len,
                         CONTROL_MAIL_MAX);
    int rc = control_map_running(__func__, control, index, &dir, &h);
    if (rc != 0 || !h || !dir)
        return rc;
    rc = mail_send(dir, h, text, len);
    if (rc == 0)
        rc = mail_wait(h);
    control_file_unmap(h);
    return rc;
}

/* ------------------------------------------------------------------------------------------------ status */

struct tid_list {
    int32_t *tids;
    size_t n;
};

static int tid_list_add(struct tid_list *list, int32_t tid)
{
    int32_t *grown = reallocarray(list->tids, list->n + 1, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    list->tids = grown;
    list->tids[list->n++] = tid;
    return 0;
}

/* Threads of one stream: a new thread may take over from an ended one between two packets. */
static int stream_threads(const char *path, const struct meta *m, struct tid_list *list)
{
    struct stat st;
    struct packet p;
    int32_t last = 0;
    int fd = packets_open(path);
    if (fd < 0)
        return packets_io_failed(path, -fd);
    int rc = fstat(fd, &st) == 0 ? 0 : -errno;
    for (uint64_t offset = 0; rc == 0; offset += p.size) {
        int state = packet_at(fd, (uint64_t)st.st_size, offset, m->uuid, &p);
        if (state != PACKET_GOOD) {
            rc = state < 0 ? state : 0;
            break;
        }
        if (p.head.tid != last && p.content > sizeof p.head)
            rc = tid_list_add(list, p.head.tid);
        last = p.head.tid;
    }
    close(fd);
    return rc == 0 || rc == -ENODATA ? 0 : packets_io_failed(path, -rc);
}

static int tid_by_number(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int control_count_threads(const struct path_list *streams, const struct meta *m, uint32_t *out)
{
    struct tid_list list = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < streams->n; i++)
        rc = stream_threads(streams->paths[i], m, &list);
    if (list.n)
        qsort(list.tids, list.n, sizeof *list.tids, tid_by_number);
    *out = 0;
    for (size_t i = 0; i < list.n; i++)
        *out += i == 0 || list.tids[i] != list.tids[i - 1];
    free(list.tids);
    return rc;
}

static int status_totals(const char *dir, struct upmu_control_status *s)
{
    struct meta m;
    struct path_list streams = {0};
    struct recording_totals totals = {0};
    int rc = recording_metadata(dir, &m, NULL, NULL);
    if (rc != 0)
        return rc;
    rc = recording_streams(dir, &streams);
    if (rc == 0)
        rc = recording_totals(dir, &streams, &m, &totals);
    if (rc == 0)
        rc = control_count_threads(&streams, &m, &s->threads);
    s->pid = m.pid;
    s->events = totals.events;
    s->lost = totals.lost;
    path_list_free(&streams);
    meta_free(&m);
    return rc;
}

/* The mode of a process that lives. Reading requires no write permission. */
static int status_mode(const char *dir, int32_t *mode)
{
    struct control_header h = {.version = 0};
    char *path = NULL;
    if (asprintf(&path, "%s/" CONTROL_FILE, dir) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the path of the control file in \"%s\"", dir);
    int fd = packets_open(path);
    int rc = fd < 0 ? fd : packets_read(fd, &h, sizeof h, 0);
    if (fd >= 0)
        close(fd);
    rc = rc != 0 ? packets_io_failed(path, -rc) : control_file_check(path, &h);
    free(path);
    if (rc == 0 && (h.mode > 1 + UPMU_SYNC_COUNTS || h.chosen > 1 + UPMU_SYNC_COUNTS))
        return upmu_fail(UPMU_E_FORMAT, "\"%s\": its control file has a mode unknown to this libupmu", dir);
    if (rc == 0)
        *mode = h.chosen == 0 ? UPMU_CONTROL_NO_SYNC : (int32_t)h.mode - 1;
    return rc;
}

int upmu_control_status_read(const struct upmu_control *control, size_t index, struct upmu_control_status *out)
{
    const char *dir = NULL;
    struct upmu_control_status s = {.mode = UPMU_CONTROL_NO_SYNC};
    if (!control || !out)
        return ARGUMENT_NULL(control, out);
    int rc = OPTS_CHECK(out, UPMU_CONTROL_STATUS_SIZE_V1);
    if (rc == 0)
        rc = control_process(__func__, control, index, &dir);
    if (rc == 0)
        rc = status_totals(dir, &s);
    if (rc != 0)
        return rc;
    s.dir = dir;
    if (!dir || (rc = control_process_is_running(dir)) < 0)
        return rc;
    s.running = rc > 0;
    if (s.running && (rc = status_mode(dir, &s.mode)) != 0)
        return rc;
    if (s.running)
        s.functions = control_functions_status(dir);
    return OPTS_GIVE(out, s, UPMU_CONTROL_STATUS_SIZE_V1);
}
