/* SPDX-License-Identifier: MIT */
/*
 * Frames of Java programs as they were written: without those of HotSpot's virtual machine and of its stubs.
 *
 * The frames of methods are those that the JIT symbol map names. What the virtual machine does for a method is one frame below it, and
 * interpreted methods in turn are one: which they are is not known.
 */
#include <string.h>

#include "samples/samples.h"

/* "void Hot.compute(long)"; a stub is "StubRoutines (1)" or "I2C/C2I adapters". */
static bool java_is_method(const char *name)
{
    const char *open = strrchr(name, '(');
    return open && open > name && open[-1] != ' ' && name[strlen(name) - 1] == ')';
}

enum samples_java samples_java_generated(const char *name)
{
    if (java_is_method(name))
        return JAVA_METHOD;
    return strcmp(name, "Interpreter") == 0 ? JAVA_INTERPRETER : JAVA_STUB;
}

enum samples_java samples_java_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    return strcmp(file, "libjvm.so") == 0 || strcmp(file, "libjli.so") == 0 ? JAVA_MACHINE : JAVA_NONE;
}

unsigned samples_java_frame(struct samples_java_stack *j, enum samples_java java)
{
    const bool is_code = java == JAVA_METHOD || java == JAVA_INTERPRETER;
    if (java == JAVA_MACHINE || java == JAVA_STUB) {
        j->is_hidden = true;
        return 0;
    }
    const unsigned runtime = j->is_hidden && j->in_code && !is_code ? JAVA_RUNTIME_BEFORE : 0;
    const bool again = java == JAVA_INTERPRETER && j->before == JAVA_INTERPRETER;
    j->in_code |= is_code;
    j->is_hidden = false;
    j->before = java;
    return runtime | (again ? 0 : JAVA_SHOWN);
}
