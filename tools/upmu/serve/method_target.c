/* SPDX-License-Identifier: MIT */
/* Methods on targets: attach, detach, status, stop, and start of a paused recording. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"
#include "ui/memory.h"
#include "ui/modes.h"
#include "upmu/control.h"

enum { PID_MAX = 1 << 22 };

struct target *target_add(const struct request *q, pid_t pid, const char *dir)
{
    struct client *c = q->client;
    if (c->n_targets == SERVE_TARGETS_MAX) {
        request_fail(q, SERVE_E_LIMIT, "detach from one", "a client has at most %d targets", SERVE_TARGETS_MAX);
        return NULL;
    }
    struct target *t = &c->targets[c->n_targets++];
    *t = (struct target){.id = ++c->next_target, .pid = pid, .dir = dir ? memory_copy(dir) : NULL};
    return t;
}

void target_free(struct target *t)
{
    if (t->sampler > 0)
        (void)kill(t->sampler, SIGINT); /* no client can stop it any more */
    free(t->dir);
    free(t->samples);
}

static void status_process(struct textbuf *j, const struct upmu_control_status *s)
{
    json_object(j, NULL);
    json_int(j, "pid", s->pid);
    json_bool(j, "running", s->running != 0);
    json_string(j, "mode", s->running ? mode_name(s->mode) : NULL);
    json_uint(j, "threads", s->threads);
    json_uint(j, "events", s->events);
    json_uint(j, "lost", s->lost);
    json_string(j, "dir", s->dir);
    json_object_end(j);
}

/* @return whether one of the processes runs. */
static bool status_processes(struct textbuf *j, const char *dir)
{
    struct upmu_control *control = NULL;
    struct upmu_control_status s = {.size = sizeof s};
    bool is_running = false;
    json_array(j, "processes");
    if (dir && upmu_control_open(&control, dir) == 0)
        for (size_t i = 0; i < upmu_control_process_count(control); i++)
            if (upmu_control_status_read(control, i, &s) == 0) {
                status_process(j, &s);
                is_running |= s.running != 0;
            }
    json_array_end(j);
    upmu_control_close(control);
    return is_running;
}

void target_members(struct textbuf *j, const struct target *t)
{
    json_int(j, "target", t->id);
    json_int_if(j, "pid", t->pid > 0, t->pid);
    json_string(j, "dir", t->dir);
    json_bool(j, "recorded", t->dir != NULL);
    json_bool(j, "sampled", t->sampler > 0);
    json_string(j, "samples", t->samples);
    json_bool(j, "running", status_processes(j, t->dir));
}

static void target_reply(const struct request *q, const struct target *t)
{
    struct reply r;
    reply_begin(&r, q->id.text, q->id.length);
    target_members(&r.json, t);
    reply_end(&r, q->client, q->id.text, q->id.length);
}

void method_status(const struct request *q)
{
    const struct target *t = param_target(q);
    if (t)
        target_reply(q, t);
}

/* A process that is not being recorded is a target, too: it has scheduling, samples and deadlocks. */
static struct target *attach_process(const struct request *q, pid_t pid)
{
    struct upmu_control *control;
    struct upmu_control_status s = {.size = sizeof s};
    struct target *t = NULL;
    int rc = upmu_control_open_pid(&control, pid);
    if (rc == UPMU_E_STATE)
        return target_add(q, pid, NULL);
    if (rc == 0 && (rc = upmu_control_status_read(control, 0, &s)) == 0)
        t = target_add(q, pid, s.dir);
    if (rc != 0)
        request_fail(q, SERVE_E_FAILED, NULL, "%s", upmu_error());
    upmu_control_close(control);
    return t;
}

static struct target *attach_directory(const struct request *q, const char *dir)
{
    struct upmu_control *control;
    if (dir[0] != '/') {
        request_fail(q, SERVE_E_PARAMS, NULL, "\"dir\" is not an absolute path");
        return NULL;
    }
    if (upmu_control_open(&control, dir) != 0) {
        request_fail(q, SERVE_E_FAILED, NULL, "%s", upmu_error());
        return NULL;
    }
    struct upmu_control_status s = {.size = sizeof s};
    bool is_one = upmu_control_process_count(control) == 1 && upmu_control_status_read(control, 0, &s) == 0;
    struct target *t = target_add(q, is_one ? s.pid : 0, dir);
    upmu_control_close(control);
    return t;
}

void method_attach(const struct request *q)
{
    int64_t pid = 0;
    char *dir;
    const struct target *t = NULL;
    if (!param_integer(q, "pid", 1, PID_MAX, &pid) || !param_text(q, "dir", &dir))
        return;
    if ((pid > 0) == (dir != NULL))
        request_fail(q, SERVE_E_PARAMS, NULL, "either \"pid\" or \"dir\" is needed");
    else
        t = dir ? attach_directory(q, dir) : attach_process(q, (pid_t)pid);
    if (t)
        target_reply(q, t);
    free(dir);
}

void method_detach(const struct request *q)
{
    struct client *c = q->client;
    struct target *t = param_target(q);
    struct reply r;
    if (!t)
        return;
    if (t->is_given) {
        request_fail(q, SERVE_E_DENIED, NULL, "target 1 is that of the server");
        return;
    }
    for (size_t i = 0; i < c->server->n_jobs; i++)
        if (c->server->jobs[i]->client == c && c->server->jobs[i]->target == t->id)
            job_cancel(c->server->jobs[i]);
    if (c->document.target == t->id)
        view_forget(c);
    target_free(t);
    *t = c->targets[--c->n_targets];
    reply_begin(&r, q->id.text, q->id.length);
    json_bool(&r.json, "detached", true);
    reply_end(&r, c, q->id.text, q->id.length);
}

/* All processes of a target that run. @return how many there were; negative after an error reply. */
static int switch_recording(const struct request *q, const struct target *t,
                            int (*act)(const struct upmu_control *control, size_t index))
{
    struct upmu_control *control;
    int done = 0;
    if (!t->dir || upmu_control_open(&control, t->dir) != 0) {
        request_fail(q, SERVE_E_FAILED, t->dir ? NULL : "start the program with the method start", "%s",
                     t->dir ? upmu_error() : "the process is not being recorded");
        return -1;
    }
    for (size_t i = 0; i < upmu_control_process_count(control) && done >= 0; i++) {
        int rc = act(control, i);
        if (rc == 0) {
            done++;
        } else if (rc != UPMU_E_GONE) {
            request_fail(q, SERVE_E_FAILED, NULL, "%s", upmu_error());
            done = -1;
        }
    }
    upmu_control_close(control);
    return done;
}

static void switch_reply(const struct request *q, const struct target *t, const char *key,
                         int (*act)(const struct upmu_control *control, size_t index))
{
    int n = switch_recording(q, t, act);
    if (n < 0)
        return;
    struct reply r;
    reply_begin(&r, q->id.text, q->id.length);
    json_int(&r.json, key, n);
    reply_end(&r, q->client, q->id.text, q->id.length);
}

void method_stop(const struct request *q)
{
    struct target *t = param_target(q);
    if (t && t->sampler > 0)
        method_sample_end(q, t);
    else if (t)
        switch_reply(q, t, "stopped", upmu_control_stop);
}

void method_continue(const struct request *q)
{
    const struct target *t = param_target(q);
    if (t && !t->dir && t->pid > 0)
        method_sample(q, t);
    else if (t)
        switch_reply(q, t, "started", upmu_control_start);
}
