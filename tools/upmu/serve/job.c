/* SPDX-License-Identifier: MIT */
/* Processes that run a command of upmu for a client. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve.h"
#include "ui/command.h"
#include "ui/memory.h"

/* Before Linux 5.9 there is no close_range(): then as many as the process may have. */
static void close_others(int keep)
{
    int first = STDERR_FILENO + 1, last = (int)sysconf(_SC_OPEN_MAX);
#ifdef SYS_close_range
    if ((keep <= first || syscall(SYS_close_range, first, keep - 1, 0) == 0) &&
        syscall(SYS_close_range, keep < first ? first : keep + 1, ~0U, 0) == 0)
        return;
#endif
    for (int fd = first; fd < last; fd++)
        if (fd != keep)
            close(fd);
}

void job_leave_server(int keep)
{
    static const int changed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE};
    sigset_t none;
    close_others(keep);
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        (void)signal(changed[i], SIG_DFL); /* cannot fail: these may be changed */
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void job_child(const char *const *words, int out, int err)
{
    char *argv[24];
    int argc = 0, nothing = open("/dev/null", O_RDONLY);
    const struct command *command = command_find(words[0]);
    for (; words[argc + 1] && argc < (int)(sizeof argv / sizeof *argv) - 1; argc++)
        argv[argc] = memory_copy(words[argc + 1]);
    argv[argc] = NULL;
    bool placed = nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
                  dup2(err, STDERR_FILENO) >= 0;
    job_leave_server(-1);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* the pipes break anyway when the server is killed */
    exit(placed && command ? command->run(command, argc, argv) : EXIT_FAILED);
}

/* @return the process, or -1. */
static pid_t job_fork(const struct job *how, const char *const *words, int *out, int *err)
{
    int outs[2], errs[2];
    if (pipe2(outs, O_CLOEXEC) != 0)
        return -1;
    if (pipe2(errs, O_CLOEXEC) != 0) {
        close(outs[0]);
        close(outs[1]);
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0 && how->child)
        how->child(how->child_arg, outs[1], errs[1]);
    if (pid == 0)
        job_child(words, outs[1], errs[1]);
    close(outs[1]);
    close(errs[1]);
    *out = outs[0];
    *err = errs[0];
    if (pid < 0) {
        close(outs[0]);
        close(errs[0]);
    }
    return pid;
}

size_t job_count(const struct client *c, bool feeds)
{
    size_t n = 0;
    for (size_t i = 0; i < c->server->n_jobs; i++)
        n += c->server->jobs[i]->client == c && (c->server->jobs[i]->number > 0) == feeds;
    return n;
}

struct job *job_start(const struct request *q, const struct job *how, const char *const *words)
{
    struct server *s = q->client->server;
    bool is_feed = how->number > 0;
    if (job_count(q->client, is_feed) >= (is_feed ? (size_t)SERVE_FEEDS_MAX : (size_t)SERVE_JOBS_MAX)) {
        request_fail(q, SERVE_E_LIMIT, is_feed ? "unsubscribe from one" : "wait for one to end, or cancel it",
                     is_feed ? "too many subscriptions" : "too many requests at a time");
        return NULL;
    }
    struct job *job = memory_array(1, sizeof *job);
    *job = *how;
    job->client = q->client;
    job->pid = job_fork(how, words, &job->out, &job->err);
    if (job->pid < 0) {
        request_fail(q, SERVE_E_FAILED, NULL, "cannot start a process: %s", strerror(errno));
        free(job);
        return NULL;
    }
    if (!is_feed)
        job->id = memory_format("%.*s", (int)q->id.length, q->id.text);
    s->jobs[s->n_jobs++] = job;
    return job;
}

static void job_kill(const struct job *job, int signal_number)
{
    (void)kill(job->pid, signal_number); /* our own child, not reaped yet */
}

void job_read(struct job *job, int fd)
{
    enum { STEP = 64 << 10 };
    bool is_output = fd == job->out;
    struct bytes *to = is_output ? &job->output : &job->messages;
    size_t before = to->n;
    ssize_t n = read(fd, bytes_reserve(to, STEP), STEP);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
        close(fd);
        *(is_output ? &job->out : &job->err) = -1;
        return;
    }
    to->n += n > 0 ? (size_t)n : 0;
    if (!is_output && to->n > SERVE_MESSAGES_MAX)
        to->n = before < SERVE_MESSAGES_MAX ? SERVE_MESSAGES_MAX : before;
    if (is_output && job->read)
        job->read(job);
    if (is_output && to->n > SERVE_DOCUMENT_MAX && !job->too_large) {
        job->too_large = true;
        job_kill(job, SIGKILL);
    }
}

void job_cancel(struct job *job)
{
    job->canceled = true;
    job_kill(job, SIGKILL);
}

static void job_free(struct job *job)
{
    if (job->out >= 0)
        close(job->out);
    if (job->err >= 0)
        close(job->err);
    bytes_free(&job->output);
    bytes_free(&job->messages);
    free(job->id);
    free(job->path);
    free(job->filter);
    free(job);
}

static int job_reap(const struct job *job)
{
    int status = 0;
    while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* One reply for each request, whatever became of its process. */
static void job_reply(struct job *job, int status)
{
    size_t n = job->id ? strlen(job->id) : 0;
    if (job->number > 0)
        job->done(job, status);
    else if (job->canceled)
        reply_error(job->client, job->id, n, SERVE_E_CANCELED, NULL, "the request was canceled");
    else if (job->too_large)
        reply_error(job->client, job->id, n, SERVE_E_LIMIT, "export the recording to a file",
                    "the document has more than %d bytes", SERVE_DOCUMENT_MAX);
    else if (WIFSIGNALED(status))
        reply_error(job->client, job->id, n, SERVE_E_FAILED, NULL, "upmu %s was ended by signal %d", job->command,
                    WTERMSIG(status));
    else
        job->done(job, status);
}

bool job_finish(struct job *job)
{
    if (job->out >= 0 || job->err >= 0)
        return false;
    job_reply(job, job_reap(job));
    job_free(job);
    return true;
}

void job_end_all(struct client *c)
{
    struct server *s = c->server;
    size_t kept = 0;
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (s->jobs[i]->client != c) {
            s->jobs[kept++] = s->jobs[i];
            continue;
        }
        job_kill(s->jobs[i], SIGKILL);
        (void)job_reap(s->jobs[i]);
        job_free(s->jobs[i]);
    }
    s->n_jobs = kept;
}

char *job_message(const struct job *job)
{
    static const char head[] = "upmu: ";
    size_t n = job->messages.n, at = 0, to = 0;
    char *text = memory_array(n + 1, 1);
    while (at < n) {
        bool begins = (at == 0 || job->messages.data[at - 1] == '\n') && n - at >= sizeof head - 1 &&
                      memcmp(job->messages.data + at, head, sizeof head - 1) == 0;
        if (begins)
            at += sizeof head - 1;
        else
            text[to++] = job->messages.data[at++];
    }
    while (to > 0 && text[to - 1] == '\n')
        to--;
    text[to] = '\0';
    return text;
}
