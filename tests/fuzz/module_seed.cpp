/* SPDX-License-Identifier: MIT */
/* An object for the fuzz target module.c in C++: names that are mangled, members, templates, static variables with locks in them. */
namespace seed
{
struct lock {
    int word;
    long owner;
};

struct state {
    char name[12];
    lock locks[3];
    union {
        lock inner;
        long other;
    };
};

state pool[2];
static lock alone;

template <typename T> class table
{
  public:
    __attribute__((noinline)) static T at(T n)
    {
        static lock guard;
        guard.word++;
        return pass(n) + static_cast<T>(guard.owner);
    }

  private:
    static inline T pass(T n)
    {
        pool[1].inner.word += alone.word;
        return n * 3;
    }
};

__attribute__((cold, noinline)) long refuse(long n)
{
    return n - 1;
}

__attribute__((noinline)) long outer(long n)
{
    if (n > 7)
        return refuse(n) + table<int>::at(static_cast<int>(n));
    {
        long inner = n * alone.owner;
        pool[0].locks[2].word = static_cast<int>(inner);
    }
    return table<long>::at(n);
}
} // namespace seed

extern "C" long seed_entry(long n)
{
    return seed::outer(n);
}
