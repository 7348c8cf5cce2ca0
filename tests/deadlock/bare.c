/* SPDX-License-Identifier: MIT */
/* A stripped library: code between its exported functions has no symbol (stacks.c). */
static volatile int sink;

void bare_first(void);
void bare_entry(void (*call)(void));

__attribute__((visibility("default"))) void bare_first(void)
{
    sink++;
}

static __attribute__((noinline)) void nameless(void (*call)(void))
{
    call();
    sink++;
}

__attribute__((visibility("default"))) void bare_entry(void (*call)(void))
{
    nameless(call);
    sink++;
}
