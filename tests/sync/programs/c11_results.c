/* SPDX-License-Identifier: MIT */
/* Calls of threads.h that fail, or end at a time limit. */
#include <threads.h>
#include <time.h>

static mtx_t held;

static int c11_call(void *arg)
{
    const struct timespec past = {.tv_sec = 1};
    (void)arg;
    return mtx_trylock(&held) == thrd_busy && mtx_timedlock(&held, &past) == thrd_timedout ? 7 : 0;
}

int main(void)
{
    const struct timespec past = {.tv_sec = 1};
    thrd_t other;
    cnd_t cond;
    int result = 0;
    mtx_init(&held, mtx_timed);
    cnd_init(&cond);
    mtx_lock(&held);
    if (cnd_timedwait(&cond, &held, &past) != thrd_timedout)
        return 1;
    if (thrd_create(&other, c11_call, NULL) != thrd_success || thrd_join(other, &result) != thrd_success)
        return 1;
    mtx_unlock(&held);
    return result == 7 ? 0 : 1;
}
