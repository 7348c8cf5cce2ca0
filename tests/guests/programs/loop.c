/* SPDX-License-Identifier: MIT */
/* loop N: a program of N times LOOP_INSTRUCTIONS instructions, plus those that start and end it. */
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
