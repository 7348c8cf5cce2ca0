// SPDX-License-Identifier: MIT
// Calls of many kinds, at random: compiled several times with other options (CMakeLists.txt).
#include <alloca.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <pthread.h>
#include <signal.h>

#ifndef WALKS
#error "WALKS names the function"
#endif

namespace
{
void (*take)();
uint64_t state;
volatile int sink;

unsigned draw(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return unsigned(state >> 33) % n;
}

void any(int depth);

[[gnu::noinline]] void plain(int depth)
{
    volatile char here[40];
    here[draw(40)] = char(depth);
    any(depth - 1);
    sink += here[0];
}

[[gnu::noinline]] void grows(int depth)
{
    volatile char *here = static_cast<volatile char *>(alloca(1 + draw(3000)));
    here[0] = char(depth);
    any(depth - 1);
    sink += here[0];
}

[[gnu::noinline]] void aligned(int depth)
{
    alignas(64) volatile char here[64];
    here[draw(64)] = char(depth);
    any(depth - 1);
    sink += here[1];
}

[[gnu::noinline]] int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int depth)
{
    any(depth - 1);
    return a + b + c + d + e + f + g + h + i + j;
}

struct Shape {
    virtual void call(int depth) = 0;
    virtual ~Shape() = default;
};

struct Circle : Shape {
    void call(int depth) override
    {
        any(depth - 1);
        sink++;
    }
};

struct Last {
    int depth;
    ~Last()
    {
        any(depth - 1);
        sink++;
    }
};

[[gnu::noinline]] void throws(int depth)
{
    Last last{depth};
    if (draw(2) == 0)
        throw depth;
    sink++;
}

[[gnu::noinline]] void catches(int depth)
{
    try {
        throws(depth - 1);
    } catch (int deep) {
        any(deep - 1);
        sink++;
    }
}

int deep_compare;
int compare(const void *, const void *)
{
    if (deep_compare > 0) {
        int depth = deep_compare;
        deep_compare = 0;
        any(depth - 1);
        sink++;
    }
    return 0;
}

void on_signal(int)
{
    take();
    sink++;
}

void any(int depth)
{
    if (depth <= 0) {
        take();
        sink++;
        return;
    }
    switch (draw(11)) {
    case 0:
        return plain(depth);
    case 1:
        return grows(depth);
    case 2:
        return aligned(depth);
    case 3:
        sink += many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, depth);
        break;
    case 4:
        std::unique_ptr<Shape>(new Circle)->call(depth);
        break;
    case 5:
        std::function<void()>([depth] { any(depth - 1); })();
        break;
    case 6:
        return catches(depth);
    case 7: {
        int numbers[3] = {3, 1, 2};
        deep_compare = depth;
        qsort(numbers, 3, sizeof *numbers, compare);
        break;
    }
    case 8: {
        int numbers[3] = {3, 1, 2};
        std::for_each(numbers, numbers + 3, [&](int n) {
            if (n == 1)
                any(depth - 1);
        });
        break;
    }
    case 9:
        if (draw(8) == 0)
            raise(SIGUSR1);
        any(depth - 1);
        break;
    default: {
        Last last{depth};
    }
    }
    sink++;
}
} // namespace

extern "C" void WALKS(void (*take_stack)(), int stacks);
extern "C" void WALKS(void (*take_stack)(), int stacks)
{
    struct sigaction action = {};
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, nullptr);
    take = take_stack;
    state = 88172645463325252u;
    for (int i = 0; i < stacks; i++)
        any(1 + int(draw(20)));
}
