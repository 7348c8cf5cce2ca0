/* SPDX-License-Identifier: MIT */
/* Tries by which CPython acquires its locks. */
#include "sync_trace/account/python_try.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/loaded_module.h"

struct sync_python sync_python;

/* The beginnings of CPython's structs, which do not change within 3.11. */
enum { PYTHON_VERSION = 0x030B };

struct python_frame {
    const void *func, *globals, *builtins, *locals;
    const struct python_code *code;
    const void *object, *previous;
    const uint8_t *instruction; /* that is executed: its opcode and its argument */
};

struct python_c_frame {
    uint8_t use_tracing;
    const struct python_frame *current;
};

struct python_thread {
    const void *prev, *next, *interpreter;
    int numbers[7];
    const struct python_c_frame *c_frame;
};

struct python_tuple {
    intptr_t references;
    const void *type;
    intptr_t size;
    const void *item[];
};

struct python_code {
    intptr_t references;
    const void *type;
    intptr_t size;
    const struct python_tuple *constants;
};

/* An instruction has two bytes, and after PRECALL a cache of two. */
enum {
    OP_CALL_ADAPTIVE = 22,
    OP_BEFORE_WITH = 53,
    OP_LOAD_CONST = 100,
    OP_CALL = 171,
    OP_KW_NAMES = 172,
    OP_BYTES = 2,
    PRECALL_BYTES = 4,
};

/* Whether the only argument of a call is the constant True. */
static bool python_argument_is_true(const struct python_frame *f)
{
    const uint8_t *at = f->instruction - PRECALL_BYTES - OP_BYTES;
    at -= at[0] == OP_KW_NAMES ? OP_BYTES : 0;
    const struct python_tuple *constants = f->code->constants;
    return at[0] == OP_LOAD_CONST && at[1] < constants->size && constants->item[at[1]] == sync_python.is_true;
}

uint32_t sync_python_try_flags_(void)
{
    const struct python_thread *t = sync_python.thread_state();
    const struct python_frame *f = t && t->c_frame ? t->c_frame->current : NULL;
    if (!f || !f->instruction)
        return UPMU_TRACE_FLAG_TRIED;
    switch (f->instruction[0]) {
    case OP_BEFORE_WITH:
        return 0;
    case OP_CALL:
    case OP_CALL_ADAPTIVE:
        if (f->instruction[1] == 0 || (f->instruction[1] == 1 && python_argument_is_true(f)))
            return 0;
        return UPMU_TRACE_FLAG_TRIED | UPMU_TRACE_FLAG_TIMED;
    default:
        return UPMU_TRACE_FLAG_TRIED;
    }
}

static int python_find_module(struct dl_phdr_info *info, size_t size, void *function)
{
    uint64_t start, end, at = (uintptr_t)function;
    (void)size;
    if (!loaded_module_extent(info, &start, &end) || at < start || at >= end)
        return 0;
    sync_python.start = (uintptr_t)start;
    sync_python.end = (uintptr_t)end;
    return 1;
}

void sync_python_start(void)
{
    enum { VERSION_SHIFT = 16 };
    void *locks = dlsym(RTLD_DEFAULT, "PyThread_acquire_lock_timed"),
         *state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");
    bool traces = dlsym(RTLD_DEFAULT, "_Py_PrintReferences"); /* built with Py_TRACE_REFS: objects begin otherwise */
    sync_python.is_true = dlsym(RTLD_DEFAULT, "_Py_TrueStruct");
    *(void **)(void *)&sync_python.thread_state = state;
    if (sizeof(void *) == sizeof(uint64_t) && locks && state && sync_python.is_true && version && !traces &&
        *version >> VERSION_SHIFT == PYTHON_VERSION)
        (void)dl_iterate_phdr(python_find_module, locks);
}
