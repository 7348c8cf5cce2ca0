/* SPDX-License-Identifier: MIT */
/*
 * Trials remembered between runs: $XDG_CACHE_HOME/upmu/trials (or ~/.cache/upmu/trials). Room: tools/upmu. Before it:
 * trials; after it: the user's cache folder.
 *
 * The file says at its top what its answers depend on, and at its end how many there are, with a checksum: anything that
 * does not agree makes it worthless, never wrong. The folder must be the user's own and closed to others, and neither it
 * nor the file may be a link: another user must not be able to tell this one what counts here.
 */
#include "trial_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gather/checksum.h"
#include "ui/memory.h"
#include "upmu/upmu.h"

enum { CACHE_MAX = 1 << 20, FACT_MAX = 4096 };

static const char cache_title[] = "upmu-trials 1";
static const char cache_file[] = "trials";

/* ------------------------------------------------------------------------------------------- surroundings */

/* The beginning of a file of /proc. @return false if there is none. */
static bool read_fact(const char *path, char text[FACT_MAX])
{
    FILE *file = fopen(path, "re");

    if (!file)
        return false;
    size_t n = fread(text, 1, FACT_MAX - 1, file);
    text[n] = '\0';
    (void)fclose(file); /* it was only read */
    return n > 0;
}

static void add_line(FILE *key, const char *path)
{
    char text[FACT_MAX];

    if (!read_fact(path, text))
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    fprintf(key, " %s", text[0] ? text : "-");
}

static void add_link(FILE *key, const char *path)
{
    char text[64];
    ssize_t n = readlink(path, text, sizeof text - 1);

    fprintf(key, " %.*s", n > 0 ? (int)n : 1, n > 0 ? text : "-");
}

/* Rights: a line of the status file, such as "CapEff:\t0000". */
static void add_status(FILE *key, const char *status, const char *field)
{
    const char *line = strstr(status, field);

    fprintf(key, " %.*s", line ? (int)strcspn(line + strlen(field), "\n") : 1, line ? line + strlen(field) : "-");
}

/* What the answers depend on, on one line. */
static char *cache_key(void)
{
    static const char *const files[] = {
        "/proc/sys/kernel/random/boot_id",
        "/proc/sys/kernel/perf_event_paranoid",
        "/proc/sys/kernel/nmi_watchdog",
    };
    static const char *const spaces[] = {"/proc/self/ns/pid", "/proc/self/ns/user", "/proc/self/ns/cgroup"};
    char *key = NULL, status[FACT_MAX];
    size_t len = 0;
    FILE *out = open_memstream(&key, &len);

    if (!out || !read_fact("/proc/self/status", status)) {
        if (out)
            (void)fclose(out); /* its text is thrown away */
        free(key);
        return NULL;
    }
    fprintf(out, "key %s %u", upmu_version(), (unsigned)geteuid());
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        add_line(out, files[i]);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        add_link(out, spaces[i]);
    add_status(out, status, "\nCapEff:");
    add_status(out, status, "\nSeccomp:");
    const char *backend = secure_getenv("UPMU_BACKEND");
    fprintf(out, " %s", backend && backend[0] ? backend : "perf");
    if (fclose(out) != 0) {
        free(key);
        return NULL;
    }
    for (char *p = key; *p; p++)
        if (*p == '\t' || *p == '\n')
            *p = ' ';
    return key;
}

/* ------------------------------------------------------------------------------------------------- folder */

static bool ours_alone(int fd, mode_t kind)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

/* @return the folder's descriptor, or -1 where there is none to be trusted. */
static int cache_folder(bool make)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    const char *recorded = secure_getenv("UPMU_FSROOT");
    char *base = NULL;

    if (recorded && recorded[0])
        return -1; /* another machine's answers */
    if (cache && cache[0] == '/')
        base = memory_copy(cache);
    else if (home && home[0] == '/')
        base = memory_format("%s/.cache", home);
    if (!base)
        return -1;
    if (make)
        (void)mkdir(base, 0700); /* if it fails, so does what follows */
    int above = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(base);
    if (above < 0)
        return -1;
    if (make)
        (void)mkdirat(above, "upmu", 0700);
    int fd = openat(above, "upmu", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(above);
    if (fd >= 0 && !ours_alone(fd, S_IFDIR)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ------------------------------------------------------------------------------------------------ reading */

/* The whole file as a string, or NULL. */
static char *read_all(int fd)
{
    char *text = memory_array(CACHE_MAX, 1);
    size_t len = 0;

    while (len < CACHE_MAX - 1) {
        ssize_t n = read(fd, text + len, CACHE_MAX - 1 - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            return text;
        if (n < 0)
            break;
        len += (size_t)n;
    }
    free(text);
    return NULL;
}

static char *cache_text(void)
{
    int folder = cache_folder(false);
    char *text = NULL;

    if (folder < 0)
        return NULL;
    int fd = openat(folder, cache_file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(folder);
    if (fd < 0)
        return NULL;
    if (ours_alone(fd, S_IFREG))
        text = read_all(fd);
    close(fd);
    return text;
}

/* Whether the last line counts and sums up those before it; it is cut off then. */
static bool whole(char *text, size_t *rows)
{
    size_t len = strlen(text), n;
    uint64_t sum;
    int used = 0;

    if (len < 2 || text[len - 1] != '\n')
        return false;
    text[len - 1] = '\0';
    char *last = strrchr(text, '\n');
    if (!last || sscanf(last + 1, "end %zu %" SCNx64 "%n", &n, &sum, &used) != 2 || last[1 + used] != '\0')
        return false;
    last[1] = '\0';
    *rows = n;
    return sum == checksum(text, (size_t)(last + 1 - text));
}

/* One row: code, seen, event, encoding and reason, separated by tabs. */
static bool parse_row(char *line, struct trial_row *row)
{
    char *field[5], *end;

    for (size_t i = 0; i < 5; i++) {
        field[i] = strsep(&line, "\t");
        if (!field[i])
            return false;
    }
    errno = 0;
    long code = strtol(field[0], &end, 10);
    if (*end != '\0' || errno || code > 0 || code < UPMU_E_BACKEND || line)
        return false;
    row->seen = strtoull(field[1], &end, 10);
    if (*end != '\0' || errno)
        return false;
    row->code = (int)code;
    row->event = memory_copy(field[2]);
    row->encoding = memory_copy(field[3]);
    row->reason = memory_copy(field[4]);
    row->lasting = true;
    return true;
}

static bool parse_cache(char *text, struct trial_row **rows, size_t *n)
{
    char *rest = text, *key = cache_key(), *line;
    size_t promised;
    bool good = key && whole(text, &promised) && strcmp(strsep(&rest, "\n"), cache_title) == 0 && rest &&
                strcmp(strsep(&rest, "\n"), key) == 0;

    while (good && rest && *rest) {
        line = strsep(&rest, "\n");
        *rows = memory_resize(*rows, *n + 1, sizeof **rows);
        (*rows)[*n] = (struct trial_row){0};
        good = parse_row(line, &(*rows)[*n]);
        *n += good;
    }
    free(key);
    return good && *n == promised;
}

void trial_cache_read(struct trial_row **rows, size_t *n)
{
    char *text = cache_text();

    *rows = NULL;
    *n = 0;
    if (text && !parse_cache(text, rows, n)) {
        trial_rows_free(*rows, *n);
        *rows = NULL;
        *n = 0;
    }
    free(text);
}

/* ------------------------------------------------------------------------------------------------ writing */

/* A row's fields must not hold what separates them. */
static void write_field(FILE *out, const char *text, char end)
{
    for (; *text; text++)
        fputc(*text == '\t' || *text == '\n' ? ' ' : *text, out);
    fputc(end, out);
}

static char *format_cache(const struct trial_row *rows, size_t n, size_t *len)
{
    char *text = NULL, *key = cache_key();
    size_t kept = 0;
    FILE *out = key ? open_memstream(&text, len) : NULL;

    if (!out) {
        free(key);
        return NULL;
    }
    fprintf(out, "%s\n%s\n", cache_title, key);
    free(key);
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].lasting)
            continue;
        kept++;
        fprintf(out, "%d\t%" PRIu64 "\t", rows[i].code, rows[i].seen);
        write_field(out, rows[i].event, '\t');
        write_field(out, rows[i].encoding, '\t');
        write_field(out, rows[i].reason, '\n');
    }
    bool whole_so_far = fflush(out) == 0; /* what was written so far is in `text` now */
    fprintf(out, "end %zu %" PRIx64 "\n", kept, checksum(text, *len));
    if (fclose(out) == 0 && whole_so_far)
        return text;
    free(text);
    return NULL;
}

static bool write_all(int fd, const char *text, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(fd, text + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Beside the old one, then in its place: a reader finds either whole. */
static void replace_cache(int folder, const char *text, size_t len)
{
    char name[64];

    snprintf(name, sizeof name, "%s.%d", cache_file, (int)getpid());
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    bool good = write_all(fd, text, len);
    good = close(fd) == 0 && good;
    if (!good || renameat(folder, name, folder, cache_file) != 0)
        (void)unlinkat(folder, name, 0);
}

void trial_cache_write(const struct trial_row *rows, size_t n)
{
    size_t len = 0;
    int folder = cache_folder(true);

    if (folder < 0)
        return;
    char *text = format_cache(rows, n, &len);
    if (text && len < CACHE_MAX)
        replace_cache(folder, text, len);
    free(text);
    close(folder);
}

void trial_rows_free(struct trial_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(rows[i].event);
        free(rows[i].encoding);
        free(rows[i].reason);
    }
    free(rows);
}
