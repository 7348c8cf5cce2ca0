/* SPDX-License-Identifier: MIT */
/*
 * Streams and the wait-state file, which another process truncates during a million events: the recorded program ends as it would, the report
 * states that packets are missing, and later threads are recorded.
 */
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "read_object.h"

enum { THREADS = 4, PAIRS = 125000, TIMES = 20, LAST = 100 };

static struct shared {
    atomic_int truncations; /* of files with a packet */
    atomic_int over;        /* the recorded process needs no more */
    _Atomic uintptr_t last;
} * shared;

static char recording[64];
static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER, last_lock = PTHREAD_MUTEX_INITIALIZER;
static long under_lock;

static void *work(void *arg)
{
    long n = 0;
    for (; n < PAIRS || atomic_load(&shared->truncations) < TIMES; n++) {
        if (n >= PAIRS) /* a disk may take long to free what it would have to */
            usleep(1000);
        CHECK(pthread_mutex_lock(&contended) == 0);
        under_lock++;
        CHECK(pthread_mutex_unlock(&contended) == 0);
    }
    *(long *)arg = n;
    return NULL;
}

static void *work_last(void *arg)
{
    for (int i = 0; i < LAST; i++) {
        CHECK(pthread_mutex_lock(&last_lock) == 0);
        CHECK(pthread_mutex_unlock(&last_lock) == 0);
    }
    return arg;
}

static void be_recorded(void)
{
    struct upmu_sync_opts o = {.size = sizeof o, .mode = UPMU_SYNC_ALL, .trace = recording};
    pthread_t t[THREADS], last;
    long pairs[THREADS], sum = 0;
    CHECK(signal(SIGBUS, SIG_DFL) != SIG_ERR); /* a sanitizer handles it */
    CHECK(upmu_sync_begin(&o) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, work, &pairs[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(t[i], NULL) == 0);
        sum += pairs[i];
    }
    CHECK(sum == under_lock);
    atomic_store(&shared->over, 1);
    while (atomic_load(&shared->over) != 2)
        usleep(1000);
    atomic_store(&shared->last, (uintptr_t)&last_lock);
    CHECK(pthread_create(&last, NULL, work_last, NULL) == 0 && pthread_join(last, NULL) == 0);
    exit(0);
}

static bool is_mapped(const char *name)
{
    return strncmp(name, "stream_", 7) == 0 || strcmp(name, ".live") == 0;
}

/* @return streams that had a packet */
static int truncate_files(const char *process)
{
    DIR *d = opendir(process);
    int n = 0;
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[1024];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", process, e->d_name);
        if (is_mapped(e->d_name) && stat(path, &st) == 0 && st.st_size > 0)
            n += truncate(path, 0) == 0 && e->d_name[0] != '.';
    }
    if (d)
        closedir(d);
    return n;
}

static int truncate_all(void)
{
    DIR *d = opendir(recording);
    int n = 0;
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", recording, e->d_name);
        if (e->d_name[0] != '.')
            n += truncate_files(path);
    }
    if (d)
        closedir(d);
    return n;
}

static bool has_ended(pid_t child, int *status)
{
    pid_t rc = waitpid(child, status, WNOHANG);
    CHECK(rc == 0 || rc == child);
    return rc == child;
}

int main(void)
{
    int status;
    char command[96];
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    struct upmu_trace_process p = {.size = sizeof p};
    unsigned seen = 0, problems = 0;
    if (UNDER_THREAD_SANITIZER) {
        printf(
            "skipped, because ThreadSanitizer blocks SIGBUS in its own code, in which the recorder's stores may be\n");
        return 77;
    }
    /* In memory, where there is such a directory: some disks take seconds for each truncation. */
    snprintf(recording, sizeof recording, "%s/upmu-sync-truncated-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(recording) != NULL);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        be_recorded();
    while (atomic_load(&shared->over) == 0) {
        CHECK(!has_ended(child, &status));
        atomic_fetch_add(&shared->truncations, truncate_all());
        usleep(2000);
    }
    atomic_store(&shared->over, 2);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);

    CHECK(upmu_trace_open(&t, recording) == 0 && upmu_trace_process_at(t, 0, &p) == 0);
    for (int rc; (rc = upmu_trace_next(t, &e)) != 0 && problems < 100;) {
        if (rc < 0)
            problems++;
        else
            seen += e->kind == UPMU_TRACE_LOCK_RELEASE && e->object == atomic_load(&shared->last);
    }
    printf("%d truncations, %" PRIu64 " events counted as lost, %u problems: %s\n", atomic_load(&shared->truncations),
           p.lost, problems, upmu_error());
    CHECK(p.lost > 0 && problems > 0);
    CHECK(seen == LAST);
    upmu_trace_close(t);
    snprintf(command, sizeof command, "rm -rf %s", recording);
    CHECK(system(command) == 0);
    return 0;
}
