/* SPDX-License-Identifier: MIT */
/* upmu/curses.so: the table of ncurses' functions. It is linked with ncurses, so that packages depend on it as on any other library. */
#include "top_curses.h"

static WINDOW *curses_window(void)
{
    return stdscr;
}

static int curses_lines(void)
{
    return LINES;
}

static int curses_columns(void)
{
    return COLS;
}

#define TOP_CURSES_ROW(name) .name = name,
static const struct top_curses curses_table = {TOP_CURSES_FUNCTIONS(TOP_CURSES_ROW).window = curses_window,
                                               .lines = curses_lines, .columns = curses_columns};

__attribute__((visibility("default"))) const struct top_curses *upmu_curses(size_t bytes)
{
    return bytes == sizeof curses_table ? &curses_table : NULL;
}
