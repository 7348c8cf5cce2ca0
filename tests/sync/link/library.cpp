/* SPDX-License-Identifier: MIT */
// A user of std::mutex in a library without any reference to libupmu.
#include <mutex>

static std::mutex mutex;

extern "C" __attribute__((visibility("default"))) void in_cpp_library()
{
    for (int i = 0; i < 33; i++)
        std::lock_guard<std::mutex> lock(mutex);
}
