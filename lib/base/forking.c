/* SPDX-License-Identifier: MIT */
/* Locks that are free in a forked child. Room: core; used by whatever is not on the traced path. They are not POSIX
 * mutexes, which sync tracing would take for the program's. */
#include "base/forking.h"

#include <pthread.h>

#include "base/tiny_lock.h"

static struct tiny_lock locks[FORKING_LOCKS];
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

static void take_all(void)
{
    for (int i = 0; i < FORKING_LOCKS; i++)
        tiny_lock_take(&locks[i]);
}

static void give_all(void)
{
    for (int i = FORKING_LOCKS; i-- > 0;)
        tiny_lock_give(&locks[i]);
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
    tiny_lock_take(&locks[lock]);
}

void forking_give(enum forking_lock lock)
{
    tiny_lock_give(&locks[lock]);
}
