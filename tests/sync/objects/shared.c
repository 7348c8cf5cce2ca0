/* SPDX-License-Identifier: MIT */
/*
 * The contention filter for rwlocks and spin locks, read back through the public reader.
 *
 * Several readers, the recorded holder, exact counts of readers and writers, complete waits, and hard cases: recording begun
 * with a lock held, locked several times by one thread, released twice or by another thread.
 */
#include <errno.h>
#include <time.h>

#include "../read_object.h"

static struct timespec soon(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += 20000000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    return ts;
}

static void *read_once(void *l)
{
    CHECK(pthread_rwlock_rdlock(l) == 0 && pthread_rwlock_unlock(l) == 0);
    return NULL;
}

static void *write_once(void *l)
{
    CHECK(pthread_rwlock_wrlock(l) == 0 && pthread_rwlock_unlock(l) == 0);
    return NULL;
}

static void *unlock_only(void *l)
{
    CHECK(pthread_rwlock_unlock(l) == 0);
    return NULL;
}

/* A thread that finds the lock taken by us; then we give it back, `times` over. */
static void blocked_by_us(pthread_rwlock_t *l, void *(*f)(void *), int times)
{
    pthread_t t;
    CHECK(pthread_create(&t, NULL, f, l) == 0);
    until_blocked(l, 1);
    while (times-- > 0)
        CHECK(pthread_rwlock_unlock(l) == 0);
    CHECK(pthread_join(t, NULL) == 0);
}

static void uncontended_use_is_only_counted(void)
{
    static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    begin(UPMU_SYNC_CONTENDED);
    for (int i = 0; i < 50; i++)
        read_once(&l);
    for (int i = 0; i < 20; i++)
        write_once(&l);
    CHECK(pthread_rwlock_tryrdlock(&l) == 0 && pthread_rwlock_trywrlock(&l) == EBUSY);
    CHECK(pthread_rwlock_unlock(&l) == 0 && pthread_rwlock_trywrlock(&l) == 0 && pthread_rwlock_unlock(&l) == 0);
    end();
    struct seen s = read_object(&l);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRE] == 0 && s.kind[UPMU_TRACE_LOCK_RELEASE] == 0);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 0 && s.kind[UPMU_TRACE_LOCK_FAILED] == 0);
    CHECK(s.counted_shared == 51 && s.counted == 21 && s.contended == 0 && s.contended_shared == 0);
}

static void a_reader_waits_for_the_writer(void)
{
    static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    begin(UPMU_SYNC_CONTENDED);
    CHECK(pthread_rwlock_wrlock(&l) == 0);
    blocked_by_us(&l, read_once, 1);
    end();
    struct seen s = read_object(&l);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.shared_kind[UPMU_TRACE_LOCK_BLOCK] == 1);
    CHECK(s.block.object_type == UPMU_OBJECT_RWLOCK && s.block.stack != 0);
    CHECK(s.block.lock_block.holder == getpid() && s.block.lock_block.holder_site != 0 &&
          !(s.block.flags & UPMU_TRACE_FLAG_HOLDER_SHARED));
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRED] == 1 && s.shared_kind[UPMU_TRACE_LOCK_ACQUIRED] == 1);
    /* Our release, which a thread waited for, and the reader's own. */
    CHECK(s.kind[UPMU_TRACE_LOCK_RELEASE] == 2 && s.shared_kind[UPMU_TRACE_LOCK_RELEASE] == 1);
    CHECK(s.contended == 0 && s.contended_shared == 1 && s.counted_shared == 1 && s.counted == 1);
}

static void a_writer_waits_for_one_thread_that_reads_twice(void)
{
    static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    begin(UPMU_SYNC_CONTENDED);
    CHECK(pthread_rwlock_rdlock(&l) == 0 && pthread_rwlock_rdlock(&l) == 0);
    blocked_by_us(&l, write_once, 2);
    end();
    struct seen s = read_object(&l);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.shared_kind[UPMU_TRACE_LOCK_BLOCK] == 0);
    CHECK(s.block.lock_block.holder == getpid() && s.block.lock_block.holder_site != 0 &&
          s.block.flags & UPMU_TRACE_FLAG_HOLDER_SHARED);
    CHECK(s.kind[UPMU_TRACE_LOCK_MISUSE] == 0);
    /* The first reading is the one that was asked for: the block ends with it, the other one ended before. */
    CHECK(s.shared_kind[UPMU_TRACE_LOCK_RELEASE] >= 1 && s.counted_shared == 2 && s.counted == 1 && s.contended == 1);
}

static pthread_barrier_t step;

static void *read_between_steps(void *l)
{
    CHECK(pthread_rwlock_rdlock(l) == 0);
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    CHECK(pthread_rwlock_unlock(l) == 0);
    return NULL;
}

/* All readers' releases are recorded, since the last of them wakes the writer. */
static void all_readers_a_writer_waits_for_record_their_release(void)
{
    enum { READERS = 3 };
    static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    pthread_t readers[READERS], writer;
    begin(UPMU_SYNC_CONTENDED);
    pthread_barrier_init(&step, NULL, READERS + 1);
    for (int i = 0; i < READERS; i++)
        CHECK(pthread_create(&readers[i], NULL, read_between_steps, &l) == 0);
    pthread_barrier_wait(&step);
    CHECK(pthread_create(&writer, NULL, write_once, &l) == 0);
    until_blocked(&l, 1);
    pthread_barrier_wait(&step);
    for (int i = 0; i < READERS; i++)
        CHECK(pthread_join(readers[i], NULL) == 0);
    CHECK(pthread_join(writer, NULL) == 0);
    pthread_barrier_destroy(&step);
    end();
    struct seen s = read_object(&l);
    CHECK(s.shared_kind[UPMU_TRACE_LOCK_RELEASE] == READERS);
    CHECK(s.block.lock_block.holder != 0 && s.block.lock_block.holder != getpid() &&
          s.block.flags & UPMU_TRACE_FLAG_HOLDER_SHARED);
    struct seen b = read_object(&step);
    CHECK(b.kind[UPMU_TRACE_BARRIER_ARRIVE] == 2 * (READERS + 1) && b.counted > 0);
    CHECK(b.kind[UPMU_TRACE_BARRIER_LEAVE] == 2 * (READERS + 1));
    CHECK(b.kind[UPMU_TRACE_LOCK_INIT] == 1 && b.kind[UPMU_TRACE_LOCK_DESTROY] == 1);
}

static void begun_while_it_was_held(void)
{
    static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER, read = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_spinlock_t spin;
    CHECK(pthread_spin_init(&spin, 0) == 0 && pthread_spin_lock(&spin) == 0);
    CHECK(pthread_rwlock_wrlock(&written) == 0 && pthread_rwlock_rdlock(&read) == 0);
    begin(UPMU_SYNC_CONTENDED);
    blocked_by_us(&written, write_once, 1);
    blocked_by_us(&read, write_once, 1);
    CHECK(pthread_spin_unlock(&spin) == 0);
    end();
    struct seen w = read_object(&written), r = read_object(&read);
    /* glibc stores the writer but no reader; call site and time are not guessed. */
    CHECK(w.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && w.block.lock_block.holder == getpid() &&
          w.block.lock_block.holder_site == 0);
    CHECK(r.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && r.block.lock_block.holder == 0 && r.block.lock_block.holder_site == 0);
    CHECK(w.kind[UPMU_TRACE_LOCK_MISUSE] == 0 && r.kind[UPMU_TRACE_LOCK_MISUSE] == 0);
    CHECK(read_object((const void *)(uintptr_t)&spin).kind[UPMU_TRACE_LOCK_MISUSE] == 0);
}

static void released_twice_or_by_another_thread(void)
{
    static pthread_rwlock_t foreign = PTHREAD_RWLOCK_INITIALIZER, outer = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_rwlock_t twice = PTHREAD_RWLOCK_INITIALIZER;
    begin(UPMU_SYNC_CONTENDED);
    CHECK(pthread_rwlock_wrlock(&outer) == 0 && pthread_rwlock_wrlock(&foreign) == 0);
    in_thread(unlock_only, &foreign);
    blocked_by_us(&outer, write_once, 1);
    CHECK(pthread_rwlock_rdlock(&twice) == 0 && pthread_rwlock_unlock(&twice) == 0);
    CHECK(pthread_rwlock_unlock(&twice) == 0); /* glibc reports nothing */
    end();
    struct seen f = read_object(&foreign), o = read_object(&outer), d = read_object(&twice);
    CHECK(f.kind[UPMU_TRACE_LOCK_MISUSE] == 1 && f.misuse_result == 0);
    CHECK(d.kind[UPMU_TRACE_LOCK_MISUSE] == 1 && d.misuse_result == 0);
    /* The books of this thread are undisturbed. */
    CHECK(o.kind[UPMU_TRACE_LOCK_MISUSE] == 0 && o.block.lock_block.holder == getpid() &&
          o.block.lock_block.holder_site != 0);
}

static void *spin_once(void *l)
{
    CHECK(pthread_spin_lock(l) == 0 && pthread_spin_unlock(l) == 0);
    return NULL;
}

static void *spin_unlock_only(void *l)
{
    CHECK(pthread_spin_unlock(l) == 0);
    return NULL;
}

static void spin_locks_are_filtered_as_mutexes_are(void)
{
    static pthread_spinlock_t spin;
    void *l = (void *)(uintptr_t)&spin;
    pthread_t t;
    begin(UPMU_SYNC_CONTENDED);
    CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_SHARED) == 0);
    for (int i = 0; i < 30; i++)
        spin_once(l);
    CHECK(read_object(l).kind[UPMU_TRACE_LOCK_ACQUIRE] == 0);
    CHECK(pthread_spin_lock(&spin) == 0 && pthread_spin_trylock(&spin) == EBUSY);
    CHECK(pthread_create(&t, NULL, spin_once, l) == 0);
    until_blocked(l, 1);
    CHECK(pthread_spin_unlock(&spin) == 0 && pthread_join(t, NULL) == 0);
    CHECK(pthread_spin_lock(&spin) == 0);
    in_thread(spin_unlock_only, l); /* foreign */
    CHECK(pthread_spin_trylock(&spin) == 0 && pthread_spin_unlock(&spin) == 0);
    end();
    struct seen s = read_object(l);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.block.lock_block.holder == getpid() &&
          s.block.lock_block.holder_site != 0);
    CHECK(s.block.object_type == UPMU_OBJECT_SPIN && s.kind[UPMU_TRACE_LOCK_ACQUIRED] == 1);
    CHECK(s.kind[UPMU_TRACE_LOCK_MISUSE] == 1 && s.contended == 1 && s.counted > 0);
    CHECK(s.release_time > s.block_time && s.kind[UPMU_TRACE_LOCK_INIT] == 1);
}

static void double_release_of_a_spin_lock(void)
{
    static pthread_spinlock_t spin;
    CHECK(pthread_spin_init(&spin, 0) == 0);
    begin(UPMU_SYNC_HOLDERS);
    CHECK(pthread_spin_lock(&spin) == 0 && pthread_spin_unlock(&spin) == 0 && pthread_spin_unlock(&spin) == 0);
    end();
    CHECK(read_object((const void *)(uintptr_t)&spin).kind[UPMU_TRACE_LOCK_MISUSE] == 1);
}

static void *write_in_vain(void *l)
{
    struct timespec until = soon();
    CHECK(pthread_rwlock_timedwrlock(l, &until) == ETIMEDOUT);
    until = soon();
    CHECK(pthread_rwlock_timedrdlock(l, &until) == ETIMEDOUT);
    return NULL;
}

static void results_are_those_of_the_calls(void)
{
    static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    begin(UPMU_SYNC_HOLDERS);
    CHECK(pthread_rwlock_wrlock(&l) == 0);
    CHECK(pthread_rwlock_wrlock(&l) == EDEADLK && pthread_rwlock_rdlock(&l) == EDEADLK);
    in_thread(write_in_vain, &l);
    CHECK(pthread_rwlock_unlock(&l) == 0);
    end();
    struct seen s = read_object(&l);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 4 && s.kind[UPMU_TRACE_LOCK_FAILED] == 4);
    CHECK(s.shared_kind[UPMU_TRACE_LOCK_FAILED] == 2 && s.block.flags & UPMU_TRACE_FLAG_TIMED);
    CHECK(s.block.lock_block.holder_since != 0 && s.counted == 1 && s.counted_shared == 0);
}

static void mode_all_has_every_acquisition_and_release(void)
{
    static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_spinlock_t spin;
    CHECK(pthread_spin_init(&spin, 0) == 0);
    begin(UPMU_SYNC_ALL);
    for (int i = 0; i < 5; i++)
        read_once(&l);
    for (int i = 0; i < 3; i++)
        write_once(&l);
    for (int i = 0; i < 4; i++)
        spin_once((void *)(uintptr_t)&spin);
    CHECK(pthread_rwlock_wrlock(&l) == 0 && pthread_rwlock_tryrdlock(&l) == EBUSY && pthread_rwlock_unlock(&l) == 0);
    end();
    struct seen s = read_object(&l), p = read_object((const void *)(uintptr_t)&spin);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRE] == 9 && s.kind[UPMU_TRACE_LOCK_RELEASE] == 9);
    CHECK(s.shared_kind[UPMU_TRACE_LOCK_ACQUIRE] == 5 && s.shared_kind[UPMU_TRACE_LOCK_RELEASE] == 5);
    CHECK(s.kind[UPMU_TRACE_LOCK_FAILED] == 1 && s.shared_kind[UPMU_TRACE_LOCK_FAILED] == 1);
    CHECK(p.kind[UPMU_TRACE_LOCK_ACQUIRE] == 4 && p.kind[UPMU_TRACE_LOCK_RELEASE] == 4);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    begun_while_it_was_held();
    uncontended_use_is_only_counted();
    a_reader_waits_for_the_writer();
    a_writer_waits_for_one_thread_that_reads_twice();
    all_readers_a_writer_waits_for_record_their_release();
    mode_all_has_every_acquisition_and_release();
    if (UNDER_THREAD_SANITIZER) {
        printf("misused locks are left out: ThreadSanitizer answers such calls itself\n");
        return remove_recording();
    }
    released_twice_or_by_another_thread();
    spin_locks_are_filtered_as_mutexes_are();
    double_release_of_a_spin_lock();
    results_are_those_of_the_calls();
    return remove_recording();
}
