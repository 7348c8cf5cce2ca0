/* SPDX-License-Identifier: MIT */
/** @file ncurses, opened by `upmu top` only: no other command pays for its loading. */
#ifndef UPMU_TOOL_TOP_CURSES_H
#define UPMU_TOOL_TOP_CURSES_H

#define NCURSES_NOMACROS 1 /* each of them is a function, too */
#include <curses.h>
#include <stddef.h>

/** The shared object that is linked with ncurses, from the folder of the libraries on. */
#define TOP_CURSES_MODULE "upmu/curses.so"

#define TOP_CURSES_FUNCTIONS(X) \
    X(COLOR_PAIR)               \
    X(addnstr)                  \
    X(attrset)                  \
    X(cbreak)                   \
    X(clearok)                  \
    X(curs_set)                 \
    X(endwin)                   \
    X(erase)                    \
    X(getch)                    \
    X(has_colors)               \
    X(init_pair)                \
    X(keypad)                   \
    X(mvaddnstr)                \
    X(newterm)                  \
    X(noecho)                   \
    X(refresh)                  \
    X(start_color)              \
    X(timeout)                  \
    X(use_default_colors)

#define TOP_CURSES_MEMBER(name) __typeof__(name) *name;
struct top_curses {
    TOP_CURSES_FUNCTIONS(TOP_CURSES_MEMBER)
    WINDOW *(*window)(void); /**< stdscr, which is a variable */
    int (*lines)(void), (*columns)(void);
};
#undef TOP_CURSES_MEMBER

/** @param bytes size of the caller's table @return the table; NULL if its size is another: it is of another build. */
const struct top_curses *upmu_curses(size_t bytes);

#endif
