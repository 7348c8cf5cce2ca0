/* SPDX-License-Identifier: MIT */
/* Wrapper frames by known names, by the words of a name, and by the user's patterns. */
#include "symbols/wrappers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/text/pattern.h"

enum { SUBJECT_FUNCTION, SUBJECT_FILE, SUBJECT_MODULE, SUBJECTS };

static const char *const subjects[SUBJECTS] = {"function", "file", "module"};

/* Function patterns are matched with the qualified name. */
static const struct {
    int subject;
    const char *pattern;
} known[] = {
    /* C++ libraries: standard, compiler's, boost, Abseil, Qt, Folly, TBB, POCO. */
    {SUBJECT_FUNCTION, "^std::"},
    {SUBJECT_FUNCTION, "^__gnu_cxx::"},
    {SUBJECT_FUNCTION, "^__gthread_"},
    {SUBJECT_FUNCTION, "^__gthrw_"},
    {SUBJECT_FUNCTION, "^execute_native_thread_routine"},
    {SUBJECT_FUNCTION, "^boost::"},
    {SUBJECT_FUNCTION, "^absl::"},
    {SUBJECT_FUNCTION, "^AbslInternal"},
    {SUBJECT_FUNCTION, "^QBasicMutex::"},
    {SUBJECT_FUNCTION, "^QMutex"},
    {SUBJECT_FUNCTION, "^QRecursiveMutex"},
    {SUBJECT_FUNCTION, "^QReadWriteLock"},
    {SUBJECT_FUNCTION, "^QReadLocker"},
    {SUBJECT_FUNCTION, "^QWriteLocker"},
    {SUBJECT_FUNCTION, "^QWaitCondition"},
    {SUBJECT_FUNCTION, "^QSemaphore"},
    {SUBJECT_FUNCTION, "^QThread"},
    {SUBJECT_FUNCTION, "^QtPrivate::"},
    {SUBJECT_FUNCTION, "^folly::*Mutex"},
    {SUBJECT_FUNCTION, "^folly::*Lock"},
    {SUBJECT_FUNCTION, "^tbb::"},
    {SUBJECT_FUNCTION, "^Poco::*Mutex"},
    {SUBJECT_FUNCTION, "^Poco::*Lock"},
    {SUBJECT_FUNCTION, "^thread_proxy$"},
    /* Rust. */
    {SUBJECT_FUNCTION, "^core::"},
    {SUBJECT_FUNCTION, "^alloc::"},
    {SUBJECT_FUNCTION, "^parking_lot"},
    {SUBJECT_FUNCTION, "^lock_api::"},
    {SUBJECT_FUNCTION, "^__rust_"},
    {SUBJECT_FUNCTION, "^rust_"},
    /* C libraries and allocators. */
    {SUBJECT_FUNCTION, "^pthread_"},
    {SUBJECT_FUNCTION, "^__pthread_"},
    {SUBJECT_FUNCTION, "^mtx_"},
    {SUBJECT_FUNCTION, "^cnd_"},
    {SUBJECT_FUNCTION, "^call_once$"},
    {SUBJECT_FUNCTION, "^start_thread$"},
    {SUBJECT_FUNCTION, "^clone"},
    {SUBJECT_FUNCTION, "^__clone"},
    {SUBJECT_FUNCTION, "^g_thread_proxy"},
    {SUBJECT_FUNCTION, "^je_"},
    {SUBJECT_FUNCTION, "^malloc_mutex_"},
    {SUBJECT_FUNCTION, "^tcmalloc::"},
    {SUBJECT_FUNCTION, "^operator new"},
    {SUBJECT_FUNCTION, "^operator delete"},
    {SUBJECT_FILE, "^/usr/include/"},
    {SUBJECT_FILE, "/include/c++/"},
    {SUBJECT_FILE, "/gthr-"},
    {SUBJECT_FILE, "/rustc/"},
    {SUBJECT_MODULE, "/libc.so"},
    {SUBJECT_MODULE, "/libc-"},
    {SUBJECT_MODULE, "/libc.musl-"},
    {SUBJECT_MODULE, "/ld-"},
    {SUBJECT_MODULE, "/libpthread"},
    {SUBJECT_MODULE, "/libstdc++.so"},
    {SUBJECT_MODULE, "/libc++"},
    {SUBJECT_MODULE, "/libjemalloc.so"},
    {SUBJECT_MODULE, "/libtcmalloc"},
    {SUBJECT_MODULE, "/libmimalloc"},
    {SUBJECT_MODULE, "/libboost_thread"},
    {SUBJECT_MODULE, "/libupmu_sync.so"},
    {SUBJECT_MODULE, "/libupmu_heap.so"},
    {SUBJECT_MODULE, "/libupmu_func.so"},
};

/* ------------------------------------------------------------------------------------------------------- names */

/* The end of a name in brackets, quotes excluded, which a demangler does not write. */
static const char *name_skip_brackets(const char *p)
{
    int depth = 0;
    for (; *p; p++) {
        depth += *p == '<' || *p == '(' || *p == '[' || *p == '{';
        depth -= (*p == '>' && p[-1] != '-') || *p == ')' || *p == ']' || *p == '}';
        if (depth <= 0)
            return p + 1;
    }
    return p;
}

static bool name_is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* "operator" with its symbol: "<", "()", "new", ... */
static const char *name_skip_operator(const char *p)
{
    p += strlen("operator");
    if (*p == ' ')
        return p + strcspn(p + 1, "(<") + 1;
    if (strncmp(p, "()", 2) == 0 || strncmp(p, "[]", 2) == 0)
        return p + 2;
    return p + strspn(p, "<>=!+-*/%^&|~,");
}

size_t function_name_find(const char *function, const char **begin)
{
    static const char word[] = "operator";
    const char *p = function, *first = function;
    while (*p) {
        bool starts = p == function || !name_is_word_char(p[-1]);
        if (starts && strncmp(p, word, sizeof word - 1) == 0 && !name_is_word_char(p[sizeof word - 1]))
            p = name_skip_operator(p);
        else if (*p == '(' && p > first && p[-1] != ':') /* not an anonymous namespace */
            break;
        else if (*p == '<' || *p == '{' || *p == '(' || *p == '[')
            p = name_skip_brackets(p);
        else if (*p++ == ' ')
            first = p;
    }
    *begin = first;
    return (size_t)(p - first);
}

/* The first argument of a template, from behind its "<" on: a class that is named, as a demangler writes "{lambda()#1}" and debug
 * information "<lambda()>". @return its length, 0 for other types. */
static size_t name_first_class(const char *argument)
{
    const char *p = argument;
    while (*p && *p != ',' && *p != '>' && *p != '*' && *p != '&' && strncmp(p, " (", 2) != 0)
        p = strchr("<({[", *p) ? name_skip_brackets(p) : p + 1;
    size_t n = (size_t)(p - argument);
    bool named = strncmp(argument, "std::", strlen("std::")) != 0 && !memmem(argument, n, "<lambda", strlen("<lambda"));
    return (*p == ',' || *p == '>') && named ? n : 0;
}

size_t function_callable_find(const char *function, const char **begin)
{
    static const char invoker[] =
        "std::thread::_Invoker<std::tuple<"; /* std::async() has one in the arguments of another */
    size_t n = 0;
    for (const char *p = function; n == 0 && (p = strstr(p, invoker)) != NULL;) {
        p += sizeof invoker - 1;
        *begin = p;
        n = name_first_class(p);
    }
    return n;
}

/* The last part of a qualified name, and in `*owner` the part before: both without template arguments. */
static size_t name_last_part(const char *name, size_t n, const char **part, const char **owner, size_t *n_owner)
{
    const char *end = name + n, *start[2] = {name, NULL}, *stop[2] = {end, NULL};
    for (const char *p = name; p < end;) {
        if (*p == '<' || *p == '(' || *p == '{' || *p == '[') {
            stop[0] = stop[0] == end ? p : stop[0];
            p = name_skip_brackets(p);
        } else if (*p == ':' && p + 1 < end && p[1] == ':') {
            start[1] = start[0];
            stop[1] = stop[0] == end ? p : stop[0];
            p += 2;
            start[0] = p;
            stop[0] = end;
        } else {
            p++;
        }
    }
    *owner = start[1];
    *n_owner = start[1] ? (size_t)(stop[1] - start[1]) : 0;
    *part = start[0];
    return stop[0] > start[0] ? (size_t)(stop[0] - start[0]) : 0;
}

/* What the words of a name are about. */
enum { WORD_OTHER = 1, WORD_NOUN = 2, WORD_VERB = 4, WORD_MANNER = 8 };

static int name_word_class(const char *word)
{
    static const struct {
        int class_bits;
        const char *words;
    } classes[] = {
        {WORD_NOUN, " mutex rwlock spinlock semaphore sem cond condvar condition mtx guard locker latch "},
        {WORD_NOUN | WORD_VERB, " lock spin "},
        {WORD_VERB, " unlock trylock rdlock wrlock timedlock wait timedwait acquire release enter take get try signal "
                    "broadcast notify "},
        {WORD_MANNER, " for until read write reader writer rd wr shared exclusive timed slow fast path internal impl "
                      "static recursive rec thread init initialize create destroy all one m i "},
    };
    char wanted[32];
    snprintf(wanted, sizeof wanted, " %s ", word);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strstr(classes[i].words, wanted))
            return classes[i].class_bits;
    return WORD_OTHER;
}

/* All words of a name in camel case or with underscores: their classes together. With `prefix`, one word that is the
 * first of several may be of any kind, as in g_mutex_lock(). `*both`: noun and verb are words of their own. */
static int name_words_class(const char *name, size_t n, bool prefix, bool *both)
{
    char word[24];
    size_t len = 0, words = 0;
    int all = 0, pure = 0;
    for (size_t i = 0; i <= n; i++) {
        bool end = i == n || !isalnum((unsigned char)name[i]);
        bool camel = !end && len > 0 && isupper((unsigned char)name[i]) &&
                     (islower((unsigned char)name[i - 1]) || (i + 1 < n && islower((unsigned char)name[i + 1])));
        if ((end || camel) && len > 0) {
            word[len] = '\0';
            int c = name_word_class(word);
            if (c != WORD_OTHER || words > 0 || !prefix)
                all |= c;
            pure |= c == WORD_NOUN || c == WORD_VERB ? c : 0;
            words++;
            len = 0;
        }
        if (!end && len + 1 < sizeof word)
            word[len++] = (char)tolower((unsigned char)name[i]);
    }
    *both = words > 1 && (pure & WORD_NOUN || pure & WORD_VERB) && (all & WORD_NOUN) && (all & WORD_VERB);
    return all;
}

bool name_is_lock_class(const char *name)
{
    bool both;
    return (name_words_class(name, strcspn(name, "<"), false, &both) & WORD_NOUN) != 0;
}

/* A method of a lock class, as port::Mutex::Lock() or its constructor; or a function as g_mutex_lock(). */
static bool name_is_lock_function(const char *name, size_t n)
{
    const char *part, *owner;
    size_t n_owner, n_part = name_last_part(name, n, &part, &owner, &n_owner);
    bool both;
    if (!owner) {
        int all = name_words_class(part, n_part, true, &both);
        return both && !(all & WORD_OTHER);
    }
    if (!(name_words_class(owner, n_owner, false, &both) & WORD_NOUN))
        return false;
    bool structor = (n_part == n_owner && memcmp(part, owner, n_part) == 0) ||
                    (n_part == n_owner + 1 && *part == '~' && memcmp(part + 1, owner, n_owner) == 0);
    int all = name_words_class(part, n_part, false, &both);
    return structor || ((all & WORD_VERB) && !(all & WORD_OTHER));
}

/* --------------------------------------------------------------------------------------------------- patterns */

static int wrappers_add(struct wrappers *w, int subject, const char *pattern)
{
    struct wrapper_pattern *all = array_reserve(w->all, w->n, &w->cap, sizeof *all);
    char *copy = all ? strdup(pattern) : NULL;
    w->all = all ? all : w->all;
    if (!copy)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading wrapper patterns");
    all[w->n++] = (struct wrapper_pattern){.subject = subject, .pattern = copy};
    return 0;
}

/* Parses one line, which is modified. */
static int wrappers_read_line(void *arg, const char *path, size_t number, char *line)
{
    struct wrappers *w = arg;
    char *colon = strchr(line, ':');
    for (int i = 0; colon && colon[1] && i < SUBJECTS; i++)
        if (strlen(subjects[i]) == (size_t)(colon - line) && strncmp(line, subjects[i], (size_t)(colon - line)) == 0)
            return wrappers_add(w, i, colon + 1);
    return upmu_fail(UPMU_E_INVAL, "\"%s\", line %zu: \"%s\" is not function:PATTERN, file:PATTERN or module:PATTERN",
                     path, number, line);
}

int wrappers_read(struct wrappers *w, const char *path)
{
    return pattern_file_read(path, wrappers_read_line, w);
}

void wrappers_free(struct wrappers *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->all[i].pattern);
    free(w->all);
    *w = (struct wrappers){0};
}

bool wrappers_match(const struct wrappers *w, const char *function, const char *file, const char *module)
{
    char name[512] = "";
    const char *begin = "";
    size_t n = function ? function_name_find(function, &begin) : 0;
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), begin);
    const char *texts[SUBJECTS] = {function ? name : NULL, file, module};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (texts[known[i].subject] && pattern_matches(known[i].pattern, texts[known[i].subject]))
            return true;
    for (size_t i = 0; i < w->n; i++)
        if (texts[w->all[i].subject] && pattern_matches(w->all[i].pattern, texts[w->all[i].subject]))
            return true;
    return function && name_is_lock_function(name, strlen(name));
}
