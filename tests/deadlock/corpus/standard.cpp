/* SPDX-License-Identifier: MIT */
/* Deadlock cases of the C++ standard library, and waits that only seem deadlocked. */
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

#include "cases.h"

using namespace std::chrono_literals;

static std::mutex a, b;
static std::shared_mutex shared;
static std::once_flag one, other;
static std::atomic<int> word;
static dl_meeting meeting;

static void both(std::function<void()> x, std::function<void()> y)
{
    std::thread s(x), t(y);
    s.join();
    t.join();
}

static void std_guards_cross()
{
    both(
        [] {
            std::lock_guard<std::mutex> first(a);
            dl_meet(&meeting, 2);
            std::lock_guard<std::mutex> second(b);
        },
        [] {
            std::lock_guard<std::mutex> first(b);
            dl_meet(&meeting, 2);
            std::lock_guard<std::mutex> second(a);
        });
}

static void std_shared_upgraded()
{
    auto upgrade = [] {
        std::shared_lock<std::shared_mutex> reading(shared);
        dl_meet(&meeting, 2);
        shared.lock();
    };
    both(upgrade, upgrade);
}

static void std_futures_in_a_circle()
{
    std::promise<int> x, y;
    auto of_x = x.get_future(), of_y = y.get_future();
    both([&] { y.set_value(of_x.get()); }, [&] { x.set_value(of_y.get()); });
}

static void std_latch_short()
{
    static std::latch latch(3);
    both([] { latch.arrive_and_wait(); }, [] { latch.arrive_and_wait(); });
}

static void std_barrier_short()
{
    static std::barrier<> barrier(3);
    both([] { barrier.arrive_and_wait(); }, [] { barrier.arrive_and_wait(); });
}

static void std_semaphores_cross()
{
    static std::binary_semaphore x(1), y(1);
    both(
        [] {
            x.acquire();
            dl_meet(&meeting, 2);
            y.acquire();
        },
        [] {
            y.acquire();
            dl_meet(&meeting, 2);
            x.acquire();
        });
}

static void std_atomic_never_changes()
{
    std::thread([] { word.wait(0); }).join();
}

static void std_once_cross()
{
    both(
        [] {
            std::call_once(one, [] {
                dl_meet(&meeting, 2);
                std::call_once(other, [] {});
            });
        },
        [] {
            std::call_once(other, [] {
                dl_meet(&meeting, 2);
                std::call_once(one, [] {});
            });
        });
}

/* The thread's own end is waited for by a destructor, under the lock that it wants. */
struct locks_a {
    locks_a()
    {
        dl_meet(&meeting, 2);
        std::lock_guard<std::mutex> lock(a);
    }
};

static void std_static_under_a_lock()
{
    auto get = [] { static locks_a made; };
    both(get, [get] {
        std::lock_guard<std::mutex> lock(a);
        dl_meet(&meeting, 2);
        get();
    });
}

static void std_static_wants_itself()
{
    static std::function<void()> get = [] {
        static int made = [] {
            std::thread(get).join();
            return 1;
        }();
        (void)made;
    };
    get();
}

/* Its initialization fails twice: then another thread makes it. */
static void std_static_fails()
{
    static std::atomic<int> tries(0);
    auto get = [] {
        static int made = [] {
            dl_rest(20);
            if (tries++ < 2)
                throw std::runtime_error("not yet");
            return 1;
        }();
        (void)made;
    };
    auto until_made = [get] {
        for (bool made = false; !made;) {
            try {
                get();
                made = true;
            } catch (const std::runtime_error &) {
            }
        }
    };
    both(until_made, until_made);
}

static void std_async_under_its_lock()
{
    std::lock_guard<std::mutex> held(a);
    std::async(std::launch::async, [] { std::lock_guard<std::mutex> wanted(a); }).get();
}

/* ------------------------------------------------------------------------------------------------- nothing is wrong */

static void std_scoped_lock_both_ways()
{
    auto take = [](bool swapped) {
        for (int i = 0; i < 1000; i++) {
            if (swapped)
                std::scoped_lock<std::mutex, std::mutex> locks(b, a);
            else
                std::scoped_lock<std::mutex, std::mutex> locks(a, b);
        }
    };
    both([&] { take(false); }, [&] { take(true); });
}

struct slow {
    slow()
    {
        dl_rest(700);
    }
};

static void std_static_made_slowly()
{
    auto make = [] { static slow made; };
    both(make, make);
}

static void std_future_comes_late()
{
    std::promise<void> late;
    std::thread t([&] {
        dl_rest(700);
        late.set_value();
    });
    late.get_future().wait();
    t.join();
}

static void std_waits_for_a_time()
{
    std::promise<void> never;
    auto future = never.get_future();
    for (int i = 0; i < 7; i++)
        future.wait_for(100ms);
}

static void std_semaphores_in_turn()
{
    static std::binary_semaphore x(1), y(0);
    both(
        [] {
            for (int i = 0; i < 2000; i++) {
                x.acquire();
                y.release();
            }
        },
        [] {
            for (int i = 0; i < 2000; i++) {
                y.acquire();
                x.release();
            }
        });
}

static void std_stop_ends_a_wait()
{
    static std::condition_variable_any ready;
    std::jthread t([](std::stop_token stop) {
        std::unique_lock<std::mutex> lock(a);
        ready.wait(lock, stop, [] { return false; });
    });
    dl_rest(700);
}

extern "C" const struct dl_case cases_standard[] = {
    {"std_guards_cross", std_guards_cross},
    {"std_shared_upgraded", std_shared_upgraded},
    {"std_futures_in_a_circle", std_futures_in_a_circle},
    {"std_latch_short", std_latch_short},
    {"std_barrier_short", std_barrier_short},
    {"std_semaphores_cross", std_semaphores_cross},
    {"std_atomic_never_changes", std_atomic_never_changes},
    {"std_once_cross", std_once_cross},
    {"std_static_under_a_lock", std_static_under_a_lock},
    {"std_static_wants_itself", std_static_wants_itself},
    {"std_static_fails", std_static_fails},
    {"std_async_under_its_lock", std_async_under_its_lock},
    {"std_scoped_lock_both_ways", std_scoped_lock_both_ways},
    {"std_static_made_slowly", std_static_made_slowly},
    {"std_future_comes_late", std_future_comes_late},
    {"std_waits_for_a_time", std_waits_for_a_time},
    {"std_semaphores_in_turn", std_semaphores_in_turn},
    {"std_stop_ends_a_wait", std_stop_ends_a_wait},
    {nullptr, nullptr},
};
