/* SPDX-License-Identifier: MIT */
/* Exceptions through instrumented functions, as subject.c. */
#include <cstdio>
#include <string>

static volatile unsigned sink;

#define OWN __attribute__((noinline))

OWN static void leaf()
{
    sink = sink + 1;
}

struct guard {
    OWN ~guard()
    {
        leaf();
    }
};

OWN static void throws(int depth)
{
    guard g;
    if (depth == 0)
        throw std::string("far");
    throws(depth - 1);
    sink = sink + 1;
}

OWN static void after()
{
    leaf();
}

OWN static void catches()
{
    try {
        throws(3);
    } catch (const std::string &) {
        after();
    }
    leaf();
}

namespace named
{
template <typename T> OWN void shape(T)
{
    leaf();
}
} // namespace named

int main()
{
    for (int i = 0; i < 20; i++)
        catches();
    named::shape(1);
    named::shape(2.5);
    std::puts("calls throws(int) 80\ncalls catches() 20\ncalls after() 20\nedge catches() after() 20\n"
              "edge catches() throws(int) 20\ncalls guard::~guard() 80\nedge main catches() 20\n"
              "calls void named::shape<int>(int) 1\ncalls void named::shape<double>(double) 1\ncalls leaf() 122");
}
