/* SPDX-License-Identifier: MIT */
/* Function recording controlled by the program itself: upmu/func.h. */
#include "upmu/func.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/private_table.h"
#include "base/tick.h"
#include "func/files.h"
#include "func/process.h"
#include "func/sleds/sleds.h"
#include "func/state.h"

static struct tiny_lock func_lock; /* held by the thread that begins recording */

static int func_ended(const char *function)
{
    return upmu_fail(UPMU_E_STATE, "%s: recording of functions has ended", function);
}

static bool func_is_begun(void)
{
    return __atomic_load_n(&func_process.begun, __ATOMIC_ACQUIRE);
}

int upmu_func_start(void)
{
    int rc = 0;
    bool fresh = false;
    if (!func_is_begun()) {
        tiny_lock_take(&func_lock);
        fresh = !func_is_begun();
        rc = fresh ? func_process_begin(false) : 0;
        tiny_lock_give(&func_lock);
    }
    if (rc < 0 || fresh)
        return rc;
    if (__atomic_load_n(&func_process.ended, __ATOMIC_ACQUIRE))
        return UPMU_E_STATE; /* without a message, which is not async-signal-safe */
    return func_switch_on(func_process.control, func_gate());
}

int upmu_func_stop(void)
{
    if (!func_is_begun() || __atomic_load_n(&func_process.ended, __ATOMIC_ACQUIRE))
        return 1;
    return !func_switch_off(func_process.control, func_gate(), tick_now());
}

/* Other processes hold flock() on the directory while they change the selection. */
static int func_select_locked(void *arg)
{
    const struct func_selection_change *c = arg;
    int fd = func_process.to_trace ? open(func_process.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (func_process.to_trace && (fd < 0 || flock(fd, LOCK_EX) != 0)) {
        int err = errno;
        if (fd >= 0)
            close(fd);
        return upmu_fail(UPMU_E_IO, "upmu_func_select: cannot lock \"%s\": %s", func_process.dir, strerror(err));
    }
    int rc = func_switch_select(func_process.control, func_gate(), c, tick_now());
    if (fd >= 0)
        close(fd);
    return rc;
}

int upmu_func_select(const struct upmu_func_selection *selection)
{
    struct upmu_func_selection ours;
    if (!selection)
        return argument_null(__func__, "selection");
    int rc = OPTS_TAKE(ours, selection, UPMU_FUNC_SELECTION_SIZE_V1);
    if (rc < 0)
        return rc;
    if (!func_is_begun())
        return upmu_fail(UPMU_E_STATE, "upmu_func_select: recording of functions has not begun");
    struct func_selection_change change = {ours.include, ours.exclude, ours.below, ours.depth, ours.min_ns};
    struct func_shared *s = func_process.shared;
    if (!func_calls_begin())
        return func_ended(__func__);
    tiny_lock_take(&s->select);
    rc = __atomic_load_n(&func_process.ended, __ATOMIC_ACQUIRE) ? func_ended(__func__)
                                                                : private_table_run(func_select_locked, &change);
    tiny_lock_give(&s->select);
    func_calls_end();
    return rc;
}

/* The end of recording waits for this. */
static int func_sleds_change(const char *function, int (*change)(void))
{
    if (!func_is_begun())
        return upmu_fail(UPMU_E_STATE, "%s: recording of functions has not begun. Call upmu_func_start()", function);
    if (!func_calls_begin())
        return func_ended(function);
    int rc = __atomic_load_n(&func_process.ended, __ATOMIC_ACQUIRE) ? func_ended(function) : change();
    func_calls_end();
    return rc;
}

int upmu_func_patch(void)
{
    return func_sleds_change(__func__, func_sleds_patch);
}

int upmu_func_unpatch(void)
{
    return func_sleds_change(__func__, func_sleds_unpatch);
}
