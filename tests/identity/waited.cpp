// SPDX-License-Identifier: MIT
// Two functions that wait for one mutex by std::mutex::lock(), one after the other: each holds it afterwards.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

static std::mutex waited;
static pid_t waiter;

// Until the waiter sleeps in lock().
static void await_sleep()
{
    std::string path = "/proc/self/task/" + std::to_string(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE)) + "/stat";
    char state = 0;
    while (state != 'S') {
        FILE *f = fopen(path.c_str(), "r");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (f)
            fclose(f);
    }
}

static void spin_5_ms()
{
    std::clock_t end = std::clock() + CLOCKS_PER_SEC / 200;
    while (std::clock() < end)
        ;
}

static void first_waits()
{
    std::lock_guard<std::mutex> hold(waited);
    spin_5_ms();
}

static void second_waits()
{
    std::lock_guard<std::mutex> hold(waited);
    spin_5_ms();
}

static void hold_against(void (*waits)())
{
    __atomic_store_n(&waiter, 0, __ATOMIC_RELEASE);
    std::unique_lock<std::mutex> hold(waited);
    std::thread thread([waits] {
        __atomic_store_n(&waiter, static_cast<pid_t>(syscall(SYS_gettid)), __ATOMIC_RELEASE);
        waits();
    });
    while (__atomic_load_n(&waiter, __ATOMIC_ACQUIRE) == 0)
        ;
    await_sleep();
    hold.unlock();
    thread.join();
}

int main()
{
    hold_against(first_waits);
    hold_against(second_waits);
    return 0;
}
