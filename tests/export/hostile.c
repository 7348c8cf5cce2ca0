/* SPDX-License-Identifier: MIT */
/* Names that a terminal would obey, that read in another order than they are, and that a spreadsheet would compute. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "upmu/region.h"
#include "upmu/sync.h"

static const char *const names[] = {
    "esc \x1b[31mred",
    "raw c1 \x9b"
    "31mred",
    "coded c1 \xc2\x9b"
    "31mred",
    "turned \xe2\x80\xae"
    "evil",
    "isolated \xe2\x81\xa6x",
    "not utf-8 \xff\xc3",
    "del \x7f back \b bell \a",
    "=cmd|' /C calc'!A0",
    "+1+2",
    "-1+2",
    "@SUM(1)",
    "plain \xc3\xa9",
};
enum { NAMES = sizeof names / sizeof *names };

static pthread_mutex_t locks[NAMES];

static void *wait_for(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(void)
{
    for (size_t i = 0; i < NAMES; i++) {
        pthread_t waiter;
        pthread_mutex_init(&locks[i], NULL);
        upmu_lock_name(&locks[i], names[i]);
        upmu_region_begin(names[i]);
        upmu_mark(names[i]);
        pthread_mutex_lock(&locks[i]);
        if (pthread_create(&waiter, NULL, wait_for, &locks[i]) != 0)
            return 1;
        (void)pthread_setname_np(waiter, "=thr\xc2\x9b\x9b\x1b[5m");
        usleep(5000);
        pthread_mutex_unlock(&locks[i]);
        pthread_join(waiter, NULL);
        upmu_region_end(names[i]);
    }
    return 0;
}
