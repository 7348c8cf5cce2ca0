/* SPDX-License-Identifier: MIT */
/* An object for the fuzz target module.c: a function, a call that is inlined, and a tail call. */
int fuzz_seed_outer(int n);
int fuzz_seed_other(int n);

static inline int inlined(int n)
{
    return n * 3 + 1;
}

__attribute__((noinline)) int fuzz_seed_other(int n)
{
    return n / 7;
}

int fuzz_seed_outer(int n)
{
    return n > 5 ? inlined(n) : fuzz_seed_other(n + 2);
}
