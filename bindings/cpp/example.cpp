// SPDX-License-Identifier: MIT
// Counts the work of two functions, and records it as regions: UPMU_REPORT=text ./example
#include <cstdio>
#include <vector>

#include "upmu/upmu.hpp"

static std::vector<int> make(int n)
{
    UPMU_SCOPE("make");
    std::vector<int> numbers;
    for (int i = 0; i < n; i++)
        numbers.push_back(i % 7919);
    return numbers;
}

static long sum(const std::vector<int> &numbers)
{
    static upmu::region region("sum");
    upmu::scope scope(region);
    long total = 0;
    for (int number : numbers)
        total += number;
    return total;
}

int main()
{
    try {
        upmu::set counters("task-clock,page-faults,instructions");
        counters.start();
        long total = sum(make(1000000));
        counters.stop();
        std::printf("sum %ld\n", total);
        std::vector<upmu::value> values = counters.read();
        for (std::size_t i = 0; i < values.size(); i++)
            if (auto count = values[i].count())
                std::printf("%-14s %llu (%s)\n", counters.name(i).c_str(), static_cast<unsigned long long>(*count),
                            values[i].status_name());
            else
                std::printf("%-14s %s: %s\n", counters.name(i).c_str(), values[i].status_name(),
                            counters.reason(i).c_str());
    } catch (const upmu::error &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
