/* SPDX-License-Identifier: MIT */
/*
 * Locks that are free in a forked child.
 *
 * They are not POSIX mutexes, which sync tracing would record as the program's.
 */
#include "base/forking.h"

#include <pthread.h>

#include "base/own_once.h"
#include "base/tiny_lock.h"

static struct tiny_lock locks[FORKING_LOCKS];
static struct own_once handlers_once;

static void forking_lock_all(void)
{
    for (int i = 0; i < FORKING_LOCKS; i++)
        tiny_lock_take(&locks[i]);
}

static void forking_unlock_all(void)
{
    for (int i = FORKING_LOCKS; i-- > 0;)
        tiny_lock_give(&locks[i]);
}

/* Installed at the first use, so that fork() of a program that never uses the library is unchanged. Without memory
 * for the handlers, the child of a multi-threaded process may find a lock held. */
static void forking_install(void)
{
    (void)pthread_atfork(forking_lock_all, forking_unlock_all, forking_unlock_all);
}

void forking_take(enum forking_lock lock)
{
    own_once(&handlers_once, forking_install);
    tiny_lock_take(&locks[lock]);
}

void forking_give(enum forking_lock lock)
{
    tiny_lock_give(&locks[lock]);
}
