/* SPDX-License-Identifier: MIT */
/* A frame without unwind information, as in code that is made at run time. */
void call_without_unwind_info(void (*function)(int), int depth);

void call_without_unwind_info(void (*function)(int), int depth)
{
    if (depth > 0)
        call_without_unwind_info(function, depth - 1);
    else
        function(depth);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}
