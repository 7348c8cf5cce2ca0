/* SPDX-License-Identifier: MIT */
/* Loop of the server. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve.h"
#include "stat/stat.h"
#include "ui/memory.h"

enum { CHECK_MS = 200 };

/* What a descriptor is waited for. */
struct wait_list {
    struct pollfd *fds;
    size_t n, cap;
};

void server_begin(struct server *s)
{
    sigset_t caught;
    *s = (struct server){.listener = -1};
    stat_signals_catch();
    (void)signal(SIGPIPE, SIG_IGN); /* cannot fail: it may be ignored */
    sigemptyset(&caught);
    sigaddset(&caught, SIGINT);
    sigaddset(&caught, SIGTERM);
    sigaddset(&caught, SIGHUP);
    sigaddset(&caught, SIGQUIT);
    (void)sigprocmask(SIG_BLOCK, &caught, &s->before); /* they arrive in ppoll() alone */
}

struct client *server_add_client(struct server *s, enum client_kind kind, int in, int out)
{
    if (s->n_clients == SERVE_CLIENTS_MAX)
        return NULL;
    struct client *c = memory_array(1, sizeof *c);
    *c = (struct client){.server = s, .kind = kind, .in = in, .out = out};
    if (s->given.pid > 0) {
        c->targets[c->n_targets++] = (struct target){
            .id = ++c->next_target, .pid = s->given.pid, .dir = memory_copy(s->given.dir), .is_given = true};
    }
    s->clients[s->n_clients++] = c;
    return c;
}

/* -------------------------------------------------------------------------------------------------------- the loop */

void wait_for(struct wait_list *w, int fd, short events)
{
    if (w->n == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 32;
        w->fds = memory_resize(w->fds, w->cap, sizeof *w->fds);
    }
    w->fds[w->n++] = (struct pollfd){.fd = fd, .events = events};
}

short wait_result(const struct wait_list *w, int fd, short events)
{
    for (size_t i = 0; fd >= 0 && i < w->n; i++)
        if (w->fds[i].fd == fd && (w->fds[i].events & events))
            return w->fds[i].revents;
    return 0;
}

static void server_list(const struct server *s, struct wait_list *w)
{
    w->n = 0;
    if (s->listener >= 0)
        wait_for(w, s->listener, POLLIN);
    for (size_t i = 0; i < s->n_clients; i++) {
        const struct client *c = s->clients[i];
        if (client_reads(c))
            wait_for(w, c->in, POLLIN);
        wait_for(w, c->out,
                 c->output.n > 0 ? POLLOUT | POLLERR : POLLERR); /* POLLERR and POLLHUP are always reported */
    }
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (s->jobs[i]->out >= 0)
            wait_for(w, s->jobs[i]->out, POLLIN);
        if (s->jobs[i]->err >= 0)
            wait_for(w, s->jobs[i]->err, POLLIN);
    }
    if (s->front)
        s->front->list(s->front, w);
}

static void server_poll_jobs(struct server *s, const struct wait_list *w)
{
    size_t n = s->n_jobs, kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct job *job = s->jobs[i];
        if (wait_result(w, job->out, POLLIN))
            job_read(job, job->out);
        if (job->err >= 0 && wait_result(w, job->err, POLLIN))
            job_read(job, job->err);
    }
    for (size_t i = 0; i < n; i++)
        if (!job_finish(s->jobs[i]))
            s->jobs[kept++] = s->jobs[i];
    s->n_jobs = kept;
}

/* Nothing more comes from it, and it has everything. */
static bool client_is_done(const struct client *c)
{
    return c->in < 0 && c->input.n == 0 && c->output.n == 0 && job_count(c, false) == 0;
}

static void server_drop_clients(struct server *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_clients; i++) {
        struct client *c = s->clients[i];
        if (c->gone || client_is_done(c))
            client_free(c);
        else
            s->clients[kept++] = c;
    }
    s->n_clients = kept;
}

/* @return whether a client has more requests than were carried out now. */
static bool server_poll_clients(struct server *s, const struct wait_list *w)
{
    bool more = false;
    for (size_t i = 0; i < s->n_clients; i++) {
        struct client *c = s->clients[i];
        if (client_reads(c) && wait_result(w, c->in, POLLIN))
            client_read(c);
        more |= client_work(c);
        if (c->output.n > 0 && wait_result(w, c->out, POLLOUT))
            client_write(c);
        else if ((wait_result(w, c->out, POLLERR) & (POLLERR | POLLHUP)) && c->in < 0 && c->input.n == 0)
            c->gone = true; /* there is no reader for the rest */
    }
    return more;
}

static void server_accept(struct server *s, const struct wait_list *w)
{
    if (!wait_result(w, s->listener, POLLIN))
        return;
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        s->accept(s, fd);
}

void server_run(struct server *s, bool (*over)(void *arg), void *arg)
{
    struct wait_list w = {0};
    sigset_t none;
    bool more = false;
    sigemptyset(&none);
    while (stat_signals_seen() == 0 && !(s->ends_with_client && s->n_clients == 0) && !(over && over(arg))) {
        const struct timespec timeout = {0, more ? 0 : CHECK_MS * 1000000L};
        server_list(s, &w);
        if (ppoll(w.fds, w.n, over || more ? &timeout : NULL, &none) < 0 && errno != EINTR)
            break;
        server_poll_jobs(s, &w);
        more = server_poll_clients(s, &w);
        if (s->front)
            s->front->work(s->front, &w);
        server_accept(s, &w);
        server_drop_clients(s);
    }
    free(w.fds);
}

/* ---------------------------------------------------------------------------------------------------- its folder */

const char *server_scratch(struct server *s)
{
    const char *base = getenv("TMPDIR");
    if (s->scratch)
        return s->scratch;
    char *path = memory_format("%s/upmu-serve-XXXXXX", base && base[0] == '/' ? base : "/tmp");
    if (!mkdtemp(path)) {
        free(path);
        return NULL;
    }
    s->scratch = path;
    return path;
}

static void server_remove_scratch(struct server *s)
{
    DIR *dir = s->scratch ? opendir(s->scratch) : NULL;
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(dir), entry->d_name, 0); /* what is left keeps its folder */
    if (dir)
        closedir(dir);
    if (s->scratch)
        (void)rmdir(s->scratch);
    free(s->scratch);
    s->scratch = NULL;
}

void server_end(struct server *s)
{
    for (size_t i = 0; i < s->n_clients; i++)
        client_free(s->clients[i]);
    s->n_clients = 0;
    if (s->listener >= 0)
        close(s->listener);
    server_remove_scratch(s);
    free(s->given.dir);
    (void)sigprocmask(SIG_SETMASK, &s->before, NULL);
}
