/* SPDX-License-Identifier: MIT */
/* Threads of the C++ library: lambdas, an object that is called, an asynchronous task. Each waits once for a mutex of the main thread. */
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

namespace
{

std::mutex busy;
int served;

struct Server {
    int rounds;
    void operator()() const
    {
        for (int i = 0; i < rounds; i++) {
            std::lock_guard<std::mutex> guard(busy);
            served += rounds;
        }
        served++;
    }
};

} // namespace

int main()
{
    std::unique_lock<std::mutex> hold(busy);
    std::thread lambda([] {
        std::lock_guard<std::mutex> guard(busy);
        served++;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); /* its wait is the longest, whose stack is shown */
    std::thread object(Server{2});
    auto task = std::async(std::launch::async, [] {
        std::mutex own; /* its first use is in a function that has no name */
        std::lock_guard<std::mutex> first(own);
        std::lock_guard<std::mutex> guard(busy);
        served++;
    });
    // clang-format off
    std::thread left([] { busy.lock(); served++; busy.unlock(); }), right([] { busy.lock(); busy.unlock(); }); /* in one line */
    // clang-format on
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    hold.unlock();
    lambda.join();
    object.join();
    task.get();
    left.join();
    right.join();
    return served != 8;
}
