/* SPDX-License-Identifier: MIT */
/*
 * Shared mappings that contain locks, from /proc/self/maps.
 *
 * They are looked up when a thread acquires a lock made for several processes while it holds another one, once per mapping.
 * Readers of the recording thereby have which addresses of several processes are one lock, also after the processes have ended.
 */
#include "sync_trace/state/shared_memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/private_table.h"
#include "sync_trace/state/notes.h"
#include "sync_trace/state/state.h"

enum { MAPPINGS_MAX = 64, PRIVATE_MAX = 64, FILE_TEXT = 48, BOOT_TEXT = 40 };

/* Read and written by all threads without a lock: a mapping may be noted twice. */
static struct {
    uint32_t n;
    struct {
        uintptr_t low, high; /**< `high` 0: unmapped */
    } mapping[MAPPINGS_MAX];
    uintptr_t not_shared[PRIVATE_MAX]; /**< locks found in other memory, by a hash of the address */
} known;

void sync_shared_memory_start(void)
{
    memset(&known, 0, sizeof known);
}

static bool mapping_is_known(uintptr_t lock)
{
    uint32_t n = __atomic_load_n(&known.n, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < MAPPINGS_MAX; i++)
        if (lock >= __atomic_load_n(&known.mapping[i].low, __ATOMIC_RELAXED) &&
            lock < __atomic_load_n(&known.mapping[i].high, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

static uintptr_t *mapping_not_shared(uintptr_t lock)
{
    return &known.not_shared[(lock >> 4 ^ lock >> 12) % PRIVATE_MAX];
}

/* ------------------------------------------------------------------------------------------------ /proc/self/maps */

struct mapping_lookup {
    uintptr_t lock;
    bool found;
    uint64_t value[3];    /**< begin, end, offset */
    char file[FILE_TEXT]; /**< "device inode" */
    char boot[BOOT_TEXT];
};

static const char *mapping_read_hex(const char *p, uint64_t *out)
{
    for (*out = 0;; p++) {
        int digit = *p >= '0' && *p <= '9' ? *p - '0' : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10 : -1;
        if (digit < 0)
            return p;
        *out = *out << 4 | (uint64_t)digit;
    }
}

/* Takes a line "low-high rwxs offset device inode  path". @return whether the lock is there. */
static bool mapping_take_line(struct mapping_lookup *l, const char *p)
{
    uint64_t low, high, offset;
    p = mapping_read_hex(p, &low);
    if (*p++ != '-')
        return false;
    p = mapping_read_hex(p, &high);
    if (l->lock < low || l->lock >= high || strnlen(p, 7) < 7 || p[4] != 's')
        return false;
    p = mapping_read_hex(p + 6, &offset);
    size_t n = 0;
    for (int spaces = 0; *++p != '\0' && n + 1 < sizeof l->file; l->file[n++] = *p)
        if (*p == ' ' && ++spaces == 2)
            break;
    l->file[n] = '\0';
    l->value[0] = low;
    l->value[1] = high;
    l->value[2] = offset;
    return true;
}

/* The functions of these names are wrapped. */

static int mapping_open(const char *path)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

static long mapping_read(int fd, char *to, size_t bytes)
{
    return fd >= 0 ? syscall(SYS_read, fd, to, bytes) : -1;
}

static void mapping_close(int fd)
{
    if (fd >= 0)
        (void)syscall(SYS_close, fd);
}

/* Of processes on several hosts, inodes can be equal. */
static void mapping_read_boot(struct mapping_lookup *l)
{
    int fd = mapping_open("/proc/sys/kernel/random/boot_id");
    long n = mapping_read(fd, l->boot, sizeof l->boot - 1);
    while (n > 0 && l->boot[n - 1] == '\n')
        n--;
    l->boot[n > 0 ? n : 0] = '\0';
    mapping_close(fd);
}

/* Goes through the lines with little memory: the stack may be that of a signal handler. */
static int mapping_find(void *arg)
{
    struct mapping_lookup *l = arg;
    char part[512], line[128] = "";
    size_t n = 0;
    long got;
    int fd = mapping_open("/proc/self/maps");
    while (!l->found && (got = mapping_read(fd, part, sizeof part)) > 0)
        for (long i = 0; i < got && !l->found; i++) {
            if (part[i] == '\n') {
                line[n] = '\0';
                n = 0;
                l->found = mapping_take_line(l, line);
            } else if (n + 1 < sizeof line) { /* the rest of a path is not needed */
                line[n++] = part[i];
            }
        }
    mapping_close(fd);
    if (l->found)
        mapping_read_boot(l);
    return 0;
}

static void mapping_add(const struct mapping_lookup *l)
{
    uint32_t i = __atomic_load_n(&known.n, __ATOMIC_RELAXED);
    do
        if (i >= MAPPINGS_MAX)
            return;
    while (!__atomic_compare_exchange_n(&known.n, &i, i + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    sync_note_shared(l->value, l->file, l->boot);
    __atomic_store_n(&known.mapping[i].low, (uintptr_t)l->value[0], __ATOMIC_RELAXED);
    __atomic_store_n(&known.mapping[i].high, (uintptr_t)l->value[1], __ATOMIC_RELEASE);
}

void sync_shared_memory_note(uintptr_t lock)
{
    uintptr_t *not_shared = mapping_not_shared(lock);
    if (lock == 0 || mapping_is_known(lock) || __atomic_load_n(not_shared, __ATOMIC_RELAXED) == lock ||
        __atomic_load_n(&known.n, __ATOMIC_RELAXED) >= MAPPINGS_MAX)
        return;
    struct mapping_lookup l = {.lock = lock};
    (void)private_table_run(mapping_find, &l); /* without /proc the lock counts as one of this process alone */
    if (l.found)
        mapping_add(&l);
    else
        __atomic_store_n(not_shared, lock, __ATOMIC_RELAXED);
}

void sync_shared_memory_unmapped(uintptr_t from, size_t bytes)
{
    uint32_t n = __atomic_load_n(&known.n, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < MAPPINGS_MAX; i++)
        if (from < __atomic_load_n(&known.mapping[i].high, __ATOMIC_RELAXED) &&
            from + bytes > __atomic_load_n(&known.mapping[i].low, __ATOMIC_RELAXED))
            __atomic_store_n(&known.mapping[i].high, 0, __ATOMIC_RELEASE);
    for (uintptr_t *lock = known.not_shared; lock < known.not_shared + PRIVATE_MAX; lock++)
        if (__atomic_load_n(lock, __ATOMIC_RELAXED) - from < bytes)
            __atomic_store_n(lock, 0, __ATOMIC_RELAXED);
}
