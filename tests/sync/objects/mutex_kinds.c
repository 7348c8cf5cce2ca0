/* SPDX-License-Identifier: MIT */
/* Mutexes of all types under the contention filter: type and holder, also in other and dead processes. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>

#include "../read_object.h"

enum {
    KIND_FLAGS = UPMU_TRACE_FLAG_RECURSIVE | UPMU_TRACE_FLAG_ERRORCHECK | UPMU_TRACE_FLAG_ROBUST | UPMU_TRACE_FLAG_PI |
                 UPMU_TRACE_FLAG_PSHARED
};

/* The flags of the first event of that kind about the object; all ones if there is none. */
static uint32_t flags_of(const void *object, int kind)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    uint32_t flags = UINT32_MAX;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while (flags == UINT32_MAX && upmu_trace_next(t, &e) > 0)
        if (e->object == (uintptr_t)object && e->kind == kind)
            flags = e->flags;
    upmu_trace_close(t);
    return flags;
}

static void *lock_unlock(void *m)
{
    lock(m);
    unlock(m);
    return NULL;
}

static void init_kind(pthread_mutex_t *m, uint32_t kind)
{
    pthread_mutexattr_t a;
    int type = kind & UPMU_TRACE_FLAG_RECURSIVE    ? PTHREAD_MUTEX_RECURSIVE
               : kind & UPMU_TRACE_FLAG_ERRORCHECK ? PTHREAD_MUTEX_ERRORCHECK
                                                   : PTHREAD_MUTEX_NORMAL;
    CHECK(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_settype(&a, type) == 0);
    CHECK(!(kind & UPMU_TRACE_FLAG_ROBUST) || pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(!(kind & UPMU_TRACE_FLAG_PI) || pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(!(kind & UPMU_TRACE_FLAG_PSHARED) || pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutex_init(m, &a) == 0 && pthread_mutexattr_destroy(&a) == 0);
}

/* Every combination that can be: contended once, with us as the holder. */
static void each_kind_is_recorded_with_its_holder(void)
{
    enum { KINDS = 3 * 8 };
    static pthread_mutex_t m[KINDS];
    static const uint32_t types[] = {0, UPMU_TRACE_FLAG_RECURSIVE, UPMU_TRACE_FLAG_ERRORCHECK};
    pthread_t t;
    begin(UPMU_SYNC_CONTENDED);
    for (uint32_t i = 0; i < KINDS; i++) {
        uint32_t kind = types[i % 3] | (i / 3 & 1 ? UPMU_TRACE_FLAG_ROBUST : 0) | (i / 3 & 2 ? UPMU_TRACE_FLAG_PI : 0) |
                        (i / 3 & 4 ? UPMU_TRACE_FLAG_PSHARED : 0);
        init_kind(&m[i], kind);
        lock(&m[i]);
        CHECK(pthread_create(&t, NULL, lock_unlock, &m[i]) == 0);
        until_blocked(&m[i], 1);
        unlock(&m[i]);
        CHECK(pthread_join(t, NULL) == 0);
        struct seen s = read_object(&m[i]);
        CHECK((flags_of(&m[i], UPMU_TRACE_LOCK_INIT) & KIND_FLAGS) == kind);
        if (kind & UPMU_TRACE_FLAG_ROBUST)
            kind &= ~(uint32_t)UPMU_TRACE_FLAG_PSHARED; /* not visible in glibc's mutex */
        CHECK((flags_of(&m[i], UPMU_TRACE_LOCK_BLOCK) & KIND_FLAGS) == kind);
        CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.kind[UPMU_TRACE_LOCK_ACQUIRED] == 1);
        CHECK(s.block.lock_block.holder == getpid() && s.block.lock_block.holder_site != 0 &&
              s.kind[UPMU_TRACE_LOCK_MISUSE] == 0);
    }
    end();
}

static void *die_holding(void *m)
{
    lock(m);
    return NULL;
}

static void a_dead_owner_is_acquired_from(void)
{
    static pthread_mutex_t m;
    begin(UPMU_SYNC_CONTENDED);
    init_kind(&m, UPMU_TRACE_FLAG_ROBUST);
    in_thread(die_holding, &m);
    CHECK(pthread_mutex_lock(&m) == EOWNERDEAD && pthread_mutex_consistent(&m) == 0);
    unlock(&m);
    CHECK(pthread_mutex_consistent(&m) == EINVAL);
    end();
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRE] == 1 && s.kind[UPMU_TRACE_LOCK_CONSISTENT] == 2 && s.counted == 2);
}

/* A forked child waits for a mutex that we hold, in memory of both. */
static void the_holder_may_be_another_process(void)
{
    pthread_mutex_t *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    CHECK(m != MAP_FAILED);
    init_kind(m, UPMU_TRACE_FLAG_PSHARED);
    lock(m);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        begin(UPMU_SYNC_CONTENDED);
        lock_unlock(m);
        end();
        exit(0);
    }
    until_blocked(m, 1);
    unlock(m);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct seen s = read_object(m);
    CHECK(s.block.pid == pid && s.block.lock_block.holder == getpid() && s.block.lock_block.holder_site == 0);
    CHECK(s.block.flags & UPMU_TRACE_FLAG_PSHARED);
}

static int c11_lock_unlock(void *m)
{
    CHECK(mtx_lock(m) == thrd_success && mtx_unlock(m) == thrd_success);
    return 0;
}

static void c11_mutexes_are_filtered_as_others(void)
{
    static mtx_t m;
    thrd_t t;
    begin(UPMU_SYNC_CONTENDED);
    CHECK(mtx_init(&m, mtx_plain | mtx_recursive) == thrd_success);
    for (int i = 0; i < 20; i++)
        c11_lock_unlock(&m);
    CHECK(read_object(&m).kind[UPMU_TRACE_LOCK_ACQUIRE] == 0);
    CHECK(mtx_lock(&m) == thrd_success && mtx_lock(&m) == thrd_success && mtx_unlock(&m) == thrd_success);
    CHECK(thrd_create(&t, c11_lock_unlock, &m) == thrd_success);
    until_blocked(&m, 1);
    CHECK(mtx_unlock(&m) == thrd_success && thrd_join(t, NULL) == thrd_success);
    mtx_destroy(&m);
    end();
    struct seen s = read_object(&m);
    CHECK(s.counted == 23 && s.contended == 1 && s.kind[UPMU_TRACE_LOCK_MISUSE] == 0);
    CHECK(s.block.lock_block.holder == getpid() && s.block.lock_block.holder_site != 0 &&
          s.block.flags & UPMU_TRACE_FLAG_RECURSIVE);
    CHECK(s.kind[UPMU_TRACE_LOCK_INIT] == 1 && s.kind[UPMU_TRACE_LOCK_DESTROY] == 1);
}

static void *unlock_c11(void *m)
{
    CHECK(mtx_unlock(m) == thrd_success);
    return NULL;
}

static void c11_misuse_is_reported(void)
{
    static mtx_t held, m;
    CHECK(mtx_init(&held, mtx_plain) == thrd_success && mtx_init(&m, mtx_plain) == thrd_success);
    CHECK(mtx_lock(&held) == thrd_success);
    begin(UPMU_SYNC_CONTENDED);
    CHECK(mtx_unlock(&held) == thrd_success); /* taken before anybody looked: no misuse */
    CHECK(mtx_lock(&m) == thrd_success);
    in_thread(unlock_c11, &m); /* foreign */
    CHECK(mtx_lock(&m) == thrd_success && mtx_unlock(&m) == thrd_success);
    mtx_unlock(&m); /* double: the foreign release has taken the first acquisition out of our books */
    end();
    CHECK(read_object(&held).kind[UPMU_TRACE_LOCK_MISUSE] == 0 && read_object(&m).kind[UPMU_TRACE_LOCK_MISUSE] == 2);
}

static mtx_t cond_mutex;
static cnd_t cond;
static int turn;

static int wait_for_turn(void *arg)
{
    (void)arg;
    mtx_lock(&cond_mutex);
    while (turn == 0)
        cnd_wait(&cond, &cond_mutex);
    mtx_unlock(&cond_mutex);
    return 0;
}

/* The wait gives the mutex back and takes it again: in between another thread gets it without a wait. */
static void c11_waits_give_the_mutex_back(void)
{
    thrd_t t;
    CHECK(mtx_init(&cond_mutex, mtx_plain) == thrd_success && cnd_init(&cond) == thrd_success);
    begin(UPMU_SYNC_HOLDERS);
    CHECK(thrd_create(&t, wait_for_turn, NULL) == thrd_success);
    while (read_object(&cond).kind[UPMU_TRACE_COND_WAIT] == 0)
        usleep(1000);
    CHECK(mtx_lock(&cond_mutex) == thrd_success);
    turn = 1;
    CHECK(cnd_signal(&cond) == thrd_success && mtx_unlock(&cond_mutex) == thrd_success);
    CHECK(thrd_join(t, NULL) == thrd_success);
    end();
    struct seen s = read_object(&cond), m = read_object(&cond_mutex);
    CHECK(s.kind[UPMU_TRACE_COND_WAKE] == s.kind[UPMU_TRACE_COND_WAIT] && s.kind[UPMU_TRACE_COND_SIGNAL] == 1);
    CHECK(m.kind[UPMU_TRACE_LOCK_MISUSE] == 0);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    a_dead_owner_is_acquired_from();
    the_holder_may_be_another_process();
    each_kind_is_recorded_with_its_holder();
    if (UNDER_THREAD_SANITIZER) {
        printf("C11 threads and misused locks are left out: ThreadSanitizer does not support them\n");
        return remove_recording();
    }
    c11_mutexes_are_filtered_as_others();
    c11_misuse_is_reported();
    c11_waits_give_the_mutex_back();
    return remove_recording();
}
