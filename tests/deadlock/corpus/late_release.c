/* SPDX-License-Identifier: MIT */
/* Behind libupmu_sync in the search order, so that its condition waits are these: a thread may lose its processor between the
 * record of its wait and the release of the mutex. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "cases.h"

void (*dl_before_release)(void);

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    int (*wait)(pthread_cond_t *, pthread_mutex_t *);
    *(void **)&wait = dlsym(RTLD_NEXT, "pthread_cond_wait");
    void (*before)(void) = dl_before_release;
    dl_before_release = NULL;
    if (before)
        before();
    return wait ? wait(cond, mutex) : ENOSYS;
}
