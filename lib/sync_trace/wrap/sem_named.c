/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of sem_open(), sem_close(), sem_unlink() and sem_getvalue().
 *
 * A semaphore opened twice is one object at one address, so opening does not begin it and closing does not end it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#include "base/tick.h"
#include "sync_trace/account/sem_permits.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/state/notes.h"
#include "sync_trace/thread_life.h"

static void write_sem(struct sync_thread *t, int32_t kind, const sem_t *s, const char *name, uintptr_t site, int result)
{
    int saved = errno;
    uint64_t tick = tick_now();
    struct trace_sync e = {
        .kind = kind,
        .object_type = UPMU_OBJECT_SEM,
        .object = (uintptr_t)s,
        .site = site,
        .result = result,
        .name = name,
        .stack = sync_stack(t, tick, site),
    };
    sync_write(t, tick, &e);
    errno = saved;
}

/* The number of permits of a semaphore that exists already; of one that is acquired at present it is not known. */
static unsigned sem_named_value(sem_t *s)
{
    int value;
    return SYNC_REAL(sem_getvalue)(s, &value) == 0 && value > 0 ? (unsigned)value : 0;
}

UPMU_API sem_t *sem_open(const char *name, int flags, ...)
{
    mode_t mode = 0;
    unsigned value = 0;
    if (flags & O_CREAT) {
        va_list ap;
        va_start(ap, flags);
        mode = va_arg(ap, mode_t);
        value = va_arg(ap, unsigned);
        va_end(ap);
    }
    sem_t *s = SYNC_REAL(sem_open)(name, flags, mode, value);
    struct sync_thread *t = sync_recording();
    if (s != SEM_FAILED)
        sync_sem_opened(s, flags & O_CREAT ? value : sem_named_value(s));
    if (t && s != SEM_FAILED)
        sync_note_name((uintptr_t)s, UPMU_OBJECT_SEM, name);
    if (t)
        write_sem(t, UPMU_TRACE_SEM_OPEN, s == SEM_FAILED ? NULL : s, name, CALL_SITE(), s == SEM_FAILED ? errno : 0);
    return s;
}

UPMU_API int sem_close(sem_t *s)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(sem_close)(s);
    if (t)
        write_sem(t, UPMU_TRACE_SEM_CLOSE, s, NULL, CALL_SITE(), rc == 0 ? 0 : errno);
    return rc;
}

UPMU_API int sem_unlink(const char *name)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(sem_unlink)(name);
    if (t)
        write_sem(t, UPMU_TRACE_SEM_UNLINK, NULL, name, CALL_SITE(), rc == 0 ? 0 : errno);
    return rc;
}

/* Programs that read a semaphore's value do so often: an event in mode all only. */
UPMU_API int sem_getvalue(sem_t *s, int *value)
{
    int rc = SYNC_REAL(sem_getvalue)(s, value);
    struct sync_thread *t = sync_mode() == MODE_ALL && rc == 0 ? sync_thread() : NULL;
    if (t) {
        int saved = errno;
        uint64_t tick = tick_now();
        struct trace_sync e = {
            .kind = UPMU_TRACE_SEM_VALUE,
            .object_type = UPMU_OBJECT_SEM,
            .object = (uintptr_t)s,
            .site = CALL_SITE(),
            .count = *value > 0 ? (uint64_t)*value : 0,
        };
        e.stack = sync_stack(t, tick, (uintptr_t)e.site);
        sync_write(t, tick, &e);
        errno = saved;
    }
    return rc;
}
