/* SPDX-License-Identifier: MIT */
/* upmu top on a terminal, drawn with ncurses. */
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include <curses.h>

#include "ui/memory.h"
#include "ui/shorten.h"
#include "ui/output.h"
#include "report/report.h"
#include "stat/stat.h"
#include "top.h"

enum { PAIR_BAD = 1, PAIR_WARNING, PAIR_GOOD };

static int screen_begin(void)
{
    const char *term = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !term || !term[0]) {
        complain("upmu top needs a terminal; use --json for programs");
        return -1;
    }
    (void)setlocale(LC_CTYPE, ""); /* names are shown in the user's encoding; without it they are ASCII */
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen) {
        complain("unknown terminal type '%s' (TERM); use --json", term);
        return -1;
    }
    (void)cbreak();
    (void)noecho();
    (void)curs_set(0);
    (void)keypad(stdscr, TRUE);
    if (has_colors() && start_color() == OK && use_default_colors() == OK) {
        (void)init_pair(PAIR_BAD, COLOR_WHITE, COLOR_RED);
        (void)init_pair(PAIR_WARNING, COLOR_YELLOW, -1);
        (void)init_pair(PAIR_GOOD, COLOR_GREEN, -1);
    }
    return 0;
}

/* As much of a text as fits into `columns`. What no terminal should be sent is shown as '?': control characters of foreign
 * names, bytes that are no text. @return bytes. */
static size_t screen_fitting(char *text, int columns)
{
    mbstate_t state = {0};
    size_t at = 0;
    while (text[at]) {
        wchar_t c;
        size_t n = mbrtowc(&c, text + at, strlen(text + at), &state);
        bool whole = n != (size_t)-1 && n != (size_t)-2;
        int width = whole && iswprint((wint_t)c) ? wcwidth(c) : -1;
        if (width < 0) {
            n = whole ? n : 1;
            text[at] = '?';
            memmove(text + at + 1, text + at + n, strlen(text + at + n) + 1);
            n = 1;
            width = 1;
            state = (mbstate_t){0};
        }
        if (columns < width)
            return at;
        columns -= width;
        at += n;
    }
    return at;
}

static void screen_put_line(int *y, int how, char *text)
{
    if (*y < LINES) {
        size_t n = screen_fitting(text, COLS - 1);
        (void)attrset(how);
        (void)mvaddnstr(*y, 0, text, (int)n);
        (void)attrset(A_NORMAL);
    }
    (*y)++;
    free(text);
}

static double screen_per_second(const struct top *t, uint64_t n)
{
    return t->totals.interval_ns > 0 ? (double)n * 1e9 / (double)t->totals.interval_ns : 0;
}

static void screen_put_title(int *y, const struct top *t)
{
    bool bad = t->n_deadlocks > 0;
    screen_put_line(y, bad ? COLOR_PAIR(PAIR_BAD) | A_BOLD : A_BOLD,
                    memory_format("upmu top: %s%s  %zu threads  %.0f events/s, %" PRIu64 " in all%s%s   (q: quit)",
                                  t->subject, t->running ? "" : " (ended)", t->n_threads,
                                  screen_per_second(t, t->totals.events), t->totals.all_events,
                                  t->totals.n_damages ? "  DAMAGED" : "",
                                  t->totals.missed ? "  EVENTS MISSED: use a shorter interval" : ""));
}

static void screen_put_deadlocks(int *y, const struct top *t)
{
    for (size_t i = 0; i < t->n_deadlocks; i++) {
        const struct top_deadlock *d = &t->deadlocks[i];
        screen_put_line(y, COLOR_PAIR(PAIR_BAD) | (int)A_BOLD,
                        memory_format("DEADLOCK in process %ld: %s", (long)d->pid, d->headline));
        for (size_t k = 0; k < d->n_threads; k++)
            screen_put_line(y, COLOR_PAIR(PAIR_BAD), memory_format("  %s", d->threads[k].text));
    }
}

/* "mutex the till, held by 12 keeper, 1.2 ms" */
static char *screen_wait_text(const struct top *t, const struct upmu_monitor_thread *l)
{
    if (l->wait_kind < 0)
        return memory_copy("");
    char *object = l->wait_kind == UPMU_WAIT_JOIN ? memory_copy("the end of")
                                                  : top_object(l->object_type, l->object, l->object_name);
    char *holder = l->holder ? memory_format("%s%ld%s%s", l->wait_kind == UPMU_WAIT_JOIN ? " " : ", held by ",
                                             (long)l->holder, l->holder_name[0] ? " " : "", l->holder_name)
                             : memory_copy("");
    char *lasts = report_duration(t->totals.now_ns > l->since_ns ? t->totals.now_ns - l->since_ns : 0);
    char *text = memory_format("%s%s, for %s", object, holder, lasts);
    free(object);
    free(holder);
    free(lasts);
    return text;
}

static void screen_put_thread(int *y, const struct top *t, const struct top_thread *x)
{
    char *wait = screen_wait_text(t, &x->live);
    double waiting = screen_per_second(t, x->live.waited_ns) / 1e7;
    char *kernel = x->has_task
                       ? memory_format("%6.1f %6.1f %6.1f %8.0f %8.0f", x->running * 100, x->ready * 100, x->off * 100,
                                       (double)x->voluntary / t->interval_s, (double)x->involuntary / t->interval_s)
                       : memory_format("%6s %6s %6s %8s %8s", "-", "-", "-", "-", "-");
    screen_put_line(
        y, waiting > 50 ? COLOR_PAIR(PAIR_WARNING) : A_NORMAL,
        memory_format("%8ld %-15.15s %s %6.1f  %s", (long)x->live.tid, x->live.name, kernel, waiting, wait));
    free(kernel);
    free(wait);
}

static void screen_put_threads(int *y, const struct top *t, int most)
{
    screen_put_line(y, A_REVERSE,
                    memory_format("%8s %-15s %6s %6s %6s %8s %8s %6s  %s", "THREAD", "NAME", "CPU%", "PREE%", "OFF%",
                                  "VOL/s", "INVOL/s", "WAIT%", "WAITS FOR"));
    for (size_t i = 0; i < t->n_threads && (int)i < most; i++)
        screen_put_thread(y, t, &t->threads[i]);
    if ((int)t->n_threads > most)
        screen_put_line(y, A_DIM, memory_format("%8s and %zu more", "", t->n_threads - (size_t)most));
}

/* Of a lock: what the numbers leave of the line. */
static int screen_name_width(void)
{
    enum { NUMBERS = 54, LEAST = 20 };
    return COLS > NUMBERS + LEAST ? COLS - NUMBERS : LEAST;
}

static void screen_put_lock(int *y, const struct top *t, const struct top_lock *of)
{
    const struct upmu_monitor_lock *l = &of->live;
    char *object = of->n == 1 ? top_object(l->type, l->address, l->name)
                              : memory_format("%s %s (%zu)", report_type_name(l->type), l->group, of->n);
    char *total = report_duration(l->total_ns);
    char *holder = l->holder ? memory_format("%ld", (long)l->holder) : memory_copy("");
    char *shown = text_shortened(object, (size_t)screen_name_width());
    screen_put_line(y, A_NORMAL,
                    memory_format("%-*s %10.1f %10.1f %8" PRIu32 " %8s %12s", screen_name_width(), shown,
                                  screen_per_second(t, l->waited_ns) / 1e6, screen_per_second(t, l->waits), l->waiters,
                                  holder, total));
    free(shown);
    free(object);
    free(total);
    free(holder);
}

static void screen_put_locks(int *y, const struct top *t)
{
    screen_put_line(y, A_REVERSE,
                    memory_format("%-*s %10s %10s %8s %8s %12s", screen_name_width(), "LOCK", "WAIT ms/s", "WAITS/s",
                                  "WAITERS", "HOLDER", "TOTAL"));
    for (size_t i = 0; *y < LINES && i < t->n_locks; i++)
        screen_put_lock(y, t, &t->locks[i]);
}

/* A counter's part in the interval, if it has a number at both ends. */
static bool screen_counted(const struct upmu_value *v)
{
    return v->status == UPMU_EXACT || v->status == UPMU_SCALED;
}

static void screen_put_counters(int *y, const struct top *t)
{
    for (size_t i = 0; i < t->n_counts; i++) {
        const struct upmu_value *now = &t->counts[i], *before = &t->counts_before[i];
        const char *name = upmu_set_name(t->set, i);
        bool scaled = now->status == UPMU_SCALED || before->status == UPMU_SCALED;
        char *value =
            screen_counted(now) && screen_counted(before) && now->value >= before->value && t->interval_s > 0
                ? memory_format("%s%.4g /s", scaled ? "~" : "", (double)(now->value - before->value) / t->interval_s)
                : memory_copy(screen_counted(now) ? "" : upmu_status_name(now->status));
        screen_put_line(y, A_NORMAL, memory_format("%-36.36s %20s", name ? name : "?", value));
        free(value);
    }
}

static void screen_draw(const struct top *t)
{
    int y = 0;
    (void)erase();
    screen_put_title(&y, t);
    screen_put_deadlocks(&y, t);
    screen_put_counters(&y, t);
    y++;
    /* The threads have half of what is left, the locks the rest. */
    int half = (LINES - y - 4) / 2;
    screen_put_threads(&y, t, half > 3 ? half : 3);
    y++;
    screen_put_locks(&y, t);
    (void)refresh();
}

static bool screen_show(const struct top *t, double seconds)
{
    double until = top_clock() + seconds;
    screen_draw(t);
    for (double left = seconds; left > 0; left = until - top_clock()) {
        timeout((int)(left * 1000) + 1);
        int key = getch();
        if (key == 'q' || key == 'Q' || stat_signals_seen() != 0)
            return false;
        if (key == KEY_RESIZE)
            screen_draw(t);
        if (key == ' ' || !t->running)
            break;
    }
    return true;
}

static void screen_end(void)
{
    (void)endwin();
}

const struct top_view top_screen = {.begin = screen_begin, .show = screen_show, .end = screen_end};
