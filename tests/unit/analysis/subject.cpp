// SPDX-License-Identifier: MIT
// A C++ program whose symbols test_symbols.c looks up.
#include <cstdio>

namespace shop
{
struct counter {
    int value;
    __attribute__((noinline)) int add(int more);
};
int counter::add(int more)
{
    __asm__ volatile("0: nop\n\t"
                     ".pushsection .upmu_here,\"aw\"\n\t"
                     ".balign 8\n\t"
                     ".8byte 0b\n\t"
                     ".popsection" ::
                         : "memory"); /* MARK inner */
    return value += more;
}
} // namespace shop

int main()
{
    shop::counter c = {1};
    std::printf("%d\n", c.add(2));
    return 0;
}
