/* SPDX-License-Identifier: MIT */
/* User-defined metrics: "name = formula" lines of a file. */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/own_once.h"
#include "core/formula/expression.h"
#include "core/names/intern.h"
#include "core/formula/metric_table.h"
#include "core/names/presets.h"
#include "core/names/registry.h"

enum { USER_LINE_MAX = 1024, USER_NAME_MAX = 63, USER_METRICS_MAX = 512 };

/* Rows are appended behind the published ones and never change, so that readers need no lock. */
static struct metric_row user_rows[USER_METRICS_MAX];
static size_t user_n_rows; /* published */
static pthread_mutex_t user_lock = PTHREAD_MUTEX_INITIALIZER;
static struct own_once user_once;
static int user_environment_rc;
static char user_environment_fault[512];

static size_t user_published(void)
{
    return __atomic_load_n(&user_n_rows, __ATOMIC_ACQUIRE);
}

/* ------------------------------------------------------------------------------------------------- reading */

struct user_file {
    const char *path;
    size_t line;
    size_t n_rows; /* with those of this file */
};

static int user_fault(const struct user_file *f, const char *what)
{
    char text[400];
    snprintf(text, sizeof text, "%s", what); /* may be upmu_error()'s own buffer */
    return upmu_fail(UPMU_E_FORMAT, "%s:%zu: %s", f->path, f->line, text);
}

static char *user_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        text[--len] = '\0';
    return text;
}

static bool user_name_is_well_formed(const char *name)
{
    size_t len = strlen(name);
    return len > 0 && len <= USER_NAME_MAX && islower((unsigned char)name[0]) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static int user_check_name(const struct user_file *f, const char *name)
{
    char text[160];
    size_t first;
    const char *what = NULL;
    if (!user_name_is_well_formed(name))
        return user_fault(f, "'=' must follow a name of lower case letters, digits and '-'");
    if (registry_find(name) || preset_find(name) || event_name_is_raw(name))
        what = "an event";
    else if (metric_row_find(name, &first))
        what = "a metric already";
    for (size_t i = 0; !what && i < f->n_rows; i++)
        if (strcmp(user_rows[i].name, name) == 0)
            what = "defined twice";
    if (!what)
        return 0;
    snprintf(text, sizeof text, "'%s' is %s", name, what);
    return user_fault(f, text);
}

/* An event that this CPU lacks is accepted; an unknown name is an error. */
static int user_check_events(const struct user_file *f, const struct expression *e)
{
    for (size_t i = 0; i < e->n_names; i++) {
        struct event event;
        int rc = event_resolve(e->name[i], &event);
        if (rc == UPMU_E_NAME || rc == UPMU_E_INVAL)
            return user_fault(f, upmu_error());
    }
    return 0;
}

static int user_take_line(struct user_file *f, char *line)
{
    struct expression e = {0};
    char *hash = strchr(line, '#'), *equals;
    if (hash)
        *hash = '\0';
    line = user_trim(line);
    if (*line == '\0')
        return 0;
    equals = strchr(line, '=');
    if (!equals)
        return user_fault(f, "'name = formula' expected");
    *equals = '\0';
    char *name = user_trim(line), *formula = user_trim(equals + 1);
    int rc = user_check_name(f, name);
    if (rc == 0 && expression_parse(formula, &e) < 0)
        rc = user_fault(f, upmu_error());
    rc = rc < 0 ? rc : user_check_events(f, &e);
    if (rc < 0)
        return rc;
    if (f->n_rows == USER_METRICS_MAX)
        return user_fault(f, "too many metrics");
    const struct metric_row row = {
        .name = intern(name), .summary = "defined by the user", .formula = intern(formula), .unit = ""};
    if (!row.name || !row.formula)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    user_rows[f->n_rows++] = row;
    return 1;
}

/* @return the number of metrics read */
static int user_read(struct user_file *f, FILE *in)
{
    char line[USER_LINE_MAX];
    int n = 0;
    while (fgets(line, sizeof line, in)) {
        size_t len = strlen(line);
        f->line++;
        if (len + 1 == sizeof line && line[len - 1] != '\n')
            return user_fault(f, "the line is too long");
        int rc = user_take_line(f, line);
        if (rc < 0)
            return rc;
        n += rc;
    }
    return ferror(in) ? upmu_fail(UPMU_E_IO, "%s: %s", f->path, strerror(errno)) : n;
}

/* All of a file or nothing: rows of a faulty file are overwritten by the next one. */
static int user_load(const char *path)
{
    struct user_file f = {.path = path, .n_rows = user_published()};
    FILE *in = fopen(path, "re");
    if (!in)
        return upmu_fail(UPMU_E_IO, "cannot read the metrics in '%s': %s", path, strerror(errno));
    int rc = user_read(&f, in);
    (void)fclose(in); /* nothing was written */
    if (rc >= 0)
        __atomic_store_n(&user_n_rows, f.n_rows, __ATOMIC_RELEASE);
    return rc;
}

/* ---------------------------------------------------------------------------------------------- the environment */

/* Set while the environment's file is read, because resolving names leads back here. */
static _Thread_local bool user_reading __attribute__((tls_model("initial-exec")));

static void user_load_environment(void)
{
    const char *path = secure_getenv("UPMU_METRICS");
    user_reading = true;
    user_environment_rc = path && *path ? user_load(path) : 0;
    user_reading = false;
    if (user_environment_rc < 0)
        snprintf(user_environment_fault, sizeof user_environment_fault, "UPMU_METRICS: %s", upmu_error());
}

static void user_need_environment(void)
{
    if (!user_reading)
        own_once(&user_once, user_load_environment);
}

const char *metric_user_fault(void)
{
    user_need_environment();
    return user_environment_fault;
}

int upmu_metric_load(const char *path)
{
    user_need_environment();
    if (!path)
        return user_environment_rc < 0 ? upmu_fail(user_environment_rc, "%s", user_environment_fault)
                                       : user_environment_rc;
    pthread_mutex_lock(&user_lock);
    int rc = user_load(path);
    pthread_mutex_unlock(&user_lock);
    return rc;
}

const struct metric_row *metric_row_at(size_t index)
{
    user_need_environment();
    if (index < upmu_metric_n_rows)
        return &upmu_metric_rows[index];
    index -= upmu_metric_n_rows;
    return index < user_published() ? &user_rows[index] : NULL;
}

bool metric_row_find(const char *name, size_t *first)
{
    const struct metric_row *row;
    for (*first = 0; (row = metric_row_at(*first)) != NULL; (*first)++)
        if (strcmp(row->name, name) == 0)
            return true;
    return false;
}
