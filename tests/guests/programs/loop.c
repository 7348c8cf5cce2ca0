/* SPDX-License-Identifier: MIT */
/* loop N: a program of known length, for others to count: N times as many instructions as LOOP_INSTRUCTIONS, and those that
 * start and end a program. Room: tests. Before it perf, callgrind or libupmu, after it guest.c. */
#include <stdlib.h>

#include "guest.h"

int main(int argc, char **argv)
{
    unsigned long times = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (times == 0)
        return 2;
    guest_loop(times * LOOP_INSTRUCTIONS);
    return 0;
}
