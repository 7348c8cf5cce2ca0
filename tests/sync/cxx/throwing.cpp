/* SPDX-License-Identifier: MIT */
// Exceptions through std::mutex and similar locks, threads and call_once.
//
// Prints what was caught, which must be the same with and without the library.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::condition_variable cond;
static bool ready;

static void throw_holding(int depth)
{
    std::lock_guard<std::recursive_mutex> lock(recursive);
    if (depth == 0)
        throw std::runtime_error("from the depth");
    throw_holding(depth - 1);
}

static int catch_in_thread()
{
    int caught = 0;
    for (int i = 0; i < 100; i++) {
        try {
            std::lock_guard<std::mutex> lock(mutex);
            throw_holding(5);
        } catch (const std::runtime_error &e) {
            caught += e.what() == std::string("from the depth");
        }
    }
    return caught;
}

int main()
{
    std::vector<std::thread> threads;
    int caught[4];
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&caught, i] { caught[i] = catch_in_thread(); });
    for (auto &t : threads)
        t.join();
    std::printf("caught %d %d %d %d\n", caught[0], caught[1], caught[2], caught[3]);

    std::thread waiter([] {
        std::unique_lock<std::mutex> lock(mutex);
        cond.wait(lock, [] { return ready; });
        std::printf("woken\n");
    });
    {
        std::lock_guard<std::mutex> lock(mutex);
        ready = true;
    }
    cond.notify_all();
    waiter.join();

    std::lock_guard<std::timed_mutex> held(timed);
    std::thread other([] {
        std::printf("timed: %d\n", (int)timed.try_lock_for(std::chrono::milliseconds(5)));
        std::unique_lock<std::mutex> lock(mutex);
        std::printf("wait_for: %d\n",
                    (int)(cond.wait_for(lock, std::chrono::milliseconds(5)) == std::cv_status::timeout));
    });
    other.join();

    std::once_flag once;
    for (int i = 0; i < 3; i++) {
        try {
            std::call_once(once, [i] {
                if (i < 2)
                    throw i;
                std::printf("called at %d\n", i);
            });
        } catch (int n) {
            std::printf("call_once threw %d\n", n);
        }
    }
    return 0;
}
