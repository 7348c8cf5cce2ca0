/* SPDX-License-Identifier: MIT */
/* objdump as a child: no shell, and bounds on its time and output. */
#include "objdump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ui/memory.h"

extern char **environ;

enum { OBJDUMP_SECONDS = 60, OBJDUMP_BYTES_MAX = 64 << 20, OBJDUMP_BUFFER = 65536 };

struct objdump_child {
    pid_t pid;
    int output; /* its standard output and error */
    char *text;
    size_t bytes, cap;
};

/* @return 0 or an errno. */
static int objdump_spawn(struct objdump_child *c, char *const argv[])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    int rc = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
    rc = rc ? rc : posix_spawnattr_setsigdefault(&attributes, &defaults);
    rc = rc ? rc : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    rc = rc ? rc : posix_spawnp(&c->pid, argv[0], &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    c->output = ends[0];
    if (rc != 0)
        close(ends[0]);
    return rc;
}

static int objdump_left_ms(const struct timespec *end)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms = (int64_t)(end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
    return ms > 0 ? (int)ms : 0;
}

/* @return NULL at the end of its output, or why it is not read further. */
static char *objdump_collect(struct objdump_child *c)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += OBJDUMP_SECONDS;
    for (;;) {
        struct pollfd ready = {.fd = c->output, .events = POLLIN};
        int n = poll(&ready, 1, objdump_left_ms(&end));
        if (n == 0)
            return memory_format("objdump did not end within %d seconds", OBJDUMP_SECONDS);
        if (n < 0 && errno == EINTR)
            continue;
        if (c->cap - c->bytes < OBJDUMP_BUFFER) {
            c->cap = 2 * c->cap + OBJDUMP_BUFFER;
            c->text = memory_resize(c->text, c->cap, 1);
        }
        ssize_t got = n < 0 ? -1 : read(c->output, c->text + c->bytes, c->cap - c->bytes - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return memory_format("the output of objdump cannot be read: %s", strerror(errno));
        c->bytes += (size_t)got;
        c->text[c->bytes] = '\0';
        if (got == 0)
            return NULL;
        if (c->bytes > OBJDUMP_BYTES_MAX)
            return memory_format("objdump printed more than %d MiB", OBJDUMP_BYTES_MAX >> 20);
    }
}

static int objdump_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* "  1139:\tinstruction" and "0000000000001139 <name>:"; `line` is cut into its parts. */
static bool objdump_parse(char *line, struct objdump_line *out)
{
    char *end;
    errno = 0;
    out->address = strtoull(line, &end, 16);
    if (end == line || errno != 0)
        return false;
    out->is_label = strncmp(end, " <", 2) == 0;
    if (out->is_label) {
        size_t n = strlen(end);
        if (n < 4 || strcmp(end + n - 2, ">:") != 0)
            return false;
        end[n - 2] = '\0';
        out->text = memory_copy(end + 2);
        return true;
    }
    if (end[0] != ':' || end[1] != '\t')
        return false;
    for (char *tab = end + 2; (tab = strchr(tab, '\t'));) /* between a mnemonic and its operands */
        *tab = ' ';
    out->text = memory_copy(end + 2);
    return true;
}

/* `*message` is set to the last line that begins with the name of objdump. */
static void objdump_split(struct objdump *d, struct objdump_child *c, const char **message)
{
    size_t cap = 0;
    char *rest = NULL;
    for (char *line = c->bytes ? strtok_r(c->text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        struct objdump_line row;
        if (!objdump_parse(line, &row)) {
            *message = strncmp(line, "objdump: ", strlen("objdump: ")) == 0 ? line + strlen("objdump: ") : *message;
            continue;
        }
        if (d->n == cap) {
            cap = cap ? cap * 2 : 256;
            d->lines = memory_resize(d->lines, cap, sizeof *d->lines);
        }
        d->lines[d->n++] = row;
    }
}

char *objdump_read(struct objdump *d, const char *path, uint64_t begin, uint64_t end)
{
    struct objdump_child c = {.pid = 0};
    char from[64], to[64];
    const char *message = NULL;
    snprintf(from, sizeof from, "--start-address=0x%" PRIx64, begin);
    snprintf(to, sizeof to, "--stop-address=0x%" PRIx64, end);
    char *path_copy = memory_copy(path);
    char *const argv[] = {"objdump", "-d", "-w", "--demangle", "--no-show-raw-insn", from, to, "--", path_copy, NULL};
    *d = (struct objdump){0};
    int rc = objdump_spawn(&c, argv);
    free(path_copy);
    if (rc == ENOENT)
        return memory_copy("objdump is not installed (Debian: binutils)");
    if (rc != 0)
        return memory_format("objdump cannot be started: %s", strerror(rc));
    char *why = objdump_collect(&c);
    if (why)
        (void)kill(c.pid, SIGKILL); /* not waited for yet: the id is its own */
    close(c.output);
    int status = objdump_wait(c.pid);
    if (!why) {
        objdump_split(d, &c, &message);
        if (d->n == 0 || status != 0)
            why = memory_format("objdump printed no instructions of %s%s%s", path, message ? ": " : "",
                                message ? message : "");
    }
    free(c.text);
    return why;
}

void objdump_free(struct objdump *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->lines[i].text);
    free(d->lines);
    *d = (struct objdump){0};
}
