/* SPDX-License-Identifier: MIT */
/* Mutexes that are free in a forked child. Room: core; used by whatever is not on the traced path. */
#include "core/forking.h"

static pthread_mutex_t locks[FORKING_LOCKS] = {
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
};
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

static void take_all(void)
{
    for (int i = 0; i < FORKING_LOCKS; i++)
        pthread_mutex_lock(&locks[i]);
}

static void give_all(void)
{
    for (int i = FORKING_LOCKS; i-- > 0;)
        pthread_mutex_unlock(&locks[i]);
}

/* Only now, so that a program which never asks anything of us forks as it always did. If there is no memory for the
 * handlers, a child of many threads runs the risk that it runs with any library. */
static void install_handlers(void)
{
    (void)pthread_atfork(take_all, give_all, give_all);
}

void forking_take(enum forking_lock lock)
{
    pthread_once(&handlers_once, install_handlers);
    pthread_mutex_lock(&locks[lock]);
}

void forking_give(enum forking_lock lock)
{
    pthread_mutex_unlock(&locks[lock]);
}
