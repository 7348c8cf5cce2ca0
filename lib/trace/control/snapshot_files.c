/* SPDX-License-Identifier: MIT */
/* Files of a snapshot beside its streams. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/textbuf.h"
#include "trace/control/snapshot.h"
#include "trace/format/control.h"
#include "trace/format/wait_state.h"
#include "trace/read/packets.h"

int snapshot_write_failed(const char *path, int err)
{
    return upmu_fail(err == ENOMEM ? UPMU_E_NOMEM : UPMU_E_IO, "cannot write the snapshot \"%s\": %s", path,
                     strerrordesc_np(err));
}

static char *snapshot_path(const char *dir, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

static int snapshot_no_memory(const char *dir)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory for the snapshot of \"%s\"", dir);
}

/* A file that is being written. */
struct snapshot_file {
    char *path;
    int fd;
};

static int file_create(struct snapshot_file *f, const char *dir, const char *name)
{
    *f = (struct snapshot_file){.path = snapshot_path(dir, name), .fd = -1};
    if (!f->path)
        return snapshot_no_memory(dir);
    f->fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return f->fd < 0 ? snapshot_write_failed(f->path, errno) : 0;
}

static int file_write(const struct snapshot_file *f, const void *data, size_t bytes, uint64_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pwrite(f->fd, (const char *)data + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return snapshot_write_failed(f->path, n < 0 ? errno : EIO);
        done += (size_t)n;
    }
    return 0;
}

static int file_close(struct snapshot_file *f, int rc)
{
    if (f->fd >= 0 && close(f->fd) != 0 && rc == 0)
        rc = snapshot_write_failed(f->path, errno);
    free(f->path);
    return rc;
}

/* --------------------------------------------------------------------------------------------- wait-state file */

/* The used part of a slot. */
struct slot_copy {
    struct wait_file_slot head;
    uint8_t rest[WAIT_FILE_SLOT_BYTES - WAIT_FILE_HEAD_BYTES];
};

static int waits_open(const char *dir)
{
    char *path = snapshot_path(dir, WAIT_FILE_NAME);
    int fd = path ? packets_open(path) : -ENOMEM;
    free(path);
    return fd;
}

/* @return whether the slot was read, with what it uses. */
static bool slot_read(int fd, uint32_t index, struct slot_copy *out)
{
    uint64_t at = (uint64_t)wait_file_slot_at(index);
    memset(out, 0, sizeof *out);
    if (packets_read(fd, &out->head, sizeof out->head, at) != 0 || out->head.n_held > WAIT_FILE_HELD_MAX)
        return false;
    size_t rest = wait_file_bytes(out->head.n_held) - sizeof out->head;
    return packets_read(fd, out->rest, rest, at + sizeof out->head) == 0;
}

/* Reads the versions of all slots. */
int snapshot_waits_read(struct snapshot_process *p)
{
    struct wait_file_header h;
    struct wait_file_slot head;
    int fd = waits_open(p->from);
    if (fd == -ENOMEM)
        return snapshot_no_memory(p->from);
    bool good = fd >= 0 && packets_read(fd, &h, sizeof h, 0) == 0 &&
                memcmp(h.magic, WAIT_FILE_MAGIC, sizeof h.magic) == 0 && h.version == WAIT_FILE_VERSION &&
                h.slots <= WAIT_FILE_SLOTS_MAX;
    uint32_t *versions = good ? calloc(h.slots + 1, sizeof *versions) : NULL;
    for (uint32_t i = 0; versions && i < h.slots; i++)
        versions[i] = packets_read(fd, &head, sizeof head, (uint64_t)wait_file_slot_at(i)) == 0 ? head.version : 1;
    if (fd >= 0)
        close(fd);
    if (good && !versions)
        return snapshot_no_memory(p->from);
    p->waits = (struct snapshot_waits){.versions = versions, .slots = good ? h.slots : 0};
    return 0;
}

/* A slot that had the same even version before and after the cut did not change in between. */
static void slot_settle(struct slot_copy *slot, uint32_t before)
{
    if (slot->head.version == before && before % 2 == 0)
        return;
    slot->head.version = slot->head.version + slot->head.version % 2;
    if (slot->head.state != WAIT_FILE_FREE)
        slot->head.state = WAIT_FILE_RUNNING;
    slot->head.n_held = 0;
}

static int waits_write_slots(const struct snapshot_process *p, int from, const struct snapshot_file *to,
                             struct slot_copy *slot)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < p->waits.slots; i++) {
        if (!slot_read(from, i, slot))
            continue; /* it stays zero: free */
        slot_settle(slot, p->waits.versions[i]);
        rc = file_write(to, slot, wait_file_bytes(slot->head.n_held), (uint64_t)wait_file_slot_at(i));
    }
    return rc;
}

/* The header with its notes; the process was alive at the cut. */
static int waits_write_header(const struct snapshot_process *p, const struct snapshot_cut *cut, int from,
                              const struct snapshot_file *to)
{
    struct wait_file_header h;
    int rc = packets_read(from, &h, sizeof h, 0);
    size_t notes = rc == 0 && h.notes <= WAIT_FILE_NOTES_MAX ? h.notes : 0;
    char *text = malloc(notes + 1);
    if (rc == 0 && text && notes > 0)
        rc = packets_read(from, text, notes, WAIT_FILE_NOTES_AT);
    h.slots = p->waits.slots;
    h.notes = (uint32_t)notes;
    h.alive_raw_ns = cut->raw_ns;
    h.alive_ns = cut->real_ns;
    if (!text)
        rc = snapshot_no_memory(p->from);
    else if (rc != 0)
        rc = packets_io_failed(p->from, -rc);
    else
        rc = file_write(to, &h, sizeof h, 0);
    if (rc == 0 && text)
        rc = file_write(to, text, notes, WAIT_FILE_NOTES_AT);
    free(text);
    return rc;
}

int snapshot_waits_write(const struct snapshot_process *p, const struct snapshot_cut *cut, struct upmu_snapshot *out)
{
    struct snapshot_file to;
    if (!p->waits.versions)
        return 0;
    int from = waits_open(p->from);
    if (from < 0)
        return from == -ENOENT ? 0 : packets_io_failed(p->from, -from);
    struct slot_copy *slot = malloc(sizeof *slot);
    int rc = slot ? file_create(&to, p->to, WAIT_FILE_NAME) : snapshot_no_memory(p->from);
    if (slot) {
        if (rc == 0)
            rc = waits_write_header(p, cut, from, &to);
        if (rc == 0)
            rc = waits_write_slots(p, from, &to, slot);
        uint64_t bytes = (uint64_t)wait_file_slot_at(p->waits.slots);
        if (rc == 0 && ftruncate(to.fd, (off_t)bytes) != 0)
            rc = snapshot_write_failed(to.path, errno);
        out->bytes += sizeof(struct wait_file_header) + p->waits.slots * wait_file_bytes(0);
        rc = file_close(&to, rc);
    }
    free(slot);
    close(from);
    return rc;
}

/* ------------------------------------------------------------------------------------------------- other files */

/* What is copied as it is: functions, and names of run-time generated code. */
static bool snapshot_copies(const char *name)
{
    return strcmp(name, "jit.map") == 0 || strcmp(name, ".inspected") == 0 ||
           strncmp(name, ".functions", strlen(".functions")) == 0;
}

static int snapshot_copy_open(int from, const struct snapshot_file *to, struct upmu_snapshot *out)
{
    char chunk[65536];
    uint64_t at = 0;
    for (;;) {
        ssize_t n = pread(from, chunk, sizeof chunk, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return packets_io_failed(to->path, errno);
        if (n == 0)
            break;
        int rc = file_write(to, chunk, (size_t)n, at);
        if (rc != 0)
            return rc;
        at += (uint64_t)n;
    }
    out->bytes += at;
    return 0;
}

static int snapshot_copy(const struct snapshot_process *p, const char *name, struct upmu_snapshot *out)
{
    struct snapshot_file to;
    char *path = snapshot_path(p->from, name);
    if (!path)
        return snapshot_no_memory(p->from);
    int from = packets_open(path), rc = 0;
    if (from >= 0) { /* else it is gone, or no file */
        rc = file_create(&to, p->to, name);
        if (rc == 0)
            rc = snapshot_copy_open(from, &to, out);
        rc = file_close(&to, rc);
        close(from);
    }
    free(path);
    return rc;
}

/* Without the boot, the header names no running process: repair and reports take the files for those of one that has ended. */
static int snapshot_control(const struct snapshot_process *p)
{
    struct snapshot_file to;
    union {
        struct control_header h;
        char bytes[CONTROL_BYTES];
    } control = {.bytes = {0}};
    char *path = snapshot_path(p->from, CONTROL_FILE);
    if (!path)
        return snapshot_no_memory(p->from);
    int from = packets_open(path);
    int rc = from < 0 ? from : packets_read(from, control.bytes, sizeof control.bytes, 0);
    if (from >= 0)
        close(from);
    if (rc != 0)
        rc = packets_io_failed(path, -rc);
    free(path);
    if (rc != 0)
        return rc;
    memset(control.h.boot_id, 0, sizeof control.h.boot_id);
    control.h.complete = p->meta.complete;
    rc = file_create(&to, p->to, CONTROL_FILE);
    if (rc == 0)
        rc = file_write(&to, control.bytes, sizeof control.bytes, 0);
    return file_close(&to, rc);
}

int snapshot_files(const struct snapshot_process *p, struct upmu_snapshot *out)
{
    const struct dirent *e;
    DIR *dir = opendir(p->from);
    if (!dir)
        return packets_io_failed(p->from, errno);
    int rc = snapshot_control(p);
    while (rc == 0 && (e = readdir(dir)))
        if (snapshot_copies(e->d_name))
            rc = snapshot_copy(p, e->d_name, out);
    closedir(dir);
    return rc;
}

/* --------------------------------------------------------------------------------------------------- metadata */

/* Text for a string of the metadata. */
static void metadata_add_plain(struct textbuf *b, const char *text)
{
    for (; *text; text++) {
        char c = *text == '"' ? '\'' : *text == '\\' ? '/' : (unsigned char)*text < ' ' ? ' ' : *text;
        textbuf_add(b, &c, 1);
    }
}

int snapshot_metadata(const struct snapshot_process *p, const char *reason, struct upmu_snapshot *out)
{
    struct snapshot_file to;
    struct textbuf b = {0};
    const char *env = strstr(p->text, "env {\n");
    size_t before = env ? (size_t)(env - p->text) + strlen("env {\n") : p->text_len;
    textbuf_add(&b, p->text, before);
    if (env) {
        textbuf_printf(&b, "    snapshot = \"");
        metadata_add_plain(&b, reason);
        textbuf_printf(&b, "\";\n");
    }
    textbuf_add(&b, p->text + before, p->text_len - before);
    int rc = file_create(&to, p->to, "metadata");
    if (rc == 0 && b.failed)
        rc = snapshot_no_memory(p->from);
    if (rc == 0)
        rc = file_write(&to, b.data, b.len, 0);
    rc = file_close(&to, rc);
    out->bytes += b.len;
    textbuf_free(&b);
    return rc;
}
