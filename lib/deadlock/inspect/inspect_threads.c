/* SPDX-License-Identifier: MIT */
/*
 * Threads of a live process as the kernel shows them.
 *
 * Thread lists and states are readable by every user; the arguments of a system call and the memory map need the
 * permission to trace the process.
 */
#include "deadlock/inspect/inspect_threads.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"
#include "base/process/process_maps.h"
#include "trace/format/control.h"

static int view_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while inspecting a process");
}

/* @return false if the file cannot be read. */
static bool kernel_view_read_task(pid_t pid, pid_t task, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)task, name);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, size - 1, f) : 0;
    if (f)
        (void)fclose(f);
    text[n] = '\0';
    return n > 0;
}

/* The text after a field's name; "" if there is none. */
static const char *kernel_view_field(const char *text, const char *name)
{
    const char *found = strstr(text, name);
    return found ? found + strlen(name) : "";
}

/* The innermost of the ids in a line; `task` where the kernel has no such line. */
static pid_t kernel_view_innermost_id(const char *line, pid_t task)
{
    long id = task;
    char *end;
    for (const char *at = line; *at && *at != '\n'; at = end) {
        long one = strtol(at, &end, 10);
        if (end == at)
            break;
        id = one;
    }
    return (pid_t)id;
}

/* State, ids and switches. @return false if the thread has ended or is exiting. */
static bool kernel_view_read_state(pid_t pid, struct kernel_thread *t)
{
    enum { EXITING = 0x4 }; /* PF_EXITING, in the seventh field after the state */
    char text[4096];
    char state;
    unsigned flags;
    const char *end = kernel_view_read_task(pid, t->task, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!end || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
        return false;
    if (state == 'Z' || state == 'X' || (flags & EXITING))
        return false;
    const char *name = strchr(text, '(');
    size_t length = name && name < end ? (size_t)(end - name - 1) : 0;
    memcpy(t->name, name ? name + 1 : "", length < sizeof t->name ? length : sizeof t->name - 1);
    t->asleep = state == 'S';
    t->runs = state == 'R';
    if (!kernel_view_read_task(pid, t->task, "status", text, sizeof text))
        return false;
    t->tid = kernel_view_innermost_id(kernel_view_field(text, "\nNSpid:"), t->task);
    t->killed = strtoull(kernel_view_field(text, "\nSigPnd:"), NULL, 16) >> (SIGKILL - 1) & 1;
    t->switches = strtoull(kernel_view_field(text, "\nvoluntary_ctxt_switches:"), NULL, 10) +
                  strtoull(kernel_view_field(text, "\nnonvoluntary_ctxt_switches:"), NULL, 10);
    return true;
}

static bool kernel_view_is_futex_wait(uint64_t op)
{
    switch (op & (uint64_t)FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
        return true;
    default:
        return false;
    }
}

static void kernel_view_set_futex(struct kernel_thread *t, const uint64_t *argument)
{
    t->in_futex = true;
    t->timed = argument[3] != 0;
    t->shared_op = t->may_share = (argument[1] & FUTEX_PRIVATE_FLAG) == 0;
    t->word = argument[0];
    t->expected = (uint32_t)argument[2];
}

/* The process whose end a call waits for, as in struct kernel_thread. Waits for a process group or a descriptor, and those
 * that a stopped child ends, are none. */
static pid_t kernel_view_child(long number, const uint64_t *argument)
{
    if (number == SYS_wait4 && (argument[2] & (WUNTRACED | WCONTINUED)) == 0)
        return (pid_t)argument[0] >= -1 ? (pid_t)argument[0] : 0;
    if (number != SYS_waitid || (argument[3] & (WSTOPPED | WCONTINUED | WEXITED)) != WEXITED)
        return 0;
    return argument[0] == P_PID ? (pid_t)argument[1] : argument[0] == P_ALL ? -1 : 0;
}

/* Parses "202 0xWORD 0xOP 0xVALUE 0xTIMEOUT ...", or "running". @return false if the file cannot be read. */
static bool kernel_view_read_call(pid_t pid, struct kernel_thread *t)
{
    char line[256];
    long number;
    uint64_t argument[4];
    if (!kernel_view_read_task(pid, t->task, "syscall", line, sizeof line))
        return false;
    int n = sscanf(line, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number, &argument[0], &argument[1],
                   &argument[2], &argument[3]);
    t->in_call = n == 5;
    t->first = n == 5 ? argument[0] : 0;
    if (n == 5 && number == SYS_futex && kernel_view_is_futex_wait(argument[1]))
        kernel_view_set_futex(t, argument);
    else if (n == 5)
        t->child = kernel_view_child(number, argument);
    return true;
}

/* Whether the thread is ending by now: one that runs, since it was killed, showed neither before. */
static bool kernel_view_is_ending(pid_t pid, pid_t task)
{
    struct kernel_thread now = {.task = task};
    return !kernel_view_read_state(pid, &now) || now.killed;
}

static int kernel_view_add_thread(struct kernel_view *v, pid_t task)
{
    struct kernel_thread *all = array_reserve(v->threads, v->n_threads, &v->cap_threads, sizeof *all);
    if (!all)
        return view_no_memory();
    v->threads = all;
    struct kernel_thread *t = &all[v->n_threads];
    *t = (struct kernel_thread){.task = task};
    if (!kernel_view_read_state(v->pid, t))
        return 0;
    v->n_threads++;
    if (!kernel_view_read_call(v->pid, t))
        v->waits = false;
    v->killed |= t->killed || (!t->in_call && kernel_view_is_ending(v->pid, t->task));
    return 0;
}

/* Clears `may_share` of the words in private mappings. A futex operation that is not private need not be shared: the
 * kernel's wake-up at the end of a thread and C++'s atomic waits never are private. */
static bool kernel_view_read_memory(struct kernel_view *v)
{
    char line[512], how[5];
    uint64_t low, high;
    size_t shared = 0;
    for (size_t i = 0; i < v->n_threads; i++)
        shared += v->threads[i].may_share;
    if (shared == 0)
        return true;
    FILE *f = process_maps_open(v->pid);
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &low, &high, how) != 3 || how[3] != 'p')
            continue;
        for (size_t i = 0; i < v->n_threads; i++) {
            struct kernel_thread *t = &v->threads[i];
            if (!t->may_share || t->word < low || t->word >= high)
                continue;
            t->may_share = false;
            shared--;
        }
    }
    if (f)
        (void)fclose(f);
    return shared == 0;
}

/* @return 0 if it is not known. */
static uint64_t kernel_pid_space(pid_t pid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    return stat(path, &st) == 0 ? st.st_ino : 0;
}

bool kernel_view_space_is_of(const struct kernel_view *v, pid_t pid)
{
    return v->space != 0 && kernel_pid_space(pid) == v->space;
}

int kernel_view_read(struct kernel_view *v, pid_t pid)
{
    char path[64];
    const struct dirent *entry;
    *v = (struct kernel_view){.pid = pid, .space = kernel_pid_space(pid), .waits = true};
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    int rc = 0;
    while (dir && rc == 0 && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            rc = kernel_view_add_thread(v, (pid_t)strtol(entry->d_name, NULL, 10));
    if (dir)
        closedir(dir);
    if (rc == 0 && v->n_threads == 0)
        return upmu_fail(UPMU_E_GONE, "there is no process %d", (int)pid);
    v->inside = v->waits && kernel_view_read_memory(v);
    return rc;
}

void kernel_view_free(struct kernel_view *v)
{
    free(v->threads);
    memset(v, 0, sizeof *v);
}

const struct kernel_thread *kernel_view_thread(const struct kernel_view *v, pid_t tid)
{
    for (size_t i = 0; i < v->n_threads; i++)
        if (v->threads[i].tid == tid)
            return &v->threads[i];
    return NULL;
}

/* Whether the process is of that pid namespace, and has the thread. */
static bool kernel_space_thread(uint64_t space, pid_t pid, pid_t tid)
{
    struct kernel_view v = {0};
    bool found = kernel_pid_space(pid) == space && kernel_view_read(&v, pid) == 0 && kernel_view_thread(&v, tid);
    kernel_view_free(&v);
    return found;
}

bool kernel_view_space_has(const struct kernel_view *v, pid_t tid)
{
    struct kernel_thread t = {.task = tid};
    if (v->space == kernel_pid_space(getpid()))
        return kernel_view_read_state(tid, &t);
    const struct dirent *entry;
    DIR *dir = opendir("/proc");
    bool found = !dir;
    while (!found && (entry = readdir(dir))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        found = pid > 0 && kernel_space_thread(v->space, pid, tid);
    }
    if (dir)
        closedir(dir);
    return found;
}

size_t kernel_children(const struct kernel_view *v, const struct kernel_thread *t, pid_t out[KERNEL_CHILDREN],
                       bool *all)
{
    size_t n = 0, found = 0;
    for (size_t i = 0; t->child != 0 && i < v->n_threads; i++) {
        char list[4096], *end;
        (void)kernel_view_read_task(v->pid, v->threads[i].task, "children", list, sizeof list);
        for (long one = strtol(list, &end, 10); one > 0; one = strtol(end, &end, 10)) {
            pid_t child = (pid_t)one;
            n++;
            if (t->child > 0 && (t->task == t->tid ? child : control_inner_pid(child)) != t->child)
                continue;
            if (found == KERNEL_CHILDREN)
                return 0;
            out[found++] = child;
        }
    }
    *all = found == n;
    return found;
}

bool kernel_thread_waits_only(const struct kernel_thread *t)
{
    return t->asleep && t->in_futex && !t->timed;
}

bool kernel_view_all_asleep(const struct kernel_view *v)
{
    bool waits = v->inside && v->waits && v->n_threads > 0;
    for (size_t i = 0; waits && i < v->n_threads; i++)
        waits = kernel_thread_waits_only(&v->threads[i]);
    return waits;
}
