/* SPDX-License-Identifier: MIT */
/* Method export: a recording as a file in one of the formats of upmu export. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "serve.h"
#include "ui/command.h"
#include "ui/memory.h"

struct export_params {
    char *format, *path, *what, *from, *to;
};

static void export_done(struct job *job, int status)
{
    struct stat st;
    size_t n = strlen(job->id);
    char *message = job_message(job);
    bool is_written = WIFEXITED(status) && stat(job->path, &st) == 0 &&
                      (WEXITSTATUS(status) == EXIT_OK || (WEXITSTATUS(status) == EXIT_FAILED && st.st_size > 0));
    if (is_written) {
        struct reply r;
        reply_begin(&r, job->id, n);
        json_int(&r.json, "target", job->target);
        json_string(&r.json, "path", job->path);
        json_uint(&r.json, "bytes", (uint64_t)st.st_size);
        json_string(&r.json, "warnings", message[0] ? message : NULL);
        reply_end(&r, job->client, job->id, n);
    } else {
        reply_error(job->client, job->id, n, SERVE_E_FAILED, NULL, "%s", message[0] ? message : "the export failed");
    }
    free(message);
}

/* Where to: as given, or a new file in the server's folder. @return NULL after an error reply. */
static char *export_path(const struct request *q, const struct export_params *p)
{
    struct server *s = q->client->server;
    if (p->path && q->client->kind == CLIENT_EVENTS) {
        request_fail(q, SERVE_E_DENIED, NULL, "export: a browser cannot choose \"path\"");
        return NULL;
    }
    if (p->path && p->path[0] != '/') {
        request_fail(q, SERVE_E_PARAMS, NULL, "\"path\" is not an absolute path");
        return NULL;
    }
    if (p->path)
        return memory_copy(p->path);
    const char *folder = server_scratch(s);
    if (!folder) {
        request_fail(q, SERVE_E_FAILED, "give a path", "cannot create a directory: %s", strerror(errno));
        return NULL;
    }
    const char *suffix = strcmp(p->format, "flamegraph") == 0 ? "svg" : p->format; /* viewers go by it */
    return memory_format("%s/%u.%s", folder, ++s->n_exports, suffix);
}

static void export_start(const struct request *q, const struct target *t, const struct export_params *p)
{
    struct job how = {.command = "export", .target = t->id, .done = export_done, .path = export_path(q, p)};
    const char *words[16] = {"export", "-f", p->format, "-o", how.path};
    size_t n = 5;
    if (!how.path)
        return;
    const char *const options[][2] = {{"--of", p->what}, {"--from", p->from}, {"--to", p->to}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i][1]) {
            words[n++] = options[i][0];
            words[n++] = options[i][1];
        }
    words[n++] = "--";
    words[n++] = t->dir ? t->dir : t->samples;
    if (!job_start(q, &how, words))
        free(how.path);
}

void method_export(const struct request *q)
{
    struct export_params p = {0};
    const struct target *t = param_target(q);
    if (t && param_text(q, "format", &p.format) && param_text(q, "path", &p.path) && param_text(q, "of", &p.what) &&
        param_text(q, "from", &p.from) && param_text(q, "to", &p.to)) {
        if (!p.format || !p.format[0] || p.format[strspn(p.format, "abcdefghijklmnopqrstuvwxyz0123456789")])
            request_fail(q, SERVE_E_PARAMS, "upmu export --formats lists them", "\"format\" is missing or unknown");
        else if (!t->dir && !t->samples)
            request_fail(q, SERVE_E_FAILED, "start the program with the method start",
                         "process %d is not being recorded", (int)t->pid);
        else
            export_start(q, t, &p);
    }
    free(p.format);
    free(p.path);
    free(p.what);
    free(p.from);
    free(p.to);
}
