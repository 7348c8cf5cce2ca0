/* SPDX-License-Identifier: MIT */
/* Tries by which CPython acquires its locks. */
#include "sync_trace/account/python_try.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/process/loaded_module.h"

struct sync_python sync_python;

/*
 * Offsets and opcodes of a version of CPython, which do not change within it: from Include/cpython/pystate.h,
 * Include/internal/pycore_frame.h and the module `opcode` of each.
 */
struct python_version {
    uint16_t number;
    uint8_t thread_frame; /* in the thread's state: its frame, or a C frame */
    int8_t c_frame;       /* in a C frame: the frame; -1: there is none */
    uint8_t frame_code;   /* in the frame; it has the instruction that is executed at the same offset in all */
    uint8_t before_with;  /* opcodes; each has two bytes with its argument; 0: there is none */
    uint8_t load_const;
    uint8_t call[2];
    uint8_t call_keywords; /* the names of keywords are loaded before it */
    uint8_t keywords;      /* an instruction between the arguments and the call */
    uint8_t arguments_end; /* bytes between these and the call */
};

static const struct python_version python_versions[] = {
    {0x030B, 56, 8, 32, 53, 100, {171, 22}, 0, 172, 4},
    {0x030C, 56, 0, 0, 53, 100, {171, 0}, 0, 172, 0},
    {0x030D, 72, -1, 0, 2, 83, {53, 176}, 57, 0, 0},
};
enum { FRAME_INSTRUCTION = 56, CODE_CONSTANTS = 24, OP_BYTES = 2 };

struct python_tuple {
    intptr_t references;
    const void *type;
    intptr_t size;
    const void *item[];
};

static const void *python_pointer(const void *object, size_t offset)
{
    const void *p;
    memcpy(&p, (const char *)object + offset, sizeof p);
    return p;
}

static const void *python_frame(const struct python_version *v)
{
    const void *thread = sync_python.thread_state();
    const void *frame = thread ? python_pointer(thread, v->thread_frame) : NULL;
    return frame && v->c_frame >= 0 ? python_pointer(frame, (size_t)v->c_frame) : frame;
}

/* Whether the only argument of a call is the constant True. */
static bool python_argument_is_true(const struct python_version *v, const void *frame, const uint8_t *call)
{
    const uint8_t *at = call - v->arguments_end - OP_BYTES;
    at -= call[0] == v->call_keywords || (v->keywords && at[0] == v->keywords) ? OP_BYTES : 0;
    const struct python_tuple *constants = python_pointer(python_pointer(frame, v->frame_code), CODE_CONSTANTS);
    return at[0] == v->load_const && at[1] < constants->size && constants->item[at[1]] == sync_python.is_true;
}

uint32_t sync_python_try_flags_(void)
{
    const struct python_version *v = sync_python.version;
    const void *frame = python_frame(v);
    const uint8_t *at = frame ? python_pointer(frame, FRAME_INSTRUCTION) : NULL;
    if (!at)
        return UPMU_TRACE_FLAG_TRIED;
    if (at[0] == v->before_with)
        return 0;
    if (at[0] != v->call[0] && at[0] != v->call[1] && at[0] != v->call_keywords)
        return UPMU_TRACE_FLAG_TRIED;
    if (at[1] == 0 || (at[1] == 1 && python_argument_is_true(v, frame, at)))
        return 0;
    return UPMU_TRACE_FLAG_TRIED | UPMU_TRACE_FLAG_TIMED;
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

static const struct python_version *python_version_of(unsigned long hex)
{
    enum { VERSION_SHIFT = 16 };
    for (size_t i = 0; i < sizeof python_versions / sizeof *python_versions; i++)
        if (hex >> VERSION_SHIFT == python_versions[i].number)
            return &python_versions[i];
    return NULL;
}

void sync_python_start(void)
{
    void *locks = dlsym(RTLD_DEFAULT, "PyThread_acquire_lock_timed"),
         *state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");
    /* Built with Py_TRACE_REFS, or without the global lock: objects begin otherwise. */
    bool other = dlsym(RTLD_DEFAULT, "_Py_PrintReferences") || dlsym(RTLD_DEFAULT, "_Py_MergeZeroLocalRefcount");
    sync_python.is_true = dlsym(RTLD_DEFAULT, "_Py_TrueStruct");
    sync_python.version = version ? python_version_of(*version) : NULL;
    *(void **)(void *)&sync_python.thread_state = state;
    if (sizeof(void *) == sizeof(uint64_t) && locks && state && sync_python.is_true && sync_python.version && !other)
        (void)dl_iterate_phdr(python_find_module, locks);
}
