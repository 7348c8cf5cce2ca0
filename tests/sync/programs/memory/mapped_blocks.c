/* SPDX-License-Identifier: MIT */
/* Blocks of malloc() that are larger than the C library's first limit are mapped, as long as the program frees none. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    enum { BYTES = 150000 };
    size_t before = mallinfo2().hblks;
    volatile char *block = malloc(BYTES);
    if (!block)
        return 1;
    block[0] = 1;
    printf("%zu mapped\n", mallinfo2().hblks - before);
    free((void *)block);
    return 0;
}
