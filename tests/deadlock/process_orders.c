/* SPDX-License-Identifier: MIT */
/* Processes that acquire shared locks in orders which contradict each other, without a deadlock. See process_orders.sh. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 8192 };

struct locks {
    pthread_mutex_t a, b, gate;
    int taken; /* one order was taken */
};

static void must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(rc));
    _exit(1);
}
#define MUST(call) must((call), #call)

static void make(struct locks *l)
{
    pthread_mutexattr_t m;
    MUST(pthread_mutexattr_init(&m));
    MUST(pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED));
    MUST(pthread_mutex_init(&l->a, &m));
    MUST(pthread_mutex_init(&l->b, &m));
    MUST(pthread_mutex_init(&l->gate, &m));
}

static void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
    MUST(pthread_mutex_lock(first));
    MUST(pthread_mutex_lock(second));
    MUST(pthread_mutex_unlock(second));
    MUST(pthread_mutex_unlock(first));
}

/* One order, then the other one: at the same time they would now and then be the deadlock. A recorder sees no order in this. */
static void take_first(struct locks *l)
{
    take(&l->a, &l->b);
    __atomic_store_n(&l->taken, 1, __ATOMIC_RELEASE);
}

static void take_then(struct locks *l)
{
    while (!__atomic_load_n(&l->taken, __ATOMIC_ACQUIRE))
        usleep(1000);
    take(&l->b, &l->a);
}

static struct locks *map_at(int fd, void *at)
{
    struct locks *l = mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
    must(l == MAP_FAILED ? errno : 0, "mmap");
    return l;
}

/* At another address than in a process that maps it first. */
static struct locks *map_elsewhere(int fd)
{
    char *space = mmap(NULL, (size_t)64 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(space == MAP_FAILED ? errno : 0, "mmap");
    return map_at(fd, space + (size_t)8 * BYTES);
}

static int new_memory(void)
{
    int fd = memfd_create("locks", 0);
    must(fd < 0 || ftruncate(fd, BYTES) != 0 ? errno : 0, "memfd_create");
    make(map_at(fd, NULL));
    return fd;
}

static pid_t must_fork(void)
{
    pid_t child = fork();
    must(child < 0 ? errno : 0, "fork");
    return child;
}

static void wait_for(pid_t child)
{
    int status = 0;
    must(waitpid(child, &status, 0) != child || status != 0, "a child failed");
}

static void inverted(void)
{
    int fd = new_memory();
    pid_t child = must_fork();
    struct locks *l = child ? map_at(fd, NULL) : map_elsewhere(fd);
    if (child == 0) {
        take_then(l);
        _exit(0);
    }
    take_first(l);
    wait_for(child);
}

static void gated(void)
{
    struct locks *l = map_at(new_memory(), NULL);
    pid_t child = must_fork();
    MUST(pthread_mutex_lock(&l->gate));
    take(child ? &l->a : &l->b, child ? &l->b : &l->a);
    MUST(pthread_mutex_unlock(&l->gate));
    if (child == 0)
        _exit(0);
    wait_for(child);
}

/* Nothing runs in parallel with the child. */
static void ordered(void)
{
    struct locks *l = map_at(new_memory(), NULL);
    take(&l->a, &l->b);
    pid_t child = must_fork();
    if (child == 0) {
        take(&l->b, &l->a);
        _exit(0);
    }
    wait_for(child);
    take(&l->a, &l->b);
}

/* What was acquired before the fork is acquired once more after it. */
static void again(void)
{
    struct locks *l = map_at(new_memory(), NULL);
    take(&l->a, &l->b);
    pid_t child = must_fork();
    if (child == 0) {
        take_then(l);
        _exit(0);
    }
    take_first(l);
    wait_for(child);
}

/* Children of one process, one after the other. */
static void in_turn(void)
{
    struct locks *l = map_at(new_memory(), NULL);
    for (int i = 0; i < 2; i++) {
        pid_t child = must_fork();
        if (child == 0) {
            take(i ? &l->a : &l->b, i ? &l->b : &l->a);
            _exit(0);
        }
        wait_for(child);
    }
}

/* A process that does not record, as it takes no lock, between two that do. */
static void grandchild(void)
{
    struct locks *l = map_at(new_memory(), NULL);
    take(&l->a, &l->b);
    pid_t child = must_fork();
    if (child == 0) {
        pid_t next = must_fork();
        if (next == 0)
            take(&l->b, &l->a);
        else
            wait_for(next);
        _exit(0);
    }
    wait_for(child);
}

/* Runs this program, which takes the locks of the descriptor in the other order. */
static void run_command(int fd)
{
    char self[4096] = "", command[4200];
    must(readlink("/proc/self/exe", self, sizeof self - 1) < 0 ? errno : 0, "readlink");
    snprintf(command, sizeof command, "exec '%s' command %d", self, fd);
    must(system(command) != 0, "the command failed");
}

static void command(int fd)
{
    struct locks *l = map_at(fd, NULL);
    take_then(l);
}

static void by_system(void)
{
    int fd = new_memory();
    struct locks *l = map_at(fd, NULL);
    take_first(l);
    run_command(fd);
    take_first(l);
}

static void *while_it_runs(void *arg)
{
    struct locks *l = arg;
    take_first(l);
    return NULL;
}

static void beside_system(void)
{
    int fd = new_memory();
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, while_it_runs, map_at(fd, NULL)));
    run_command(fd);
    MUST(pthread_join(thread, NULL));
}

/* Behind a shell; `l`: taken before pclose(). */
static void pipe_command(int fd, struct locks *l)
{
    char self[4096] = "", text[4200];
    must(readlink("/proc/self/exe", self, sizeof self - 1) < 0 ? errno : 0, "readlink");
    snprintf(text, sizeof text, "'%s' command %d; exit 0", self, fd);
    FILE *f = popen(text, "r");
    must(f ? 0 : errno, "popen");
    if (l)
        take_first(l);
    must(pclose(f) != 0, "the command failed");
}

static void by_popen(void)
{
    int fd = new_memory();
    struct locks *l = map_at(fd, NULL);
    take_first(l);
    pipe_command(fd, NULL);
    take_first(l);
}

static void beside_popen(void)
{
    int fd = new_memory();
    pipe_command(fd, map_at(fd, NULL));
}

static pid_t spawn_command(int fd)
{
    char self[4096] = "", text[16];
    must(readlink("/proc/self/exe", self, sizeof self - 1) < 0 ? errno : 0, "readlink");
    snprintf(text, sizeof text, "%d", fd);
    char *const argv[] = {self, (char *)"command", text, NULL};
    pid_t pid;
    MUST(posix_spawn(&pid, self, NULL, NULL, argv, environ));
    return pid;
}

static void by_spawn(void)
{
    int fd = new_memory();
    struct locks *l = map_at(fd, NULL);
    take_first(l);
    wait_for(spawn_command(fd));
    take_first(l);
}

static void beside_spawn(void)
{
    int fd = new_memory();
    struct locks *l = map_at(fd, NULL);
    pid_t pid = spawn_command(fd);
    take_first(l);
    wait_for(pid);
}

static struct locks *views[2];

static void *other_way(void *arg)
{
    take_then(views[1]);
    return arg;
}

/* One process has the memory twice. */
static void twice(void)
{
    int fd = new_memory();
    pthread_t thread;
    views[0] = map_at(fd, NULL);
    views[1] = map_at(fd, NULL);
    MUST(pthread_create(&thread, NULL, other_way, NULL));
    take_first(views[0]);
    MUST(pthread_join(thread, NULL));
}

/* Robust mutexes, which libc does not distinguish from those of one process. */
static void robust(void)
{
    struct locks *l = map_at(new_memory(), NULL);
    pthread_mutexattr_t m;
    MUST(pthread_mutexattr_init(&m));
    MUST(pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED));
    MUST(pthread_mutexattr_setrobust(&m, PTHREAD_MUTEX_ROBUST));
    MUST(pthread_mutex_init(&l->a, &m));
    MUST(pthread_mutex_init(&l->b, &m));
    pid_t child = must_fork();
    if (child == 0) {
        take_then(l);
        _exit(0);
    }
    take_first(l);
    wait_for(child);
}

/* Locks of the same addresses in memory that each process has for itself. */
static void copies(void)
{
    static struct locks own;
    make(&own);
    pid_t child = must_fork();
    take(child ? &own.a : &own.b, child ? &own.b : &own.a);
    if (child == 0)
        _exit(0);
    wait_for(child);
}

/* Other locks come to the same addresses. */
static void replaced(void)
{
    int first = new_memory(), second = new_memory();
    struct locks *l = map_at(first, NULL);
    pid_t child = must_fork();
    if (child == 0) {
        l = map_at(second, NULL);
        take(&l->b, &l->a);
        _exit(0);
    }
    take(&l->a, &l->b);
    must(munmap(l, BYTES) != 0, "munmap");
    l = map_at(second, l);
    take(&l->gate, &l->a);
    wait_for(child);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"inverted", inverted},   {"gated", gated},
        {"ordered", ordered},     {"again", again},
        {"in_turn", in_turn},     {"grandchild", grandchild},
        {"twice", twice},         {"robust", robust},
        {"copies", copies},       {"replaced", replaced},
        {"by_system", by_system}, {"beside_system", beside_system},
        {"by_popen", by_popen},   {"beside_popen", beside_popen},
        {"by_spawn", by_spawn},   {"beside_spawn", beside_spawn},
    };
    if (argc == 3 && strcmp(argv[1], "command") == 0) {
        command(atoi(argv[2]));
        return 0;
    }
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    return 2;
}
