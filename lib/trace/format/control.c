/* SPDX-License-Identifier: MIT */
/* Control file of a process: validation, boot id and start time. */
#include "trace/format/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process/host_clock.h"

/* Read a small file whole. @return bytes (text is NUL-terminated) or -errno. */
static ssize_t control_read_small(int dirfd, const char *path, char *text, size_t size)
{
    int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    size_t len = 0;
    ssize_t n = 0;
    while (len < size - 1) {
        n = read(fd, text + len, size - 1 - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    int err = n < 0 ? errno : 0;
    close(fd);
    text[len] = '\0';
    return err ? -err : (ssize_t)len;
}

/* /proc shows the times of the reader's time namespace. */
static uint64_t control_host_ticks(uint64_t ticks)
{
    enum { NS_PER_S = 1000000000 };
    int64_t per_tick = NS_PER_S / sysconf(_SC_CLK_TCK), offset = host_clock_offset_of("boottime");
    return (uint64_t)((int64_t)ticks - offset / per_tick);
}

uint64_t control_start_ticks(pid_t pid)
{
    enum { TO_THREADS = 18, TO_START = 20 }; /* fields from the state on */
    char path[40], text[1024];
    if (pid == 0)
        strcpy(path, "/proc/self/stat");
    else
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (control_read_small(AT_FDCWD, path, text, sizeof text) <= 0)
        return 0;
    /* The command name is in parentheses and may contain any byte; numbers follow the last one. */
    const char *p = strrchr(text, ')'), *threads = NULL;
    char state = p && p[1] ? p[2] : '\0';
    for (int i = 0; p && i < TO_START; i++) {
        p = strchr(p + 1, ' ');
        threads = i + 1 == TO_THREADS ? p : threads;
    }
    /* Of a process whose first thread has ended, others may run. */
    bool zombie = (state == 'Z' || state == 'X') && threads && strtoull(threads, NULL, 10) <= 1;
    return p && !zombie ? control_host_ticks(strtoull(p, NULL, 10)) : 0;
}

static int control_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

pid_t control_inner_pid(pid_t pid)
{
    char path[40], text[4096], *end;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (control_read_small(AT_FDCWD, path, text, sizeof text) <= 0)
        return 0;
    const char *line = strstr(text, "\nNSpid:");
    const char *at = line ? line + strlen("\nNSpid:") : "";
    long id = pid; /* kernels before 4.1 have no such line */
    for (long one = strtol(at, &end, 10); end != at; one = strtol(at, &end, 10)) {
        id = one;
        at = end;
    }
    return (pid_t)id;
}

int control_boot_id(uint8_t id[16], char text[37])
{
    char line[64] = "";
    ssize_t n = control_read_small(AT_FDCWD, "/proc/sys/kernel/random/boot_id", line, sizeof line);
    if (n < 0)
        return (int)n;
    size_t digits = 0;
    for (const char *p = line; *p && *p != '\n' && digits < 32; p++) {
        int d = control_hex_digit(*p);
        if (d < 0)
            continue;
        id[digits / 2] = (uint8_t)(digits % 2 ? id[digits / 2] << 4 | d : d);
        digits++;
    }
    if (digits != 32 || n < 36)
        return -EIO;
    memcpy(text, line, 36);
    text[36] = '\0';
    return 0;
}

/* Whether the process in the header exists on this machine; the start time detects a reused process id. */
static bool control_process_exists(const struct control_header *h)
{
    uint8_t boot[16];
    char text[37];
    return control_boot_id(boot, text) == 0 && memcmp(boot, h->boot_id, sizeof boot) == 0 &&
           control_same_start(control_start_ticks((pid_t)h->pid), h->start_ticks);
}

int control_open_at(int dirfd, const char *path)
{
    struct stat st;
    int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int rc = fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

int control_is_running(int dirfd)
{
    struct control_header h;
    int fd = control_open_at(dirfd, CONTROL_FILE);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    bool locked = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    ssize_t n = pread(fd, &h, sizeof h, 0);
    int err = errno;
    close(fd);
    if (locked)
        return 1;
    if (n < 0)
        return -err;
    /* A truncated or foreign header names no process: its writer had made no stream yet. */
    if ((size_t)n < sizeof h || memcmp(h.magic, CONTROL_MAGIC, sizeof h.magic) != 0)
        return 0;
    return control_process_exists(&h);
}
