/* SPDX-License-Identifier: MIT */
/* A module, opened while the program runs, whose functions throw in several threads at once: the unwinder's lock is contended. */
#include <stdexcept>

#define OWN __attribute__((noinline))

static volatile int sink;

OWN static int deep(int n)
{
    if (n == 0)
        throw std::runtime_error("far");
    int r = deep(n - 1) + 1;
    sink = r;
    return r;
}

OWN static int catches()
{
    try {
        return deep(5);
    } catch (const std::exception &) {
        return 1;
    }
}

extern "C" int run_throwers(int n)
{
    int caught = 0;
    for (int i = 0; i < n; i++)
        caught += catches();
    return caught;
}
