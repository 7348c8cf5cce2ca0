/* SPDX-License-Identifier: MIT */
/*
 * Hard cases of the contention filter for mutexes, read back through the public reader.
 *
 * Recording begun with a lock held, recursive locks, releases by the wrong thread, modes switched at run time, types of
 * mutexes with other results.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "read_object.h"
#include "robust.h"
#include "trace/format/control.h"

static void *lock_unlock(void *m)
{
    lock(m);
    unlock(m);
    return NULL;
}

static void *unlock_only(void *m)
{
    CHECK(pthread_mutex_unlock(m) == 0);
    return NULL;
}

static void *lock_only(void *m)
{
    lock(m);
    return NULL;
}

static void *not_recoverable(void *m)
{
    CHECK(pthread_mutex_lock(m) == ENOTRECOVERABLE);
    return NULL;
}

/* A thread that finds the lock taken; the caller holds it. */
static void blocked_by_us(pthread_mutex_t *m)
{
    pthread_t t;
    unsigned before = read_object(m).kind[UPMU_TRACE_LOCK_BLOCK];
    CHECK(pthread_create(&t, NULL, lock_unlock, m) == 0);
    until_blocked(m, before + 1);
    usleep(5000); /* after the event of its wait it does wait */
    unlock(m);
    CHECK(pthread_join(t, NULL) == 0);
}

static void begun_with_a_lock_held(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    lock(&m);
    begin(UPMU_SYNC_CONTENDED);
    blocked_by_us(&m);
    lock(&m);
    unlock(&m);
    end();
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_MISUSE] == 0);
    /* The holder is known by name; where and since when it took the lock was not seen, and is not made up. */
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.block.lock_block.holder == getpid());
    CHECK(s.block.lock_block.holder_site == 0 && s.block.lock_block.holder_since == 0);
}

static void recursion_has_one_holder(void)
{
    static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    begin(UPMU_SYNC_HOLDERS);
    lock(&m);
    struct seen before = read_object(&m);
    lock(&m);
    lock(&m);
    unlock(&m);
    unlock(&m);
    blocked_by_us(&m);
    CHECK(pthread_mutex_unlock(&m) == EPERM);
    end();
    struct seen s = read_object(&m);
    CHECK(before.kind[UPMU_TRACE_LOCK_BLOCK] == 0);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.block.lock_block.holder == getpid() &&
          s.block.lock_block.holder_site != 0);
    /* Held since the first of three acquisitions: longer ago than the wait began by the two others at least. */
    CHECK(s.block.lock_block.holder_since != 0 && s.block.lock_block.holder_since < s.block.time_ns - 1000);
    CHECK(s.kind[UPMU_TRACE_LOCK_MISUSE] == 1 && s.misuse_result == EPERM);
}

static void releases_by_others_are_reported(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
    begin(UPMU_SYNC_CONTENDED);
    lock(&outer);
    lock(&m);
    in_thread(unlock_only, &m); /* foreign */
    /* The books of this thread are undisturbed: its other lock is still known to be held, with its site. */
    blocked_by_us(&outer);
    lock(&m);
    unlock(&m);
    pthread_mutex_unlock(&m); /* double, and glibc reports nothing */
    end();
    struct seen s = read_object(&m), o = read_object(&outer);
    CHECK(s.kind[UPMU_TRACE_LOCK_MISUSE] >= 1 && s.misuse_result == 0);
    CHECK(o.kind[UPMU_TRACE_LOCK_MISUSE] == 0 && o.kind[UPMU_TRACE_LOCK_BLOCK] == 1 &&
          o.block.lock_block.holder_site != 0);
}

static void out_of_order_release_is_fine(void)
{
    static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
    begin(UPMU_SYNC_ALL);
    lock(&a);
    lock(&b);
    lock(&c);
    unlock(&a);
    unlock(&c);
    blocked_by_us(&b);
    end();
    struct seen s[3] = {read_object(&a), read_object(&b), read_object(&c)};
    for (int i = 0; i < 3; i++)
        CHECK(s[i].kind[UPMU_TRACE_LOCK_MISUSE] == 0 && s[i].kind[UPMU_TRACE_LOCK_ACQUIRE] == 1);
    CHECK(s[1].kind[UPMU_TRACE_LOCK_RELEASE] == 2 && s[1].block.lock_block.holder_since != 0);
}

static void off_and_on_again_forgets_what_was_released(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    begin(UPMU_SYNC_HOLDERS);
    lock(&m);
    end();
    unlock(&m);
    lock(&m); /* not recorded */
    begin(UPMU_SYNC_HOLDERS);
    blocked_by_us(&m);
    end();
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.block.lock_block.holder == getpid());
    CHECK(s.block.lock_block.holder_site == 0 && s.block.lock_block.holder_since == 0);
}

static void modes_switch_while_running(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    begin(UPMU_SYNC_COUNTS);
    for (int i = 0; i < 10; i++)
        lock_unlock(&m);
    CHECK(read_object(&m).kind[UPMU_TRACE_LOCK_ACQUIRE] == 0);
    CHECK(upmu_sync_set_mode(UPMU_SYNC_ALL) == UPMU_SYNC_COUNTS);
    for (int i = 0; i < 7; i++)
        lock_unlock(&m);
    CHECK(upmu_sync_set_mode(UPMU_SYNC_CONTENDED) == UPMU_SYNC_ALL);
    for (int i = 0; i < 5; i++)
        lock_unlock(&m);
    CHECK(upmu_sync_set_mode(77) == UPMU_E_INVAL && upmu_sync_set_mode(-1) == UPMU_E_INVAL);
    end();
    CHECK(upmu_sync_set_mode(UPMU_SYNC_ALL) == UPMU_E_STATE);
    lock_unlock(&m);
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRE] == 7 && s.kind[UPMU_TRACE_LOCK_RELEASE] == 7);
    CHECK(s.counted == 22 && s.contended == 0);
}

/* As another process does it: by the mode word of the control file. */
static void the_control_file_switches(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    char pattern[sizeof dir + 32];
    glob_t found;
    begin(UPMU_SYNC_COUNTS);
    snprintf(pattern, sizeof pattern, "%s/*/" CONTROL_FILE, dir);
    CHECK(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1);
    int fd = open(found.gl_pathv[0], O_RDWR);
    CHECK(fd >= 0);
    struct control_header *control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(control != MAP_FAILED && control->mode == 1 + UPMU_SYNC_COUNTS);
    lock_unlock(&m);
    control->mode = 0;
    for (int i = 0; i < 5; i++)
        lock_unlock(&m);
    control->mode = 1 + UPMU_SYNC_ALL;
    for (int i = 0; i < 3; i++)
        lock_unlock(&m);
    end();
    CHECK(control->mode == 0);
    munmap(control, sizeof *control);
    close(fd);
    globfree(&found);
    struct seen s = read_object(&m);
    CHECK(s.counted == 4 && s.kind[UPMU_TRACE_LOCK_ACQUIRE] == 3 && s.kind[UPMU_TRACE_LOCK_RELEASE] == 3);
}

static void after_contention_acquisitions_are_recorded(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    begin(UPMU_SYNC_CONTENDED);
    for (int i = 0; i < 100; i++)
        lock_unlock(&m);
    CHECK(read_object(&m).kind[UPMU_TRACE_LOCK_ACQUIRE] == 0);
    lock(&m);
    blocked_by_us(&m);
    for (int i = 0; i < 200; i++)
        lock_unlock(&m);
    end();
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRE] == 64);
    /* Ours that was waited for, the waiter's own, and those recorded. */
    CHECK(s.kind[UPMU_TRACE_LOCK_RELEASE] == 66);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRED] == 1);
}

/* The first block of a lock: nothing of it was recorded before. */
static void the_hold_of_the_first_block_is_whole(void)
{
    enum { HELD_US = 20000 };
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    const struct upmu_sync_opts defaults = {.size = sizeof defaults, .trace = dir};
    CHECK(upmu_sync_begin(&defaults) == 0);
    lock(&m);
    CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
    usleep(HELD_US);
    blocked_by_us(&m);
    CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    end();
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.kind[UPMU_TRACE_LOCK_ACQUIRE] == 0);
    CHECK(s.block.lock_block.holder_since != 0 && s.block.time_ns - s.block.lock_block.holder_since >= HELD_US * 1000u);
    CHECK(s.release_since == s.block.lock_block.holder_since && s.release_site == s.block.lock_block.holder_site);
}

/* What is recorded of a hold has its end, also if recording was stopped before. */
static void a_hold_ends_after_the_recording(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, quiet = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    const struct timespec past = {0};
    begin(UPMU_SYNC_ALL);
    lock(&m);
    end();
    unlock(&m);
    CHECK(read_object(&m).kind[UPMU_TRACE_LOCK_RELEASE] == 1);
    begin(UPMU_SYNC_ALL);
    lock(&m);
    end();
    CHECK(pthread_cond_timedwait(&cond, &m, &past) == ETIMEDOUT);
    unlock(&m);
    CHECK(read_object(&m).kind[UPMU_TRACE_LOCK_RELEASE] == 2);
    begin(UPMU_SYNC_HOLDERS);
    lock(&quiet);
    end();
    unlock(&quiet);
    CHECK(read_object(&quiet).kind[UPMU_TRACE_LOCK_RELEASE] == 0);
}

static void begin_sampling(uint32_t mode, uint32_t sample)
{
    struct upmu_sync_opts o = {.size = sizeof o, .mode = mode, .trace = dir, .sample = sample};
    CHECK(upmu_sync_begin(&o) == 0);
}

static void expect_samples(const void *object, unsigned n)
{
    struct seen s = read_object(object);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRE] == n && s.sampled_kind[UPMU_TRACE_LOCK_ACQUIRE] == n);
    CHECK(s.kind[UPMU_TRACE_LOCK_RELEASE] == n && s.sampled_kind[UPMU_TRACE_LOCK_RELEASE] == n);
    CHECK(s.counted + s.counted_shared == 100);
}

static void one_in_n_without_contention_is_sampled(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, quiet = PTHREAD_MUTEX_INITIALIZER;
    static pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    static char own;
    begin_sampling(UPMU_SYNC_CONTENDED, 10);
    for (int i = 0; i < 100; i++) {
        lock_unlock(&m);
        CHECK(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
        upmu_lock_acquired(&own);
        upmu_lock_released(&own);
    }
    end();
    begin_sampling(UPMU_SYNC_HOLDERS, UPMU_SYNC_NO_SAMPLES);
    for (int i = 0; i < 100; i++)
        lock_unlock(&quiet);
    end();
    begin_sampling(UPMU_SYNC_COUNTS, 10);
    for (int i = 0; i < 100; i++)
        lock_unlock(&counted);
    end();
    expect_samples(&m, 10);
    expect_samples(&rwlock, 10);
    expect_samples(&own, 10);
    expect_samples(&quiet, 0);
    expect_samples(&counted, 0);
}

/* A thread waits for a sampled hold: it stays a sample, and the waiter has its begin time. */
static void a_sampled_hold_may_be_waited_for(void)
{
    static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    begin_sampling(UPMU_SYNC_CONTENDED, 3);
    lock_unlock(&m);
    lock_unlock(&m);
    lock(&m); /* the third */
    lock_unlock(&m);
    blocked_by_us(&m);
    end();
    struct seen s = read_object(&m);
    CHECK(s.sampled_kind[UPMU_TRACE_LOCK_ACQUIRE] == 1 && s.sampled_kind[UPMU_TRACE_LOCK_RELEASE] == 1);
    CHECK(s.block.lock_block.holder_since != 0 && s.block.lock_block.holder_since < s.block.time_ns);
    CHECK(s.kind[UPMU_TRACE_LOCK_MISUSE] == 0);
}

static void kinds_answer_as_without_us(void)
{
    pthread_mutex_t m;
    pthread_mutexattr_t a;
    begin(UPMU_SYNC_CONTENDED);
    CHECK(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK) == 0);
    CHECK(pthread_mutex_init(&m, &a) == 0);
    CHECK(pthread_mutex_unlock(&m) == EPERM);
    lock(&m);
    CHECK(pthread_mutex_lock(&m) == EDEADLK && pthread_mutex_trylock(&m) == EBUSY);
    unlock(&m);
    end();
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_FAILED] == 1); /* EDEADLK */
    CHECK(s.kind[UPMU_TRACE_LOCK_MISUSE] == 1);
    CHECK(pthread_mutex_destroy(&m) == 0);
}

static void dead_owners_are_reported_as_without_us(void)
{
    static pthread_mutex_t m; /* at an address of its own */
    pthread_mutexattr_t a;
    begin(UPMU_SYNC_CONTENDED);
    CHECK(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK) == 0);
    CHECK(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0 && pthread_mutex_init(&m, &a) == 0);
    in_thread(lock_only, &m);
    CHECK(pthread_mutex_lock(&m) == EOWNERDEAD); /* an acquisition all the same */
    CHECK(pthread_mutex_consistent(&m) == 0);
    unlock(&m);
    in_thread(lock_only, &m);
    CHECK(pthread_mutex_trylock(&m) == EOWNERDEAD);
    unlock(&m); /* not made consistent: ENOTRECOVERABLE from now on */
    CHECK(pthread_mutex_lock(&m) == ENOTRECOVERABLE && pthread_mutex_lock(&m) == ENOTRECOVERABLE);
    in_thread(not_recoverable, &m);
    end();
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRE] == 2); /* the two that found their owner dead */
    CHECK(s.kind[UPMU_TRACE_LOCK_FAILED] == 3);  /* the three that it is lost for */
    CHECK(s.kind[UPMU_TRACE_LOCK_MISUSE] == 0);
}

static atomic_flag spin = ATOMIC_FLAG_INIT;

static void spin_lock(void)
{
    static pthread_mutex_t waiters = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_flag_test_and_set(&spin)) {
        upmu_lock_will_acquire(&spin);
        while (atomic_flag_test_and_set(&spin)) {
            lock_unlock(&waiters); /* waiting that uses other locks */
            usleep(100);
        }
    }
    upmu_lock_acquired(&spin);
}

static void spin_unlock(void)
{
    upmu_lock_released(&spin);
    atomic_flag_clear(&spin);
}

static void *spinner(void *arg)
{
    spin_lock();
    spin_unlock();
    return arg;
}

static void locks_of_ones_own(void)
{
    pthread_t t;
    upmu_lock_will_acquire(&spin); /* while off: nothing */
    upmu_lock_acquired(&spin);
    upmu_lock_released(&spin);
    begin(UPMU_SYNC_CONTENDED);
    upmu_lock_announce(&spin, "spin");
    upmu_lock_name(&spin, "the spin lock");
    spin_lock();
    CHECK(pthread_create(&t, NULL, spinner, NULL) == 0);
    until_blocked(&spin, 1);
    spin_unlock();
    CHECK(pthread_join(t, NULL) == 0);
    upmu_lock_retired(&spin);
    end();
    struct seen s = read_object(&spin);
    CHECK(s.kind[UPMU_TRACE_LOCK_INIT] == 1 && s.kind[UPMU_TRACE_LOCK_NAME] == 1 &&
          s.kind[UPMU_TRACE_LOCK_DESTROY] == 1);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.kind[UPMU_TRACE_LOCK_ACQUIRED] == 1);
    CHECK(s.block.lock_block.holder == getpid() && s.block.lock_block.holder_site != 0 &&
          s.block.object_type == UPMU_OBJECT_CUSTOM);
    CHECK(s.kind[UPMU_TRACE_LOCK_RELEASE] == 2); /* ours was waited for, the waiter's acquisition is in the trace */
}

static void many_locks_are_counted_exactly(void)
{
    enum { N = 5000 };
    static pthread_mutex_t m[N];
    for (int i = 0; i < N; i++)
        m[i] = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    begin(UPMU_SYNC_CONTENDED);
    for (int i = 0; i < N; i++)
        for (int k = 0; k <= i % 3; k++)
            lock_unlock(&m[i]);
    end();
    CHECK(read_object(&m[0]).counted == 1 && read_object(&m[N - 1]).counted == 1 + (N - 1) % 3 &&
          read_object(&m[2]).counted == 3);
}

static void many_held_at_once(void)
{
    enum { N = 200 };
    static pthread_mutex_t m[N];
    begin(UPMU_SYNC_CONTENDED);
    for (int i = 0; i < N; i++) {
        m[i] = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        lock(&m[i]);
    }
    for (int i = 0; i < N; i++)
        unlock(&m[i]);
    end();
    for (int i = 0; i < N; i += 50) {
        struct seen s = read_object(&m[i]);
        CHECK(s.counted == 1 && s.kind[UPMU_TRACE_LOCK_MISUSE] == 0);
    }
}

/* A child of a process that has ended its recording is off, and can begin one of its own. */
static void a_child_begins_by_itself(void)
{
    static pthread_mutex_t quiet = PTHREAD_MUTEX_INITIALIZER, loud = PTHREAD_MUTEX_INITIALIZER;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        in_thread(lock_unlock, &quiet);
        begin(UPMU_SYNC_ALL);
        in_thread(lock_unlock, &loud);
        end();
        exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(read_object(&quiet).kind[UPMU_TRACE_LOCK_ACQUIRE] == 0);
    struct seen s = read_object(&loud);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRE] == 1 && s.kind[UPMU_TRACE_LOCK_RELEASE] == 1 && s.counted == 1);
}

static void wrong_arguments(void)
{
    struct upmu_sync_opts o = {.size = sizeof o, .mode = 9, .trace = dir};
    CHECK(upmu_sync_end() == UPMU_E_STATE);
    CHECK(upmu_sync_begin(&o) == UPMU_E_INVAL);
    o = (struct upmu_sync_opts){.size = sizeof o, .stack_depth = 257, .trace = dir};
    CHECK(upmu_sync_begin(&o) == UPMU_E_INVAL && strstr(upmu_error(), "256"));
    o = (struct upmu_sync_opts){.size = 1};
    CHECK(upmu_sync_begin(&o) == UPMU_E_INVAL);
    o = (struct upmu_sync_opts){.size = sizeof o, .trace = "/proc/no/such/place"};
    CHECK(upmu_sync_begin(&o) == UPMU_E_IO);
    CHECK(upmu_sync_end() == UPMU_E_STATE);
}

int main(void)
{
    skip_under_thread_sanitizer();
    CHECK(mkdtemp(dir) != NULL);
    wrong_arguments();
    begun_with_a_lock_held();
    recursion_has_one_holder();
    releases_by_others_are_reported();
    out_of_order_release_is_fine();
    off_and_on_again_forgets_what_was_released();
    modes_switch_while_running();
    the_control_file_switches();
    after_contention_acquisitions_are_recorded();
    the_hold_of_the_first_block_is_whole();
    a_hold_ends_after_the_recording();
    one_in_n_without_contention_is_sampled();
    a_sampled_hold_may_be_waited_for();
    kinds_answer_as_without_us();
    if (robust_list_supported())
        dead_owners_are_reported_as_without_us();
    locks_of_ones_own();
    many_locks_are_counted_exactly();
    many_held_at_once();
    a_child_begins_by_itself();
    return remove_recording();
}
