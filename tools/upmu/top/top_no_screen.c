/* SPDX-License-Identifier: MIT */
/* Replacement of top_screen.c in builds without ncurses. */
#include "ui/output.h"
#include "top.h"

static int no_screen_check(void)
{
    complain("this upmu was built without ncurses and cannot draw on a terminal; use --json");
    return -1;
}

static bool no_show(const struct top *t, double seconds)
{
    (void)t;
    (void)seconds;
    return false;
}

static void no_end(void)
{
}

const struct top_view top_screen = {.check = no_screen_check, .begin = no_screen_check, .show = no_show, .end = no_end};
