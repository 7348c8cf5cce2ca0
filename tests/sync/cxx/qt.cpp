// SPDX-License-Identifier: MIT
// Locks of Qt. Prints "qt: all done"; or, with the kind of a deadlock, "qt: blocked" before two threads wait for each other.
#include <QtCore/QMutex>
#include <QtCore/QReadWriteLock>
#include <QtCore/QSemaphore>
#include <QtCore/QThread>
#include <QtCore/QWaitCondition>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace
{

// A thread that runs a function.
class Worker : public QThread
{
  public:
    explicit Worker(std::function<void()> work) : work_(std::move(work))
    {
    }

  private:
    void run() override
    {
        work_();
    }
    std::function<void()> work_;
};

void both(const std::function<void()> &one, const std::function<void()> &other)
{
    Worker a(one), b(other);
    a.start();
    b.start();
    a.wait();
    b.wait();
}

QMutex left, right, gate;
#if QT_VERSION >= QT_VERSION_CHECK(5, 14, 0)
QRecursiveMutex recursive;
#else
QMutex recursive(QMutex::Recursive);
#endif
QReadWriteLock rwlock;
QReadWriteLock other_rwlock;
QWaitCondition changed;
int state = 0;

void check(bool holds, const char *what)
{
    if (holds)
        return;
    std::printf("qt: failed: %s\n", what);
    std::exit(1);
}

// Returns when the thread sleeps, and has slept for a while: it waits for the lock, which is held.
void wait_until_asleep(QSemaphore &began, const std::atomic<long> &tid)
{
    began.acquire();
    const std::string path = "/proc/self/task/" + std::to_string(tid) + "/stat";
    for (int asleep = 0; asleep < 20; QThread::msleep(1)) {
        std::ifstream file(path);
        std::string text((std::istreambuf_iterator<char>(file)), {});
        asleep = text.find(") S ") != std::string::npos ? asleep + 1 : 0;
    }
}

void begin(QSemaphore &began, std::atomic<long> &tid)
{
    tid = syscall(SYS_gettid);
    began.release();
}

// The other thread waits for a lock that is held.
template <class Lock, class Block, class Unlock> void contend(Lock lock, Block block, Unlock unlock)
{
    QSemaphore held, began;
    std::atomic<long> tid;
    both(
        [&] {
            lock();
            held.release();
            wait_until_asleep(began, tid);
            unlock();
        },
        [&] {
            held.acquire();
            begin(began, tid);
            block();
        });
}

void mutexes()
{
    contend([] { gate.lock(); }, [] { gate.lock(), gate.unlock(); }, [] { gate.unlock(); });
    contend([] { recursive.lock(), recursive.lock(); }, [] { recursive.lock(), recursive.unlock(); },
            [] { recursive.unlock(), recursive.unlock(); });
    check(gate.tryLock(), "a try of a free mutex");
    gate.unlock();
    gate.lock();
    both([] { check(!gate.tryLock(1), "a timed try of a mutex that is held"); },
         [] { check(!gate.tryLock(0), "a try of a mutex that is held"); });
    gate.unlock();
    for (int i = 0; i < 1000; i++) {
        QMutexLocker locker(&gate);
        state++;
    }
}

void rwlocks()
{
    contend([] { rwlock.lockForWrite(); }, [] { rwlock.lockForRead(), rwlock.unlock(); }, [] { rwlock.unlock(); });
    contend([] { rwlock.lockForRead(); }, [] { rwlock.lockForWrite(), rwlock.unlock(); }, [] { rwlock.unlock(); });
    check(rwlock.tryLockForRead() && rwlock.tryLockForRead(1), "two readers");
    both([] { check(!rwlock.tryLockForWrite() && !rwlock.tryLockForWrite(1), "a writer beside readers"); }, [] {});
    rwlock.unlock();
    rwlock.unlock();
}

void conditions()
{
    gate.lock();
    check(!changed.wait(&gate, 1), "a wait that ends by its time limit");
    gate.unlock();
    state = 0;
    both(
        [] {
            gate.lock();
            state = 1;
            while (state != 2)
                changed.wait(&gate);
            gate.unlock();
        },
        [] {
            for (bool done = false; !done;) {
                gate.lock();
                if (state == 1)
                    done = true, state = 2;
                gate.unlock();
                changed.wakeAll();
                QThread::yieldCurrentThread();
            }
        });
}

// Each thread holds one lock and waits for the other's.
template <class First, class Second> void cross(First first, Second second)
{
    QSemaphore one, two;
    std::printf("qt: blocked\n");
    std::fflush(stdout);
    both(
        [&] {
            first();
            one.release();
            two.acquire();
            second();
        },
        [&] {
            second();
            two.release();
            one.acquire();
            first();
        });
}

// The first acquisitions have waited for the main thread: a holder is known even if Qt's own code is inlined.
void cross_after_waits()
{
    QSemaphore one, two, began_one, began_two;
    std::atomic<long> first, second;
    left.lock();
    right.lock();
    Worker a([&] { begin(began_one, first), left.lock(), one.release(), two.acquire(), right.lock(); });
    Worker b([&] { begin(began_two, second), right.lock(), two.release(), one.acquire(), left.lock(); });
    a.start();
    b.start();
    wait_until_asleep(began_one, first);
    wait_until_asleep(began_two, second);
    std::printf("qt: blocked\n");
    std::fflush(stdout);
    left.unlock();
    right.unlock();
    a.wait();
}

} // namespace

int main(int argc, char **argv)
{
    const std::string kind = argc > 1 ? argv[1] : "";
    if (kind == "mutex")
        cross([] { left.lock(); }, [] { right.lock(); });
    else if (kind == "waited")
        cross_after_waits();
    else if (kind == "rwlock")
        cross([] { rwlock.lockForWrite(); }, [] { other_rwlock.lockForWrite(); });
    else if (kind == "recursive")
        cross([] { recursive.lock(); }, [] { rwlock.lockForWrite(); });
    mutexes();
    rwlocks();
    conditions();
    std::printf("qt: all done\n");
    return 0;
}
