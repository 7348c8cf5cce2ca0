/* SPDX-License-Identifier: MIT */
/*
 * Methods start and stop of a process without a recorder: samples of its threads.
 *
 * As in method_start.c the recorder outlives the server. SIGINT ends it, which completes the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/record.h"
#include "serve.h"
#include "ui/command.h"
#include "ui/memory.h"

enum { FREQUENCY = 999, SAMPLER_END_MS = 30000, SAMPLER_STEP_MS = 10 };

/* ------------------------------------------------------------------------------------------------------- start */

struct sample_params {
    pid_t pid;
    char *output;
};

/* The threads are sampled from now on: the server replies. */
static void sample_begun(const struct record_request *r, void *arg)
{
    int *report = arg, nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dprintf(*report, "%c%d\n%s\n", '\1', (int)getpid(), r->dir);
    if (nothing < 0 || dup2(nothing, STDERR_FILENO) < 0)
        close(STDERR_FILENO); /* the server reads it no more */
    close(*report);
}

static _Noreturn void sample_recorder(const void *arg, int report)
{
    const struct sample_params *p = arg;
    struct record_request r = {.pid = p->pid,
                               .sampling = true,
                               .sampler_opts = {.size = sizeof r.sampler_opts, .frequency = FREQUENCY},
                               .output = -1,
                               .begun = sample_begun,
                               .begun_arg = &report};
    char *shown = NULL;
    int status = record_prepare(&r, p->output, &shown);
    if (status == EXIT_OK)
        status = record_running(&r, shown);
    record_release(&r, shown);
    exit(status);
}

static void sample_child(const void *arg, int out, int err)
{
    start_detached(out, err, sample_recorder, arg);
}

static struct target *sample_target(const struct job *job)
{
    struct client *c = job->client;
    for (size_t i = 0; i < c->n_targets; i++)
        if (c->targets[i].id == job->target)
            return &c->targets[i];
    return NULL; /* detached meanwhile */
}

static void sample_started(struct job *job, int status)
{
    size_t n = strlen(job->id);
    char *message = job_message(job), *dir = NULL;
    struct target *t = sample_target(job);
    (void)status; /* of the process between */
    pid_t pid = start_report(job, &dir);
    if (pid > 0 && t) {
        struct reply r;
        free(t->samples);
        t->sampler = pid;
        t->samples = memory_copy(dir);
        reply_begin(&r, job->id, n);
        json_int(&r.json, "started", 1);
        json_string(&r.json, "samples", t->samples);
        reply_end(&r, job->client, job->id, n);
    } else {
        reply_error(job->client, job->id, n, SERVE_E_FAILED, NULL, "%s",
                    message[0] ? message : "the process cannot be sampled");
    }
    free(message);
}

void method_sample(const struct request *q, const struct target *t)
{
    struct sample_params p = {.pid = t->pid};
    struct job how = {.command = "record", .done = sample_started, .child = sample_child, .target = t->id};
    if (t->sampler > 0) {
        request_fail(q, SERVE_E_FAILED, NULL, "process %d is being sampled", (int)t->pid);
        return;
    }
    if (!param_text(q, "output", &p.output))
        return;
    how.child_arg = &p;
    (void)job_start(q, &how, NULL); /* it has replied if it failed */
    free(p.output);
}

/* -------------------------------------------------------------------------------------------------------- stop */

/* The recorder is no child of this process: its end is seen by its process id, which it keeps until its file is complete. */
static void sample_end_child(const void *arg, int out, int err)
{
    pid_t sampler = *(const pid_t *)arg;
    int ms = 0;
    job_leave_server(out);
    (void)err;
    for (bool ends = kill(sampler, SIGINT) != 0; !ends && ms < SAMPLER_END_MS; ms += SAMPLER_STEP_MS) {
        (void)poll(NULL, 0, SAMPLER_STEP_MS);
        ends = kill(sampler, 0) != 0 && errno == ESRCH;
    }
    _exit(ms < SAMPLER_END_MS ? EXIT_OK : EXIT_FAILED);
}

static void sample_stopped(struct job *job, int status)
{
    struct reply r;
    size_t n = strlen(job->id);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_OK) {
        reply_error(job->client, job->id, n, SERVE_E_FAILED, NULL, "the samples are still being written");
        return;
    }
    reply_begin(&r, job->id, n);
    json_int(&r.json, "stopped", 1);
    reply_end(&r, job->client, job->id, n);
}

void method_sample_end(const struct request *q, struct target *t)
{
    struct job how = {.command = "record",
                      .done = sample_stopped,
                      .child = sample_end_child,
                      .child_arg = &t->sampler,
                      .target = t->id};
    if (job_start(q, &how, NULL))
        t->sampler = 0;
}
