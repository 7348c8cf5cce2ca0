/* SPDX-License-Identifier: MIT */
/* JIT symbol maps. */
#include "symbols/jit_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/error.h"

enum { BYTES_MAX = 256 * 1024 * 1024, NS_PER_S = 1000000000 };

static int jit_map_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading a JIT symbol map");
}

/* ------------------------------------------------------------------------------------------------------- the file */

/* Whether the file is trusted. Times are compared in seconds: file systems have coarse clocks. */
static bool jit_map_is_trusted(const struct stat *st, uid_t owner, uint64_t since_ns)
{
    return S_ISREG(st->st_mode) && st->st_uid == owner && st->st_size > 0 && st->st_size <= BYTES_MAX &&
           st->st_mtim.tv_sec >= 0 && (uint64_t)st->st_mtim.tv_sec >= since_ns / NS_PER_S;
}

static bool jit_map_read_all(int fd, char *text, size_t bytes)
{
    size_t got = 0;
    while (got < bytes) {
        ssize_t n = read(fd, text + got, bytes - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    text[bytes] = '\0';
    return true;
}

/* @return 1 if its text was read; 0 if there is no trusted file; UPMU_E_NOMEM. */
static int jit_map_read_text(struct jit_map *m, const char *path, uid_t owner, uint64_t since_ns)
{
    struct stat st;
    bool fine = false;
    int rc = 0;
    /* Without O_NONBLOCK, open() of a FIFO would block. */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    bool wanted = fstat(fd, &st) == 0 && jit_map_is_trusted(&st, owner, since_ns);
    m->text = wanted ? malloc((size_t)st.st_size + 1) : NULL;
    m->path = wanted ? strdup(path) : NULL;
    if (wanted && !(m->text && m->path))
        rc = jit_map_no_memory();
    else if (wanted)
        fine = jit_map_read_all(fd, m->text, (size_t)st.st_size);
    close(fd);
    if (wanted && !fine)
        jit_map_free(m);
    return fine ? 1 : rc;
}

/* ------------------------------------------------------------------------------------------------------ the names */

/* "START SIZE NAME"; other lines are skipped. */
static int jit_map_add_line(struct jit_map *m, char *line)
{
    char *end, *name;
    errno = 0;
    uint64_t low = strtoull(line, &end, 16);
    uint64_t size = end != line && *end == ' ' ? strtoull(end, &name, 16) : 0;
    if (size == 0 || *name != ' ' || name[1] == '\0' || errno != 0 || size > UINT64_MAX - low)
        return 0;
    struct jit_name *all = array_reserve(m->names, m->n, &m->cap, sizeof *all);
    if (!all)
        return jit_map_no_memory();
    m->names = all;
    all[m->n] = (struct jit_name){.low = low, .high = low + size, .order = (uint32_t)m->n, .name = name + 1};
    m->n++;
    return 0;
}

static int jit_name_by_low(const void *a, const void *b)
{
    const struct jit_name *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int jit_map_parse(struct jit_map *m)
{
    uint64_t reach = 0;
    char *rest = NULL;
    int rc = 0;
    for (char *line = m->text ? strtok_r(m->text, "\n", &rest) : NULL; line && rc == 0;
         line = strtok_r(NULL, "\n", &rest))
        rc = jit_map_add_line(m, line);
    if (m->n > 0)
        qsort(m->names, m->n, sizeof *m->names, jit_name_by_low);
    for (size_t i = 0; i < m->n; i++) {
        reach = m->names[i].high > reach ? m->names[i].high : reach;
        m->names[i].reach = reach;
    }
    return rc;
}

static int jit_map_read_from_tmp(struct jit_map *m, pid_t pid, uid_t owner, uint64_t since_ns)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)pid);
    return jit_map_read_text(m, path, owner, since_ns);
}

int jit_map_read(struct jit_map *m, const char *dir, pid_t pid, uint64_t since_ns)
{
    char path[PATH_MAX];
    struct stat st;
    *m = (struct jit_map){0};
    if (stat(dir, &st) != 0)
        return 0;
    int rc = snprintf(path, sizeof path, "%s/jit.map", dir) < (int)sizeof path
                 ? jit_map_read_text(m, path, st.st_uid, 0)
                 : 0;
    if (rc == 0)
        rc = jit_map_read_from_tmp(m, pid, st.st_uid, since_ns);
    return rc > 0 ? jit_map_parse(m) : rc;
}

/* @return false with errno. */
static bool jit_map_write(const char *path, const char *text)
{
    size_t n = strlen(text), done = 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    while (done < n) {
        ssize_t wrote = write(fd, text + done, n - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    int err = errno;
    bool fine = close(fd) == 0 && done == n;
    if (!fine)
        (void)unlink(path);
    errno = err;
    return fine;
}

uint64_t jit_map_since(const char *dir)
{
    const char *start = strrchr(dir, '-');
    return start ? strtoull(start + 1, NULL, 10) * NS_PER_S : UINT64_MAX;
}

int jit_map_keep(const char *dir, pid_t pid, uint64_t since_ns)
{
    char path[PATH_MAX];
    struct jit_map m = {0};
    struct stat st;
    if (stat(dir, &st) != 0 || snprintf(path, sizeof path, "%s/jit.map", dir) >= (int)sizeof path)
        return 0;
    int rc = jit_map_read_from_tmp(&m, pid, st.st_uid, since_ns);
    if (rc > 0 && m.text && !jit_map_write(path, m.text)) {
        const char *why = strerrordesc_np(errno);
        rc = upmu_fail(UPMU_E_IO, "%s: %s", path, why ? why : "unknown error");
    }
    jit_map_free(&m);
    return rc;
}

const struct jit_name *jit_map_find(const struct jit_map *m, uint64_t address)
{
    const struct jit_name *found = NULL;
    size_t low = 0, high = m->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->names[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i > 0 && m->names[i - 1].reach > address; i--)
        if (m->names[i - 1].high > address && (!found || m->names[i - 1].order > found->order))
            found = &m->names[i - 1];
    return found;
}

void jit_map_free(struct jit_map *m)
{
    free(m->path);
    free(m->text);
    free(m->names);
    memset(m, 0, sizeof *m);
}
