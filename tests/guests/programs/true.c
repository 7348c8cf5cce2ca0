/* SPDX-License-Identifier: MIT */
/* A command for guests, which have none: it succeeds. Room: tests. Before it the kernel door's tests. */
int main(void)
{
    return 0;
}
