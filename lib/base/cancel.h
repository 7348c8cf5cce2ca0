/* SPDX-License-Identifier: MIT */
/** @file No cancellation of the calling thread for a while, also of one that can be canceled at any time. */
#ifndef UPMU_BASE_CANCEL_H
#define UPMU_BASE_CANCEL_H

#include <pthread.h>

/** State and type before. */
struct cancel_hold {
    int state, type;
};

static inline void cancel_hold(struct cancel_hold *c)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &c->state);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &c->type);
}

/** As before. A thread of asynchronous type that was canceled meanwhile ends here, so this comes last. The type is restored after the state,
 *  because where glibc ends a thread in pthread_setcancelstate(), pthread_join() gives NULL and not PTHREAD_CANCELED. */
static inline void cancel_resume(const struct cancel_hold *c)
{
    pthread_setcancelstate(c->state, NULL);
    pthread_setcanceltype(c->type, NULL);
}

#endif
