/* SPDX-License-Identifier: MIT */
/* A library whose constructor calls the program that loads it. */
void static_in_loader_constructor(void);

__attribute__((constructor)) static void plugin_load(void)
{
    static_in_loader_constructor();
}
