// SPDX-License-Identifier: MIT
// An exception that a library's function (-DLIBRARY) throws, through the replaced return addresses of two of its callers.
#include <cstdio>
#include <stdexcept>

void wrapped_throws(int depth, void (*next)(int));

#ifdef LIBRARY
void wrapped_throws(int depth, void (*next)(int))
{
    if (depth == 0)
        throw std::runtime_error("end");
    next(depth - 1);
}
#else
static void next(int depth)
{
    wrapped_throws(depth, next);
}

int main()
{
    int caught = 0;
    for (int i = 0; i < 10; i++) {
        try {
            next(3);
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    std::printf("calls wrapped_throws(int,void(*)(int)) 40\n");
    return caught != 10;
}
#endif
