/* SPDX-License-Identifier: MIT */
/** @file Lists of ranks: "0-15,every:64,1000". */
#ifndef UPMU_MPI_RANK_LIST_H
#define UPMU_MPI_RANK_LIST_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** A number at `*at`, which moves past it. @return -1: there is none. */
static inline long rank_list_number(const char **at)
{
    char *end;
    int saved = errno;
    long n = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : -1;
    if (n >= 0)
        *at = end;
    errno = saved;
    return n > 0x7fffffff ? -1 : n;
}

/** Whether a list has a rank; with rank -1, whether the text is a list. */
static inline bool rank_list_has(const char *text, long rank)
{
    static const char every[] = "every:";
    bool found = rank < 0;
    for (const char *at = text;; at++) {
        bool step = strncmp(at, every, sizeof every - 1) == 0;
        at += step ? sizeof every - 1 : 0;
        long first = rank_list_number(&at), last = first;
        if (!step && *at == '-') {
            at++;
            last = rank_list_number(&at);
        }
        if (first < 0 || last < first || (step && first == 0) || (*at != ',' && *at != '\0'))
            return false;
        found |= step ? rank % first == 0 : rank >= first && rank <= last;
        if (*at == '\0')
            return found;
    }
}

#endif
