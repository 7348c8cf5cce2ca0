/* SPDX-License-Identifier: MIT */
/* upmu top on a terminal, drawn with ncurses. */
#include <dlfcn.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "ui/library.h"
#include "ui/memory.h"
#include "ui/shorten.h"
#include "ui/output.h"
#include "report/report.h"
#include "stat/stat.h"
#include "top.h"
#include "top_curses.h"
#include "top_history.h"

enum { PAIR_BAD = 1, PAIR_WARNING, PAIR_GOOD };

/* From these widths on, a line has more columns. */
enum { WIDTH_SWITCHES = 110, WIDTH_SITE = 140 };

enum { NAME_WIDTH = 15 };

enum screen_sort { SORT_WAIT, SORT_CPU, SORT_SWITCHES, SORT_NAME, SORT_KEYS };
static const char *const sort_names[SORT_KEYS] = {"wait", "CPU", "switches", "name"};

/* What the keys have set; there is one terminal. */
static struct {
    enum screen_sort sort;
    size_t first; /* thread in the first row */
    bool paused;
    bool typing; /* keys are of the filter */
    bool blocks; /* the terminal's encoding is UTF-8 */
    char filter[64];
    struct top_history waiting; /* threads that waited for locks, on average in each interval */
} screen_state;

static const struct top_curses *curses;

/* It stays open. */
static int screen_open(void)
{
    const struct top_curses *(*table)(size_t);
    char *path = library_path(TOP_CURSES_MODULE);
    if (!path)
        return -1;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol = module ? dlsym(module, "upmu_curses") : NULL;
    free(path);
    if (!symbol) {
        complain("ncurses cannot be opened: %s. Install it and all files of libupmu, or use --json", dlerror());
        return -1;
    }
    memcpy(&table, &symbol, sizeof table);
    curses = table(sizeof *curses);
    if (!curses)
        complain("%s is of another version of upmu; use --json", TOP_CURSES_MODULE);
    return curses ? 0 : -1;
}

static int screen_check(void)
{
    const char *term = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !term || !term[0]) {
        complain("upmu top needs a terminal; use --json for programs");
        return -1;
    }
    return curses ? 0 : screen_open();
}

static int screen_begin(void)
{
    if (screen_check() != 0)
        return -1;
    (void)setlocale(LC_CTYPE, ""); /* names are shown in the user's encoding; without it they are ASCII */
    screen_state.blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    SCREEN *screen = curses->newterm(NULL, stdout, stdin);
    if (!screen) {
        complain("unknown terminal type '%s' (TERM); use --json", getenv("TERM"));
        return -1;
    }
    (void)curses->cbreak();
    (void)curses->noecho();
    (void)curses->curs_set(0);
    (void)curses->keypad(curses->window(), TRUE);
    if (curses->has_colors() && curses->start_color() == OK && curses->use_default_colors() == OK) {
        (void)curses->init_pair(PAIR_BAD, COLOR_WHITE, COLOR_RED);
        (void)curses->init_pair(PAIR_WARNING, COLOR_YELLOW, -1);
        (void)curses->init_pair(PAIR_GOOD, COLOR_GREEN, -1);
    }
    return 0;
}

#define CUT "..."

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

/* A line that is cut ends in "...". */
static void screen_put_line(int *y, int how, char *text)
{
    if (*y < curses->lines()) {
        size_t n = screen_fitting(text, curses->columns() - 1);
        bool cut = strspn(text + n, " ") < strlen(text + n);
        if (cut)
            n = screen_fitting(text, curses->columns() - 1 - (int)strlen(CUT));
        (void)curses->attrset(how);
        (void)curses->mvaddnstr(*y, 0, text, (int)n);
        if (cut)
            (void)curses->addnstr(CUT, -1);
        (void)curses->attrset(A_NORMAL);
    }
    (*y)++;
    free(text);
}

static double screen_per_second(const struct top *t, uint64_t n)
{
    return t->totals.interval_ns > 0 ? (double)n * 1e9 / (double)t->totals.interval_ns : 0;
}

/* "916.4 M", for numbers of any size. */
static char *screen_amount(double n)
{
    static const char units[] = " kMGT";
    size_t unit = 0;
    while (n >= 10000 && units[unit + 1])
        n /= 1000, unit++;
    return unit > 0 ? memory_format("%.1f %c", n, units[unit]) : memory_format(n < 10 ? "%.1f" : "%.0f", n);
}

/* The keys have a line of their own where they do not fit beside the title. */
static void screen_put_title_with_keys(int *y, int how, char *title)
{
    static const char keys[] = "q: quit, p: pause, s: sort, /: filter, arrows: scroll";
    if (strlen(title) + sizeof "   ()" + sizeof keys <= (size_t)curses->columns()) {
        screen_put_line(y, how, memory_format("%s   (%s)", title, keys));
        free(title);
    } else {
        screen_put_line(y, how, title);
        screen_put_line(y, A_NORMAL, memory_copy(keys));
    }
}

/* While recording is stopped there is nothing about locks to show. */
static const char *screen_stopped(const struct top *t)
{
    if (!t->running || t->totals.n_stopped == 0)
        return "";
    return t->totals.n_stopped == t->totals.n_processes ? " (recording is stopped)"
                                                        : " (recording of some processes is stopped)";
}

static void screen_put_title(int *y, const struct top *t)
{
    bool bad = t->n_deadlocks > 0;
    if (!t->live) {
        screen_put_title_with_keys(
            y, A_BOLD,
            memory_format("upmu top: %s%s%s  %zu thread%s  no recorder: scheduling only, no locks", t->subject,
                          t->running ? "" : " (ended)", screen_state.paused ? " (paused)" : "", t->n_threads,
                          t->n_threads == 1 ? "" : "s"));
        return;
    }
    char *events = screen_amount(screen_per_second(t, t->totals.events));
    screen_put_title_with_keys(y, (bad ? curses->COLOR_PAIR(PAIR_BAD) : 0) | (int)A_BOLD,
                               memory_format("upmu top: %s%s%s%s  %zu thread%s  %s events/s, %" PRIu64 " in all%s%s",
                                             t->subject, t->running ? "" : " (ended)",
                                             screen_state.paused ? " (paused)" : "", screen_stopped(t), t->n_threads,
                                             t->n_threads == 1 ? "" : "s", events, t->totals.all_events,
                                             t->totals.n_damages ? "  DAMAGED" : "",
                                             t->totals.missed ? "  EVENTS MISSED: use a shorter interval" : ""));
    free(events);
}

/* Calls and joins are not contention. */
static bool screen_is_idle(const struct upmu_monitor_lock *l)
{
    return l->type == UPMU_OBJECT_CALL || l->type == UPMU_OBJECT_THREAD;
}

static void screen_add_history(const struct top *t)
{
    double waiting = 0;
    for (size_t i = 0; i < t->n_locks; i++)
        waiting += screen_is_idle(&t->locks[i].live) ? 0 : screen_per_second(t, t->locks[i].live.waited_ns) / 1e9;
    top_history_add(&screen_state.waiting, waiting);
}

static void screen_put_history(int *y)
{
    enum { TITLE = 52, LEAST = 10 };
    const struct top_history *h = &screen_state.waiting;
    double now = h->n > 0 ? h->all[(h->n - 1) % TOP_HISTORY_MAX] : 0;
    char *bars = top_history_line(h, curses->columns() > TITLE + LEAST ? (size_t)(curses->columns() - TITLE) : LEAST,
                                  screen_state.blocks);
    screen_put_line(
        y, A_NORMAL,
        memory_format("waiting for locks: %5.2f threads, at most %5.2f  %s", now, top_history_max(h), bars));
    free(bars);
}

static void screen_put_filter(int *y)
{
    if (screen_state.typing || screen_state.filter[0])
        screen_put_line(y, A_BOLD,
                        memory_format("filter: %s%s", screen_state.filter,
                                      screen_state.typing ? "_  (Enter: keep, Esc: no filter)" : "  (/: change)"));
}

static bool screen_matches(const char *text)
{
    return !screen_state.filter[0] || strcasestr(text, screen_state.filter) != NULL;
}

static void screen_put_deadlocks(int *y, const struct top *t)
{
    for (size_t i = 0; i < t->n_deadlocks; i++) {
        const struct top_deadlock *d = &t->deadlocks[i];
        screen_put_line(y, curses->COLOR_PAIR(PAIR_BAD) | (int)A_BOLD,
                        memory_format("DEADLOCK in process %ld: %s", (long)d->pid, d->headline));
        for (size_t k = 0; k < d->n_threads; k++)
            screen_put_line(y, curses->COLOR_PAIR(PAIR_BAD), memory_format("  %s", d->threads[k].text));
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
    if (l->since_ns == 0) { /* the process has no recorder */
        free(holder);
        return object;
    }
    char *lasts = report_duration(t->totals.now_ns > l->since_ns ? t->totals.now_ns - l->since_ns : 0);
    char *site = curses->columns() >= WIDTH_SITE ? top_location(t, l->process, l->site) : memory_copy("");
    char *text = memory_format("%s%s, for %s%s%s", object, holder, lasts, site[0] ? ", at " : "", site);
    free(site);
    free(object);
    free(holder);
    free(lasts);
    return text;
}

static void screen_put_thread(int *y, const struct top *t, const struct top_thread *x)
{
    char *wait = screen_wait_text(t, &x->live);
    uint64_t recorded_ns = t->totals.interval_ns > x->live.stopped_ns ? t->totals.interval_ns - x->live.stopped_ns : 0;
    double waiting = recorded_ns > 0 ? 100 * (double)x->live.waited_ns / (double)recorded_ns : 0;
    char *waits = t->live && recorded_ns > 0 ? memory_format("%.1f", waiting) : memory_copy("-");
    bool is_wide = curses->columns() >= WIDTH_SWITCHES;
    char *name = text_shortened(x->live.name, NAME_WIDTH);
    char *kernel = !x->has_task ? memory_format(is_wide ? "%6s %6s %6s %8s %8s" : "%6s %6s", "-", "-", "-", "-", "-")
                   : is_wide
                       ? memory_format("%6.1f %6.1f %6.1f %8.0f %8.0f", x->running * 100, x->ready * 100, x->off * 100,
                                       (double)x->voluntary / t->interval_s, (double)x->involuntary / t->interval_s)
                       : memory_format("%6.1f %6.1f", x->running * 100, x->off * 100);
    screen_put_line(y, waiting > 50 ? curses->COLOR_PAIR(PAIR_WARNING) : (int)A_NORMAL,
                    memory_format("%8ld %-*s %s %6s  %s", (long)x->live.tid, NAME_WIDTH, name, kernel, waits, wait));
    free(name);
    free(waits);
    free(kernel);
    free(wait);
}

static double screen_sort_value(const struct top_thread *x)
{
    return screen_state.sort == SORT_CPU ? x->running : (double)(x->voluntary + x->involuntary);
}

static int screen_compare(const void *a, const void *b)
{
    const struct top_thread *x = *(const struct top_thread *const *)a, *y = *(const struct top_thread *const *)b;
    double more = screen_state.sort == SORT_NAME ? 0 : screen_sort_value(y) - screen_sort_value(x);
    int order = screen_state.sort == SORT_NAME ? strcmp(x->live.name, y->live.name) : more > 0 ? 1 : more < 0 ? -1 : 0;
    return order ? order : x < y ? -1 : 1; /* otherwise as they were: the longest waits first */
}

static void screen_put_threads_title(int *y)
{
    char *columns = curses->columns() >= WIDTH_SWITCHES
                        ? memory_format("%6s %6s %6s %8s %8s", "CPU%", "PREE%", "OFF%", "VOL/s", "INVOL/s")
                        : memory_format("%6s %6s", "CPU%", "OFF%");
    screen_put_line(y, A_REVERSE,
                    memory_format("%8s %-*s %s %6s  %s   (by %s)", "THREAD", NAME_WIDTH, "NAME", columns, "WAIT%",
                                  "WAITS FOR", sort_names[screen_state.sort]));
    free(columns);
}

/* By its id, its name, or what it waits for. */
static bool screen_wants_thread(const struct top *t, const struct top_thread *x)
{
    char *wait = screen_wait_text(t, &x->live);
    char *text = memory_format("%ld %s %s", (long)x->live.tid, x->live.name, wait);
    bool wanted = screen_matches(text);
    free(text);
    free(wait);
    return wanted;
}

static void screen_put_threads(int *y, const struct top *t, int most)
{
    const struct top_thread **sorted = memory_array(t->n_threads + 1, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < t->n_threads; i++)
        if (!screen_state.filter[0] || screen_wants_thread(t, &t->threads[i]))
            sorted[n++] = &t->threads[i];
    if (screen_state.sort != SORT_WAIT)
        qsort(sorted, n, sizeof *sorted, screen_compare);
    if (screen_state.first >= n)
        screen_state.first = n > 0 ? n - 1 : 0;
    size_t end = screen_state.first + (size_t)most < n ? screen_state.first + (size_t)most : n;
    screen_put_threads_title(y);
    for (size_t i = screen_state.first; i < end; i++)
        screen_put_thread(y, t, sorted[i]);
    if (n == 0 && t->n_threads > 0)
        screen_put_line(y, A_DIM, memory_format("%8s none of %zu", "", t->n_threads));
    else if (end - screen_state.first < t->n_threads)
        screen_put_line(y, A_DIM,
                        memory_format("%8s %zu to %zu of %zu", "", screen_state.first + 1, end, t->n_threads));
    free(sorted);
}

/* Of locks: the type and name, or the group. */
static char *screen_lock_name(const struct top_lock *of)
{
    const struct upmu_monitor_lock *l = &of->live;
    return of->n == 1 ? top_object(l->type, l->address, l->name)
                      : memory_format("%s %s (%zu)", report_type_name(l->type), l->group, of->n);
}

static bool screen_wants_lock(const struct top_lock *of, bool idle)
{
    char *text = screen_lock_name(of);
    bool wanted = screen_is_idle(&of->live) == idle && screen_matches(text);
    free(text);
    return wanted;
}

/* As wide as the longest name, so that numbers stay near their names; at most what the numbers leave of the line. */
static int screen_name_width(const struct top *t)
{
    enum { NUMBERS = 54, LEAST = 20 };
    size_t most = curses->columns() > NUMBERS + LEAST ? (size_t)(curses->columns() - NUMBERS) : LEAST, width = LEAST;
    for (size_t i = 0; i < t->n_locks; i++) {
        char *text = screen_lock_name(&t->locks[i]);
        width = strlen(text) > width ? strlen(text) : width;
        free(text);
    }
    return (int)(width < most ? width : most);
}

static void screen_put_lock(int *y, const struct top *t, const struct top_lock *of, int width)
{
    const struct upmu_monitor_lock *l = &of->live;
    char *object = screen_lock_name(of);
    char *total = report_duration(l->total_ns);
    char *holder = l->holder ? memory_format("%ld", (long)l->holder) : memory_copy("");
    char *shown = text_shortened(object, (size_t)width);
    screen_put_line(y, A_NORMAL,
                    memory_format("%-*s %10.1f %10.1f %8" PRIu32 " %8s %12s", width, shown,
                                  screen_per_second(t, l->waited_ns) / 1e6, screen_per_second(t, l->waits), l->waiters,
                                  holder, total));
    free(shown);
    free(object);
    free(total);
    free(holder);
}

static void screen_put_locks(int *y, const struct top *t)
{
    const int width = screen_name_width(t);
    for (int idle = 0; idle <= 1; idle++) {
        bool begun = false;
        for (size_t i = 0; *y < curses->lines() && i < t->n_locks; i++) {
            if (!screen_wants_lock(&t->locks[i], idle != 0))
                continue;
            if (!begun)
                screen_put_line(y, A_REVERSE,
                                memory_format("%-*s %10s %10s %8s %8s %12s", width, idle ? "OTHER WAITS" : "LOCK",
                                              "WAIT ms/s", "WAITS/s", "WAITERS", "HOLDER", "TOTAL"));
            begun = true;
            screen_put_lock(y, t, &t->locks[i], width);
        }
    }
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
        bool has_rate =
            screen_counted(now) && screen_counted(before) && now->value >= before->value && t->interval_s > 0;
        bool is_time = name && (strncmp(name, "task-clock", 10) == 0 || strncmp(name, "cpu-clock", 9) == 0);
        double rate = has_rate ? (double)(now->value - before->value) / t->interval_s : 0;
        char *text = is_time ? report_duration((uint64_t)rate) : screen_amount(rate);
        char *value = has_rate ? memory_format("%s%s /s", scaled ? "~" : "", text)
                               : memory_copy(screen_counted(now) ? "" : upmu_status_name(now->status));
        free(text);
        screen_put_line(y, A_NORMAL, memory_format("%-36.36s %20s", name ? name : "?", value));
        free(value);
    }
}

static void screen_draw(const struct top *t)
{
    int y = 0;
    (void)curses->erase();
    screen_put_title(&y, t);
    screen_put_deadlocks(&y, t);
    screen_put_counters(&y, t);
    screen_put_history(&y);
    screen_put_filter(&y);
    y++;
    /* The threads have half of what is left, the locks the rest. */
    int half = (curses->lines() - y - 4) / 2;
    screen_put_threads(&y, t, half > 3 ? half : 3);
    y++;
    screen_put_locks(&y, t);
    (void)curses->refresh();
}

/* A key while the filter is typed. */
static void screen_type(int key)
{
    enum { ESCAPE = 27, DELETE = 127, BACKSPACE = 8 };
    size_t n = strlen(screen_state.filter);
    if (key == ESCAPE)
        screen_state.filter[0] = '\0';
    if (key == ESCAPE || key == '\n' || key == '\r' || key == KEY_ENTER)
        screen_state.typing = false;
    else if ((key == KEY_BACKSPACE || key == DELETE || key == BACKSPACE) && n > 0)
        screen_state.filter[n - 1] = '\0';
    else if (key >= ' ' && key < KEY_MIN && key != DELETE && n + 1 < sizeof screen_state.filter) {
        screen_state.filter[n] = (char)key; /* a byte of a character in the terminal's encoding */
        screen_state.filter[n + 1] = '\0';
    }
    screen_state.first = 0;
}

/* @return false for the keys that end the view. */
static bool screen_key(int key, const struct top *t)
{
    enum { PAGE = 10, CONTROL_L = 12 };
    size_t last = t->n_threads > 0 ? t->n_threads - 1 : 0, *first = &screen_state.first;
    if (screen_state.typing && key != ERR && key != KEY_RESIZE && key != CONTROL_L) {
        screen_type(key);
        screen_draw(t);
        return true;
    }
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case '/':
        screen_state.typing = true;
        break;
    case 's':
        screen_state.sort = (screen_state.sort + 1) % SORT_KEYS;
        *first = 0;
        break;
    case 'p':
        screen_state.paused = !screen_state.paused;
        break;
    case KEY_DOWN:
    case KEY_NPAGE:
        *first += key == KEY_DOWN ? 1 : PAGE;
        *first = *first < last ? *first : last;
        break;
    case KEY_UP:
    case KEY_PPAGE:
        *first -= key == KEY_UP ? *first > 0 : *first < PAGE ? *first : PAGE;
        break;
    case CONTROL_L: /* what others wrote to the terminal goes away */
        (void)curses->clearok(curses->window(), TRUE);
        break;
    case KEY_RESIZE:
        break;
    default:
        return true;
    }
    screen_draw(t);
    return true;
}

/* Paused, the screen stays as it is until a key: it is looked at again then and now for signals. */
static bool screen_show(const struct top *t, double seconds)
{
    enum { CHECK_MS = 200 };
    double until = top_clock() + seconds;
    screen_add_history(t);
    screen_draw(t);
    for (double left = seconds; left > 0 || (screen_state.paused && seconds > 0); left = until - top_clock()) {
        curses->timeout(screen_state.paused ? CHECK_MS : (int)(left * 1000) + 1);
        int key = curses->getch();
        if (!screen_key(key, t) || stat_signals_seen() != 0)
            return false;
        if ((key == ' ' && !screen_state.typing) || !t->running)
            break;
    }
    return true;
}

static void screen_end(void)
{
    (void)curses->endwin();
}

const struct top_view top_screen = {
    .check = screen_check, .begin = screen_begin, .show = screen_show, .end = screen_end};
