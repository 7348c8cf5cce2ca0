/* SPDX-License-Identifier: MIT */
/* A library of instrumented functions. */
void FUNCTION(void);

static volatile int sink;

void FUNCTION(void)
{
    sink++;
}
