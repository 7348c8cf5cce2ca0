/* SPDX-License-Identifier: MIT */
/*
 * Method start: a command is recorded by a process that outlives the client and the server.
 *
 * The recorder is what `upmu record` is, in a session of its own and not a child of the server. Its standard error is a pipe to
 * the server until the command records; from then on it and the command write to command.out beside the recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/record.h"
#include "serve.h"
#include "ui/command.h"
#include "ui/memory.h"
#include "ui/modes.h"
#include "ui/output.h"
#include "upmu/control.h"

enum { WORDS_MAX = 4096, BEGIN_MS = 10000, STEP_MS = 5 };

/* Parameters as words of the process that is to be recorded. */
struct start_params {
    char **argv;
    char **env; /* "NAME=VALUE" */
    char *cwd, *mode, *events, *output;
    bool paused, sched;
};

static void start_free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static void start_free(struct start_params *p)
{
    start_free_words(p->argv);
    start_free_words(p->env);
    free(p->cwd);
    free(p->mode);
    free(p->events);
    free(p->output);
}

/* ------------------------------------------------------------------------------------------------ the recorder */

static bool start_has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid == pid;
}

/* Whether the process records, or is paused: it can be attached to and switched then. */
static bool start_is_recording(const char *dir)
{
    struct upmu_control *control;
    struct upmu_control_status s = {.size = sizeof s};
    if (upmu_control_open(&control, dir) < 0)
        return false;
    bool begun = upmu_control_status_read(control, 0, &s) == 0 && s.mode != UPMU_CONTROL_NO_SYNC;
    upmu_control_close(control);
    return begun;
}

static void start_wait_for_recording(const char *dir, pid_t pid)
{
    for (int ms = 0; ms < BEGIN_MS && !start_is_recording(dir) && !start_has_ended(pid); ms += STEP_MS)
        (void)poll(NULL, 0, STEP_MS);
}

/* `*report` is closed by the end of this function: the server replies then. */
static int start_record(struct record_request *r, const char *output, int *report)
{
    char *shown = NULL;
    pid_t pid = 0;
    int status = record_prepare(r, output, &shown);
    char *name = status == EXIT_OK ? memory_format("%s/command.out", r->dir) : NULL;
    if (name && (r->output = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0) {
        complain("%s: %s", name, strerror(errno));
        status = EXIT_FAILED;
    }
    if (status == EXIT_OK)
        status = record_start(r, &pid);
    if (status == EXIT_OK) {
        start_wait_for_recording(r->dir, pid);
        dprintf(*report, "%c%d\n%s\n", '\1', (int)pid, r->dir);
        bool placed = dup2(r->output, STDERR_FILENO) >= 0;
        close(*report);
        *report = -1;
        if (placed)
            record_watch(r, pid);
        (void)record_end(pid);
        (void)record_summary(r->dir, shown, "", 0, NULL);
    }
    free(name);
    record_release(r, shown);
    return status;
}

static _Noreturn void start_recorder(const void *arg, int report)
{
    const struct start_params *p = arg;
    struct record_request r = {.argv = p->argv,
                               .mode = p->mode ? p->mode : "holders",
                               .events = p->events,
                               .paused = p->paused,
                               .sched = p->sched,
                               .output = -1};
    if (p->cwd && chdir(p->cwd) != 0) {
        complain("%s: %s", p->cwd, strerror(errno));
        exit(EXIT_FAILED);
    }
    for (size_t i = 0; p->env && p->env[i]; i++)
        (void)putenv(p->env[i]); /* without memory the variable is missing; the process has little else by then */
    exit(start_record(&r, p->output, &report));
}

/* The recorder is a child of this child, so that the server need not reap it. */
void start_detached(int out, int err, void (*run)(const void *arg, int report), const void *arg)
{
    int nothing = open("/dev/null", O_RDWR);
    (void)setsid(); /* a new child leads no group, so that this cannot fail */
    pid_t pid = nothing < 0 || dup2(err, STDERR_FILENO) < 0 ? -1 : fork();
    if (pid == 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0) {
        job_leave_server(out);
        (void)fcntl(out, F_SETFD, FD_CLOEXEC);
        run(arg, out);
    }
    _exit(pid < 0 ? EXIT_FAILED : EXIT_OK);
}

static void start_child(const void *arg, int out, int err)
{
    start_detached(out, err, start_recorder, arg);
}

pid_t start_report(struct job *job, char **dir)
{
    bytes_add(&job->output, "", 1);
    if (job->output.data[0] != '\1')
        return 0;
    pid_t pid = (pid_t)strtol(job->output.data + 1, dir, 10);
    ++*dir;
    (*dir)[strcspn(*dir, "\n")] = '\0';
    return pid;
}

/* ---------------------------------------------------------------------------------------------------- the method */

static void start_done(struct job *job, int status)
{
    size_t n = strlen(job->id);
    struct request q = {.client = job->client, .id = {job->id, n}};
    char *message = job_message(job), *dir = NULL;
    struct target *t = NULL;
    (void)status; /* of the process between: the recorder has written what is to be known */
    pid_t pid = start_report(job, &dir);
    if (pid > 0)
        t = target_add(&q, pid, dir);
    else
        reply_error(job->client, job->id, n, SERVE_E_FAILED, NULL, "%s",
                    message[0] ? message : "the command cannot be recorded");
    if (t) {
        struct reply r;
        char *output = memory_format("%s/command.out", t->dir);
        reply_begin(&r, job->id, n);
        target_members(&r.json, t);
        json_string(&r.json, "output", output);
        reply_end(&r, job->client, job->id, n);
        free(output);
    }
    free(message);
}

/* The words of an array of strings, ending with NULL. @return NULL if it is anything else, or empty. */
static char **start_words(struct json_slice value)
{
    struct json_rest rest = json_elements(value);
    struct json_slice element;
    size_t n = 0, count = json_is_array(value) ? json_count(value) : 0;
    char **words = count > 0 && count <= WORDS_MAX ? memory_array(count + 1, sizeof *words) : NULL;
    while (words && json_next(&rest, NULL, &element)) {
        words[n] = json_text(element);
        if (!words[n++]) {
            start_free_words(words);
            return NULL;
        }
    }
    return words;
}

/* Of an object of strings. */
static bool start_environment(const struct request *q, char ***out)
{
    struct json_slice value = json_find(q->params, "env"), name, text;
    struct json_rest rest = json_elements(value);
    size_t n = 0, count = json_is_object(value) ? json_count(value) : 0;
    bool valid = (!value.text || json_is_object(value)) && count <= WORDS_MAX;
    *out = memory_array(count + 1, sizeof **out);
    while (valid && json_next(&rest, &name, &text)) {
        char *left = json_text(name), *right = json_text(text);
        valid = left && right && left[0] && !strchr(left, '=');
        if (valid)
            (*out)[n++] = memory_format("%s=%s", left, right);
        free(left);
        free(right);
    }
    if (!valid)
        request_fail(q, SERVE_E_PARAMS, NULL, "\"env\" is not an object with string values");
    return valid;
}

static bool start_params(const struct request *q, struct start_params *p)
{
    if (!param_text(q, "cwd", &p->cwd) || !param_text(q, "mode", &p->mode) || !param_text(q, "events", &p->events) ||
        !param_text(q, "output", &p->output) || !param_boolean(q, "paused", &p->paused) ||
        !param_boolean(q, "sched", &p->sched) || !start_environment(q, &p->env))
        return false;
    p->argv = start_words(json_find(q->params, "command"));
    if (!p->argv)
        request_fail(q, SERVE_E_PARAMS, NULL, "\"command\" is not an array of strings");
    else if (p->mode && mode_number(p->mode) < 0)
        request_fail(q, SERVE_E_PARAMS, NULL, "\"mode\" is one of holders, contended, all and counts");
    else
        return true;
    return false;
}

void method_start(const struct request *q)
{
    struct job how = {.command = "start", .done = start_done, .child = start_child};
    struct start_params p = {0};
    if (json_find(q->params, "target").text) {
        method_continue(q);
        return;
    }
    if (start_params(q, &p)) {
        how.child_arg = &p;
        (void)job_start(q, &how, NULL); /* it has replied if it failed */
    }
    start_free(&p);
}
