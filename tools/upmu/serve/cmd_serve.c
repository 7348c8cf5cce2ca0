/* SPDX-License-Identifier: MIT */
/* upmu serve: the protocol for IDEs and other programs. */
#include <unistd.h>

#include "serve.h"
#include "ui/command.h"
#include "ui/options.h"

enum { SERVE_STDIO = 1, SERVE_SOCKET };

struct serve_request {
    const struct command *self;
    bool stdio;
    const char *socket;
};

static int serve_option(void *arg, int id, const char *value)
{
    struct serve_request *q = arg;
    switch (id) {
    case SERVE_STDIO:
        q->stdio = true;
        return 0;
    case SERVE_SOCKET:
        q->socket = value;
        return 0;
    default:
        return options_usage(q->self, "unexpected argument '%s'", value);
    }
}

static int serve_main(const struct command *self, int argc, char **argv)
{
    struct serve_request q = {.self = self};
    struct server s;
    int status = options_parse(self, argc, argv, serve_option, &q, NULL);
    if (status != OPTIONS_CONTINUE)
        return status;
    if (q.stdio == (q.socket != NULL))
        return options_usage(self, "give either --stdio or --socket PATH");
    server_begin(&s);
    s.ends_with_client = q.stdio;
    status = EXIT_OK;
    if (q.stdio)
        (void)server_add_client(&s, CLIENT_LINES, STDIN_FILENO, STDOUT_FILENO); /* the first one */
    else if (socket_listen(&s, q.socket) != 0)
        status = EXIT_FAILED;
    if (status == EXIT_OK)
        server_run(&s, NULL, NULL);
    if (q.socket && status == EXIT_OK)
        (void)unlink(q.socket); /* a socket that stays is taken away by the next server */
    server_end(&s);
    return status;
}

static const struct option_spec serve_options[] = {
    {SERVE_STDIO, 0, "stdio", NULL, "requests on standard input, replies on standard output; ends with its input"},
    {SERVE_SOCKET, 0, "socket", "PATH", "a socket at PATH that only this user can connect to; ends with Ctrl-C"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_serve = {
    .name = "serve",
    .summary = "answer the requests of IDEs and other programs, as lines of JSON",
    .usage = "--stdio | --socket PATH",
    .about =
        "Carries out requests in JSON Lines: start a program and record it, attach to a process or a recording, stop,\n"
        "detect deadlocks, views in pages, exports, and live updates each second. docs/protocol.md has all of it.\n"
        "A client that is slow, stalled or killed has no effect on the program and its recording.\n",
    .options = serve_options,
    .exits = "  0  standard input ended, or a signal ended the server\n"
             "  1  the socket cannot be created\n"
             "  2  the command line is invalid\n",
    .run = serve_main,
};
