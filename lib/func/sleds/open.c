/* SPDX-License-Identifier: MIT */
/*
 * dlopen(): sleds of modules that are loaded later are patched, and their calls of wrapped functions replaced.
 *
 * The C library looks up a name without a slash by the paths of the module that calls dlopen(), which must not become this
 * one: such a call is passed on by a jump, and its module patched at the next call, or found at the end, which is printed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "func/sleds/returns.h"
#include "func/sleds/sleds.h"
#include "func/sleds/wraps.h"
#include "func/state.h"

#if FUNC_HAS_RETURNS
UPMU_API FUNC_PLAIN void *dlopen(const char *file, int flags)
{
    void *(*real)(const char *, int);
    *(void **)(void *)&real = dlsym(RTLD_NEXT, "dlopen");
    if (!real)
        return NULL;
    bool is_path = file && strchr(file, '/') && !strchr(file, '$');
    func_sleds_patch_late();
    func_wraps_add_opened();
    if ((!func_sleds_are_on() && !func_wraps_are_on()) || !is_path)
        return real(file, flags); /* a jump */
    void *handle = real(file, flags);
    int saved = errno;
    if (handle) {
        func_sleds_patch_opened();
        func_wraps_add_opened();
    }
    errno = saved;
    return handle;
}
#endif
