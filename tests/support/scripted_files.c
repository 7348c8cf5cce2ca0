/* SPDX-License-Identifier: MIT */
/* Files and directories of the scripted kernel. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/scripted.h"

enum { FILES_MAX = 2048 };

struct file {
    char *path;
    char *text; /* NULL: a directory, or an error */
    int err;
};

static struct {
    pthread_mutex_t lock;
    struct file files[FILES_MAX];
    size_t n;
    bool recorded;
    const char *cpu_teller; /* of `cpu`; NULL: none */
    struct arch_cpu cpu;
    int filter; /* errno of each call of perf_event_open, 0: the kernel is reached */
    struct kernel_descriptors descriptors;
    bool papi;
    char papi_name[64];
    uint64_t papi_code;
    pid_t usage_pid; /* of `usage`, or of `usage_error` */
    struct kernel_usage usage;
    int usage_error;
} tree = {.lock = PTHREAD_MUTEX_INITIALIZER, .descriptors = {.soft = 1024, .hard = 4096, .open = 3}};

static char *scripted_copy(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    return copy;
}

static struct file *scripted_find(const char *path)
{
    for (size_t i = 0; i < tree.n; i++)
        if (strcmp(tree.files[i].path, path) == 0)
            return &tree.files[i];
    return NULL;
}

static void scripted_put(const char *path, const char *text, int err)
{
    pthread_mutex_lock(&tree.lock);
    struct file *f = scripted_find(path);
    if (!f) {
        if (tree.n == FILES_MAX)
            abort();
        f = &tree.files[tree.n++];
        f->path = scripted_copy(path);
        f->text = NULL;
    }
    free(f->text);
    f->text = text ? scripted_copy(text) : NULL;
    f->err = err;
    pthread_mutex_unlock(&tree.lock);
}

void scripted_papi(bool usable)
{
    pthread_mutex_lock(&tree.lock);
    tree.papi = usable;
    pthread_mutex_unlock(&tree.lock);
}

void scripted_papi_event(const char *name, uint64_t code)
{
    pthread_mutex_lock(&tree.lock);
    snprintf(tree.papi_name, sizeof tree.papi_name, "%s", name);
    tree.papi_code = code;
    pthread_mutex_unlock(&tree.lock);
}

void scripted_usage(pid_t pid, const struct kernel_usage *usage, int err)
{
    pthread_mutex_lock(&tree.lock);
    tree.usage_pid = pid;
    tree.usage = usage ? *usage : (struct kernel_usage){0};
    tree.usage_error = err;
    pthread_mutex_unlock(&tree.lock);
}

int scripted_usage_of(pid_t pid, struct kernel_usage *out)
{
    pthread_mutex_lock(&tree.lock);
    int rc = pid != tree.usage_pid ? -ESRCH : -tree.usage_error;
    *out = tree.usage;
    pthread_mutex_unlock(&tree.lock);
    return rc;
}

int scripted_backend(enum kernel_backend which, const char **reason)
{
    pthread_mutex_lock(&tree.lock);
    bool usable = which == KERNEL_BACKEND_PERF || tree.papi;
    pthread_mutex_unlock(&tree.lock);
    *reason = usable ? "scripted" : "the script has no libpapi";
    return usable ? 0 : -ELIBACC;
}

int scripted_named(enum kernel_backend which, const char *name, uint64_t *code)
{
    pthread_mutex_lock(&tree.lock);
    bool known = which == KERNEL_BACKEND_PAPI && tree.papi && strcmp(tree.papi_name, name) == 0;
    *code = known ? tree.papi_code : 0;
    pthread_mutex_unlock(&tree.lock);
    return known ? 0 : -ENOENT;
}

void scripted_filter(int err)
{
    pthread_mutex_lock(&tree.lock);
    tree.filter = err;
    pthread_mutex_unlock(&tree.lock);
}

int scripted_reach(void)
{
    pthread_mutex_lock(&tree.lock);
    int err = tree.filter;
    pthread_mutex_unlock(&tree.lock);
    return -err;
}

void scripted_descriptors_are(const struct kernel_descriptors *now)
{
    pthread_mutex_lock(&tree.lock);
    tree.descriptors = *now;
    pthread_mutex_unlock(&tree.lock);
}

void scripted_descriptors(struct kernel_descriptors *now)
{
    pthread_mutex_lock(&tree.lock);
    *now = tree.descriptors;
    pthread_mutex_unlock(&tree.lock);
}

void scripted_recording(bool recorded)
{
    pthread_mutex_lock(&tree.lock);
    tree.recorded = recorded;
    pthread_mutex_unlock(&tree.lock);
}

bool scripted_recorded(void)
{
    pthread_mutex_lock(&tree.lock);
    bool recorded = tree.recorded;
    pthread_mutex_unlock(&tree.lock);
    return recorded;
}

void scripted_cpu(const struct arch_cpu *cpu, const char *teller)
{
    pthread_mutex_lock(&tree.lock);
    tree.cpu = *cpu;
    tree.cpu_teller = teller;
    pthread_mutex_unlock(&tree.lock);
}

const char *scripted_ask_cpu(arch_cpu_ask_fn ask, struct arch_cpu *out)
{
    (void)ask; /* the CPU of the test's machine, not of this one */
    pthread_mutex_lock(&tree.lock);
    const char *teller = tree.recorded ? NULL : tree.cpu_teller;
    if (teller)
        *out = tree.cpu;
    pthread_mutex_unlock(&tree.lock);
    return teller;
}

void scripted_file(const char *path, const char *text)
{
    scripted_put(path, text, 0);
}

void scripted_file_error(const char *path, int err)
{
    scripted_put(path, NULL, err);
}

void scripted_dir(const char *path)
{
    scripted_put(path, NULL, 0);
}

void scripted_files_reset(void)
{
    pthread_mutex_lock(&tree.lock);
    for (size_t i = 0; i < tree.n; i++) {
        free(tree.files[i].path);
        free(tree.files[i].text);
    }
    tree.n = 0;
    tree.recorded = false;
    tree.cpu_teller = NULL;
    tree.filter = 0;
    tree.descriptors = (struct kernel_descriptors){.soft = 1024, .hard = 4096, .open = 3};
    tree.papi = false;
    tree.papi_name[0] = '\0';
    pthread_mutex_unlock(&tree.lock);
}

static ssize_t scripted_file_copy(const struct file *f, char *buf, size_t cap)
{
    if (!f)
        return -ENOENT;
    if (f->err)
        return -f->err;
    if (!f->text)
        return -EISDIR;
    size_t len = strlen(f->text);
    size_t fits = len < cap ? len : cap - 1;
    memcpy(buf, f->text, fits);
    buf[fits] = '\0';
    return fits < len ? -EFBIG : (ssize_t)len;
}

ssize_t scripted_read_file(const char *path, char *buf, size_t cap)
{
    if (cap == 0)
        return -EINVAL;
    buf[0] = '\0';
    pthread_mutex_lock(&tree.lock);
    ssize_t n = scripted_file_copy(scripted_find(path), buf, cap);
    pthread_mutex_unlock(&tree.lock);
    return n;
}

static int scripted_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names right below `path`, each once, sorted. @return their number, or -errno. */
static int scripted_names_below(const char *path, char **names)
{
    size_t prefix = strlen(path), n = 0;
    const struct file *self = scripted_find(path);
    if (self && (self->err || self->text))
        return self->err ? -self->err : -ENOTDIR;
    for (size_t i = 0; i < tree.n; i++) {
        const char *full = tree.files[i].path;
        if (strncmp(full, path, prefix) != 0 || full[prefix] != '/')
            continue;
        const char *name = full + prefix + 1;
        char *first = strndup(name, strcspn(name, "/"));
        if (!first)
            abort();
        names[n++] = first;
    }
    if (n == 0 && !self)
        return -ENOENT;
    qsort(names, n, sizeof *names, scripted_by_text);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept && strcmp(names[kept - 1], names[i]) == 0)
            free(names[i]);
        else
            names[kept++] = names[i];
    }
    return (int)kept;
}

int scripted_list_dir(const char *path, int (*each)(const char *name, void *arg), void *arg)
{
    char **names = calloc(FILES_MAX, sizeof *names);
    if (!names)
        abort();
    pthread_mutex_lock(&tree.lock);
    int n = scripted_names_below(path, names);
    pthread_mutex_unlock(&tree.lock);
    int rc = n < 0 ? n : 0;
    for (int i = 0; i < n; i++) {
        if (rc == 0)
            rc = each(names[i], arg);
        free(names[i]);
    }
    free(names);
    return rc;
}
