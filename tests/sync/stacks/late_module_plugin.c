/* SPDX-License-Identifier: MIT */
/* The module of late_module.c. */
__attribute__((visibility("default"))) void late_module_call(void (*function)(void));

void late_module_call(void (*function)(void))
{
    function();
    __asm__ volatile("" ::: "memory"); /* no jump */
}
