/* SPDX-License-Identifier: MIT */
// Locks in variables, in arrays of structs, and made by constructors; all of them are waited for.
#include <pthread.h>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
#include <unistd.h>

namespace port
{
class Mutex
{ // a wrapper as many programs have one
  public:
    Mutex()
    {
        pthread_mutex_init(&mu_, nullptr);
    }
    void Lock()
    {
        pthread_mutex_lock(&mu_);
    }
    void Unlock()
    {
        pthread_mutex_unlock(&mu_);
    }

  private:
    pthread_mutex_t mu_;
};
} // namespace port

struct Slot {
    long count[3];
    pthread_mutex_t lock;
};
static Slot pool[8];

struct Table {
    int used = 0;
    std::mutex mutex;
};
namespace app
{
Table g_state;
}

struct Cache {
    Cache();
    port::Mutex lock;
};
Cache::Cache()
{
}

static std::mutex &local()
{
    static std::mutex in_function;
    return in_function;
}

template <class F> static void contend(F once)
{
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&] {
            for (ready++; ready < 2;)
                usleep(100); // each sleeps with the lock held, so that the other one waits
            for (int k = 0; k < 20; k++)
                once();
        });
    for (auto &t : threads)
        t.join();
}

static void use_slot()
{
    pthread_mutex_lock(&pool[3].lock);
    usleep(200);
    pthread_mutex_unlock(&pool[3].lock);
}

// It only passes on, by its lines, not by its name.
static __attribute__((noinline)) void enter(Slot &slot)
{
    pthread_mutex_lock(&slot.lock);
}

static void use_other_slot()
{
    enter(pool[5]);
    usleep(200);
    pthread_mutex_unlock(&pool[5].lock);
}

static void use_state()
{
    std::lock_guard<std::mutex> g(app::g_state.mutex);
    usleep(200);
}

static void use_local()
{
    std::unique_lock<std::mutex> g(local());
    usleep(200);
}

static std::unique_ptr<Cache> caches[3];

static void use_cache(int i)
{
    caches[i]->lock.Lock();
    usleep(200);
    caches[i]->lock.Unlock();
}

// Two functions acquire it through the same wrapper.
static port::Mutex both;

static void use_both()
{
    both.Lock();
    usleep(200);
    both.Unlock();
}

static void use_both_otherwise()
{
    both.Lock();
    usleep(300);
    both.Unlock();
}

static std::unique_ptr<std::mutex> unnamed;

static void use_unnamed()
{
    std::scoped_lock<std::mutex> g(*unnamed);
    usleep(200);
}

int main()
{
    for (auto &c : caches)
        c = std::make_unique<Cache>();
    unnamed = std::make_unique<std::mutex>();
    contend(use_slot);
    contend(use_other_slot);
    contend(use_state);
    contend(use_local);
    for (int i = 0; i < 3; i++)
        contend([i] { use_cache(i); });
    contend(use_unnamed);
    contend([] {
        use_both();
        use_both_otherwise();
    });
    return 0;
}
