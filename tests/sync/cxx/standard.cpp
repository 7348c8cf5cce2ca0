/* SPDX-License-Identifier: MIT */
/* Threads and locks of the C++ standard library, each used so that it is recorded; exceptions in call_once(). */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

static std::mutex mutex;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::shared_mutex shared;
static std::condition_variable ready;
static std::condition_variable_any ready_any;
static std::once_flag once, quiet_once;
static std::atomic<int> word;
static std::binary_semaphore semaphore(0);
static bool is_ready;

static void locks()
{
    {
        std::lock_guard<std::mutex> a(mutex);
        std::lock_guard<std::recursive_mutex> b(recursive), c(recursive);
    }
    std::printf("timed lock: %d\n", timed.try_lock_for(1s));
    timed.unlock();
    {
        std::shared_lock<std::shared_mutex> one(shared), two(shared);
        std::printf("writing while read: %d\n",
                    std::unique_lock<std::shared_mutex>(shared, std::try_to_lock).owns_lock());
    }
    std::unique_lock<std::shared_mutex> writing(shared);
}

static void conditions()
{
    std::thread other([] {
        std::lock_guard<std::mutex> guard(mutex);
        is_ready = true;
        ready.notify_one();
        ready_any.notify_all();
    });
    std::unique_lock<std::mutex> guard(mutex);
    ready.wait(guard, [] { return is_ready; });
    std::printf("timed wait: %d\n", ready.wait_for(guard, 1ms) == std::cv_status::timeout);
    guard.unlock();
    other.join();
    std::thread([] {}).detach();
}

static void run_once()
{
    int runs = 0;
    auto throws_once = [&runs] {
        if (runs++ == 0)
            throw std::runtime_error("not yet");
    };
    for (int i = 0; i < 3; i++) {
        try {
            std::call_once(once, throws_once);
            std::printf("call_once returned, %d runs\n", runs);
        } catch (const std::runtime_error &e) {
            std::printf("call_once threw %s\n", e.what());
        }
    }
    std::call_once(quiet_once, [] { std::call_once(once, [] { std::printf("never\n"); }); });
}

static std::atomic<pid_t> waiter_tid;

/* The waiter stores its thread id before it waits; /proc shows when it sleeps. */
static void until_asleep()
{
    while (waiter_tid == 0)
        std::this_thread::sleep_for(1ms);
    const std::string path = "/proc/self/task/" + std::to_string(waiter_tid.exchange(0)) + "/stat";
    for (std::string text; text.find(") S") == std::string::npos; std::this_thread::sleep_for(1ms))
        std::getline(std::ifstream(path), text);
}

static void atomics()
{
    std::thread sleeper([] {
        waiter_tid = gettid();
        word.wait(0);
        waiter_tid = gettid();
        semaphore.acquire();
    });
    until_asleep();
    word = 1;
    word.notify_all();
    until_asleep();
    semaphore.release();
    sleeper.join();
    std::printf("atomic wait and semaphore: woken\n");
}

int main()
{
    locks();
    conditions();
    run_once();
    atomics();
    std::printf("standard: all done\n");
}
