/* SPDX-License-Identifier: MIT */
/* A program, or with -DLIBRARY a shared library, whose samples are at known lines:
 *
 *     annotate MS      spends about MS of CPU time, nearly all at the lines with HOT, half of it inlined
 */
#include "annotate.h"

#ifndef PROGRAM
struct Cell {
    volatile unsigned long n = 1;

    inline __attribute__((always_inline)) void divide(unsigned long by)
    {
        n = (n + by) / 3 + 0x12345678912345 / (n | 1); /* HOT-INLINED */
    }
};

namespace work
{
__attribute__((noinline)) unsigned long hot(unsigned long rounds)
{
    Cell cell;
    unsigned long sum = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        cell.divide(i);                                     /* HOT-CALL */
        sum = (sum + i) / 3 + 0x12345678912345 / (sum | 1); /* HOT */
    }
    return sum + cell.n;
}

unsigned long twice(unsigned long rounds)
{
    unsigned long sum = hot(rounds); /* CALL */
    return sum + hot(rounds);        /* CALL */
}
} // namespace work
#endif

#ifndef LIBRARY
#include <cstdlib>
#include <ctime>

int main(int argc, char **argv)
{
    unsigned long sum = 0;
    clock_t end = clock() + (argc > 1 ? atol(argv[1]) : 100) * (CLOCKS_PER_SEC / 1000);
    while (clock() < end)
        sum += work::twice(20000);
    return sum == 42;
}
#endif
