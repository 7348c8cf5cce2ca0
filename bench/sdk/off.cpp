// SPDX-License-Identifier: MIT
// Nanoseconds of CPU time that a scope adds to a loop while regions are off, and those of the loop: the least of 20 alternating readings.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include <upmu/upmu.hpp>

static double cpu_ns()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

template <class Work> static double each(Work work)
{
    const int n = 20000000;
    double begin = cpu_ns();
    for (int i = 0; i < n; i++)
        work();
    return (cpu_ns() - begin) / n;
}

int main()
{
    static upmu::region region("measured");
    double scope = 1e9, literal = 1e9, bare = 1e9;
    for (int i = 0; i < 20; i++) {
        bare = std::min(bare, each([] { asm volatile("" ::: "memory"); }));
        scope = std::min(scope, each([] {
                             upmu::scope s(region);
                             asm volatile("" ::: "memory");
                         }));
        literal = std::min(literal, each([] {
                               UPMU_SCOPE("measured");
                               asm volatile("" ::: "memory");
                           }));
    }
    std::printf("C++ scope of a region, off\t%.3f\t%.3f\n", scope - bare, bare);
    std::printf("C++ scope of a literal, off\t%.3f\t%.3f\n", literal - bare, bare);
    return 0;
}
