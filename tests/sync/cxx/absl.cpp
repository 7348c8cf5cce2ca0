// SPDX-License-Identifier: MIT
// Locks of Abseil. Prints "absl: all done"; or, with the kind of a deadlock, "absl: blocked" before threads wait for each other.
#include <absl/synchronization/mutex.h>
#include <absl/synchronization/notification.h>
#include <absl/time/time.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <semaphore.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace
{

absl::Mutex left, right, gate, shared_lock;
absl::CondVar changed;
int state = 0;
bool ready = false;

void check(bool holds, const char *what)
{
    if (holds)
        return;
    std::printf("absl: failed: %s\n", what);
    std::exit(1);
}

// A semaphore of the C library, so that the program's own waits are no absl::Mutex.
struct Signal {
    Signal()
    {
        sem_init(&sem, 0, 0);
    }
    void post()
    {
        sem_post(&sem);
    }
    void wait()
    {
        while (sem_wait(&sem) != 0)
            ;
    }
    sem_t sem;
};

void both(const std::function<void()> &one, const std::function<void()> &other)
{
    std::thread a(one), b(other);
    a.join();
    b.join();
}

// Returns when the thread sleeps, and has slept for a while: it waits for the lock, which is held.
void wait_until_asleep(Signal &began, const std::atomic<long> &tid)
{
    began.wait();
    const std::string path = "/proc/self/task/" + std::to_string(tid) + "/stat";
    for (int asleep = 0; asleep < 20; usleep(1000)) {
        std::ifstream file(path);
        std::string text((std::istreambuf_iterator<char>(file)), {});
        asleep = text.find(") S ") != std::string::npos ? asleep + 1 : 0;
    }
}

// The other thread waits until `release` is called.
template <class Hold, class Block, class Release> void contend(Hold hold, Block block, Release release)
{
    Signal held, began;
    std::atomic<long> tid(0);
    both(
        [&] {
            hold();
            held.post();
            wait_until_asleep(began, tid);
            release();
        },
        [&] {
            held.wait();
            tid = syscall(SYS_gettid);
            began.post();
            block();
        });
}

void mutexes()
{
    contend([] { gate.Lock(); }, [] { absl::MutexLock lock(&gate); }, [] { gate.Unlock(); });
    contend([] { shared_lock.ReaderLock(); }, [] { absl::WriterMutexLock lock(&shared_lock); },
            [] { shared_lock.ReaderUnlock(); });
    contend([] { shared_lock.WriterLock(); }, [] { absl::ReaderMutexLock lock(&shared_lock); },
            [] { shared_lock.WriterUnlock(); });
    check(gate.TryLock(), "a try of a free mutex");
    both([] { check(!gate.TryLock() && !gate.ReaderTryLock(), "a try of a mutex that is held"); }, [] {});
    gate.Unlock();
    check(shared_lock.ReaderTryLock(), "a reader's try");
    shared_lock.ReaderUnlock();
    for (int i = 0; i < 1000; i++) {
        absl::MutexLock lock(&gate);
        state++;
    }
    {
        absl::ReleasableMutexLock lock(&gate);
        lock.Release();
    }
    delete new absl::Mutex;
}

void conditions()
{
    gate.Lock();
    check(changed.WaitWithTimeout(&gate, absl::Milliseconds(1)), "a wait that ends by its time limit");
    gate.Unlock();
    contend([] { state = 0; },
            [] {
                absl::MutexLock lock(&gate);
                while (state == 0)
                    changed.Wait(&gate);
            },
            [] {
                absl::MutexLock lock(&gate);
                state = 1;
                changed.SignalAll();
            });
}

// What LockWhen() and Await() wait for.
void awaited()
{
    const absl::Condition is_ready(&ready), never(
                                                +[](void *) { return false; }, nullptr);
    auto make_ready = [] {
        absl::MutexLock lock(&gate);
        ready = true;
    };
    auto reset = [] { ready = false; };
    contend(
        reset, [&] { gate.LockWhen(is_ready), gate.Unlock(); }, make_ready);
    contend(
        reset, [&] { gate.Lock(), gate.Await(is_ready), gate.Unlock(); }, make_ready);
    contend(
        reset, [&] { gate.ReaderLockWhen(is_ready), gate.ReaderUnlock(); }, make_ready);
    contend(
        reset, [&] { check(gate.LockWhenWithTimeout(is_ready, absl::InfiniteDuration()), "no limit"), gate.Unlock(); },
        make_ready);
    check(!gate.LockWhenWithTimeout(never, absl::Milliseconds(1)), "a condition that never holds");
    check(!gate.AwaitWithDeadline(never, absl::Now() + absl::Milliseconds(1)), "the same by a deadline");
    gate.Unlock();
    check(!gate.ReaderLockWhenWithDeadline(never, absl::Now() + absl::Milliseconds(1)), "the same of a reader");
    gate.ReaderUnlock();
    // Its time passes while the mutex is held: then it polls for it.
    bool got = true;
    gate.Lock();
    std::thread late([&] { got = gate.LockWhenWithTimeout(never, absl::Milliseconds(1)), gate.Unlock(); });
    usleep(20000);
    gate.Unlock();
    late.join();
    check(!got, "the limit of a wait for a mutex that is held");
    absl::Notification done;
    contend([] {}, [&] { done.WaitForNotification(); }, [&] { done.Notify(); });
}

// Each thread holds a lock and waits for the other's.
template <class First, class Second, class Other> void cross(First first, Second second, Other other)
{
    Signal one, two;
    both([&] { first(), one.post(), two.wait(), second(); }, [&] { second(), two.post(), one.wait(), other(); });
}

} // namespace

int main(int argc, char **argv)
{
    const std::string kind = argc > 1 ? argv[1] : "";
    if (!kind.empty()) {
        std::printf("absl: blocked\n");
        std::fflush(stdout);
    }
    // Debian's Abseil checks the order itself, and would end the program.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    const auto lock_left = [] { left.Lock(); };
    const auto lock_right = [] { right.Lock(); };
    if (kind == "mutex")
        cross(lock_left, lock_right, lock_left);
    else if (kind == "reader")
        cross([] { left.ReaderLock(); }, lock_right, lock_left);
    else if (kind == "await")
        both([] { gate.LockWhen(absl::Condition(&ready)); },
             [] {
                 absl::MutexLock lock(&gate);
                 while (state == 0)
                     changed.Wait(&gate);
             });
    mutexes();
    conditions();
    awaited();
    std::printf("absl: all done\n");
    return 0;
}
