/* SPDX-License-Identifier: MIT */
/* A program whose symbols are looked up; test_symbols.c finds its lines by their marks. */
#include <stdio.h>

static inline __attribute__((always_inline)) const void *inner(void)
{
    const void *here;
    __asm__ volatile("0: nop\n\t"
                     ".pushsection .upmu_here,\"aw\"\n\t"
                     ".balign 8\n\t"
                     ".8byte 0b\n\t"
                     ".popsection" ::
                         : "memory"); /* MARK inner */
    here = 0;
    return here;
}

static inline __attribute__((always_inline)) const void *middle(void)
{
    return inner(); /* MARK middle */
}

__attribute__((noinline)) const void *outer(void)
{
    return middle(); /* MARK outer */
}

int main(void)
{
    printf("%d\n", outer() != 0);
    return 0;
}
