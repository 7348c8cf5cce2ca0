/* SPDX-License-Identifier: MIT */
/* Loads two libraries alternately, each of which has a static lock of the same name. Arguments: the libraries. */
#include <dlfcn.h>
#include <stdio.h>

enum { ROUNDS = 12 };

int main(int argc, char **argv)
{
    for (int i = 0; argc == 3 && i < 2 * ROUNDS; i++) {
        void *library = dlopen(argv[1 + i % 2], RTLD_NOW | RTLD_LOCAL),
             *symbol = library ? dlsym(library, "work") : NULL;
        void (*work)(void);
        *(void **)(void *)&work = symbol;
        if (!symbol) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        work();
        dlclose(library);
    }
    return argc != 3;
}
