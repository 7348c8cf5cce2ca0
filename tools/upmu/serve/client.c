/* SPDX-License-Identifier: MIT */
/*
 * Clients of the protocol: lines in, queue out.
 *
 * A client that does not read is not read from: what is queued for it stays below SERVE_QUEUE_HIGH and the replies of its
 * jobs, and updates of its subscriptions are dropped whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve.h"

enum { READ_BYTES = 64 << 10, WRITE_BYTES = 4096, LINES_AT_ONCE = 16 };

bool client_reads(const struct client *c)
{
    bool is_full = c->input.n > SERVE_LINE_MAX || c->output.n > SERVE_QUEUE_HIGH;
    return c->kind == CLIENT_EVENTS || (c->in >= 0 && !is_full);
}

static void client_end_of_input(struct client *c)
{
    if (c->kind == CLIENT_EVENTS) {
        c->gone = true;
        return;
    }
    c->in = -1; /* closed with the client: it may be the same descriptor as `out` */
    if (c->input.n > 0 && !c->skips)
        bytes_add(&c->input, "\n", 1); /* a last line without its line break */
}

void client_read(struct client *c)
{
    ssize_t n = read(c->in, bytes_reserve(&c->input, READ_BYTES), READ_BYTES);
    if (n > 0 && c->kind == CLIENT_LINES)
        c->input.n += (size_t)n;
    else if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        client_end_of_input(c);
}

/* A pipe that is ready accepts WRITE_BYTES; a socket takes what fits. */
static ssize_t client_write_some(const struct client *c)
{
    ssize_t n = send(c->out, c->output.data, c->output.n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK)
        n = write(c->out, c->output.data, c->output.n < WRITE_BYTES ? c->output.n : WRITE_BYTES);
    return n;
}

void client_write(struct client *c)
{
    ssize_t n = client_write_some(c);
    if (n >= 0)
        bytes_drop(&c->output, (size_t)n);
    else if (errno != EINTR && errno != EAGAIN)
        c->gone = true;
}

void client_send(struct client *c, const char *line, size_t length)
{
    if (c->gone)
        return;
    if (c->kind == CLIENT_EVENTS)
        bytes_add(&c->output, "data: ", 6);
    bytes_add(&c->output, line, length);
    bytes_add(&c->output, "\n\n", c->kind == CLIENT_EVENTS ? 2 : 1);
}

/* The line that is too long is not kept. */
static void client_skip(struct client *c)
{
    reply_error(c, NULL, 0, SERVE_E_LIMIT, NULL, "a line has more than %d bytes", SERVE_LINE_MAX);
    bytes_free(&c->input);
    c->searched = 0;
    c->skips = true;
}

/* @return whether there was a whole line. */
static bool client_one_line(struct client *c)
{
    const char *end =
        c->input.n > c->searched ? memchr(c->input.data + c->searched, '\n', c->input.n - c->searched) : NULL;
    if (!end) {
        c->searched = c->input.n;
        if (c->skips) {
            bytes_free(&c->input);
            c->searched = 0;
        } else if (c->input.n > SERVE_LINE_MAX) {
            client_skip(c);
        }
        return false;
    }
    size_t length = (size_t)(end - c->input.data);
    if (c->skips)
        c->skips = false;
    else if (length > SERVE_LINE_MAX)
        reply_error(c, NULL, 0, SERVE_E_LIMIT, NULL, "a line has more than %d bytes", SERVE_LINE_MAX);
    else
        request_line(c, c->input.data, length);
    bytes_drop(&c->input, length + 1);
    c->searched = 0;
    return true;
}

bool client_work(struct client *c)
{
    for (int i = 0; i < LINES_AT_ONCE && !c->gone; i++) {
        if (c->output.n > SERVE_QUEUE_HIGH || !client_one_line(c))
            return false;
    }
    return !c->gone;
}

void client_free(struct client *c)
{
    job_end_all(c);
    if (c->out > STDERR_FILENO)
        close(c->out);
    for (size_t i = 0; i < c->n_targets; i++)
        target_free(&c->targets[i]);
    view_forget(c);
    bytes_free(&c->input);
    bytes_free(&c->output);
    free(c);
}
