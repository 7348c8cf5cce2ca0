/* SPDX-License-Identifier: MIT */
/* A command for guests, which have none: it succeeds. */
int main(void)
{
    return 0;
}
