/* SPDX-License-Identifier: MIT */
/*
 * HTTP in front of the server.
 *
 * GET / is the page; GET /events makes the connection a client whose replies and notices are an event stream; POST
 * /request?session=S carries out one line of that client; GET /report/FILE is a file that one of its exports made. Each request needs
 * the token, and a Host that is this server: a page of another site that resolves its name to 127.0.0.1 is refused.
 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ui/memory.h"
#include "ui/output.h"

enum { CONNECTIONS_MAX = 16, HEAD_MAX = 16 << 10, TOKEN_BYTES = 16, STEP = 64 << 10 };

struct connection {
    int fd;
    int file; /* that is sent; -1: none */
    struct bytes in, out;
    bool is_answered; /* closed when everything is written */
    bool is_over;
};

struct http {
    struct front front; /* first: the server has its address */
    struct server *server;
    struct connection connections[CONNECTIONS_MAX];
    size_t n;
    char token[2 * TOKEN_BYTES + 1];
    char host[64]; /* "127.0.0.1:PORT" */
    unsigned port, n_sessions;
    char *url;
};

/* A request, cut in place. */
struct http_request {
    const char *method, *path, *query, *host, *origin;
    const char *body;
    size_t length;
};

/* ------------------------------------------------------------------------------------------------------- answers */

static void http_head(struct connection *c, const char *status, const char *type, long long length)
{
    char head[768];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
                     "X-Content-Type-Options: nosniff\r\nX-Frame-Options: SAMEORIGIN\r\nContent-Security-Policy: "
                     "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
                     "connect-src 'self'; base-uri 'none'; form-action 'none'\r\nConnection: close\r\n",
                     status, type);
    bytes_add(&c->out, head, (size_t)n);
    if (length >= 0) {
        n = snprintf(head, sizeof head, "Content-Length: %lld\r\n", length);
        bytes_add(&c->out, head, (size_t)n);
    }
    bytes_add(&c->out, "\r\n", 2);
}

static void http_answer(struct connection *c, const char *status, const char *text)
{
    http_head(c, status, "text/plain; charset=utf-8", (long long)strlen(text));
    bytes_add(&c->out, text, strlen(text));
    c->is_answered = true;
}

static void http_page(struct connection *c)
{
    http_head(c, "200 OK", "text/html; charset=utf-8", (long long)live_page_length);
    bytes_add(&c->out, live_page, live_page_length);
    c->is_answered = true;
}

/* A file of the server's folder: a name without a slash, as the exports are called. */
static void http_report(struct http *h, struct connection *c, const char *name)
{
    struct stat st;
    bool is_name = name[0] && !name[strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz.")] && name[0] != '.';
    char *path = is_name && h->server->scratch ? memory_format("%s/%s", h->server->scratch, name) : NULL;
    c->file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    free(path);
    if (c->file < 0 || fstat(c->file, &st) != 0) {
        http_answer(c, "404 Not Found", "there is no such report\n");
        return;
    }
    bool is_page = strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".html") == 0;
    http_head(c, "200 OK", is_page ? "text/html; charset=utf-8" : "application/octet-stream", (long long)st.st_size);
    c->is_answered = true;
}

/* The connection becomes a client of the server. */
static void http_events(struct http *h, struct connection *c)
{
    struct client *client = server_add_client(h->server, CLIENT_EVENTS, c->fd, c->fd);
    char text[96];
    if (!client) {
        http_answer(c, "503 Service Unavailable", "too many clients\n");
        return;
    }
    http_head(c, "200 OK", "text/event-stream", -1);
    client->output = c->out;
    c->out = (struct bytes){0};
    snprintf(client->session, sizeof client->session, "%u", ++h->n_sessions);
    int n = snprintf(text, sizeof text, "event: session\ndata: %s\n\n", client->session);
    bytes_add(&client->output, text, (size_t)n);
    c->fd = -1;
    c->is_over = true;
}

/* The value of a name in a query, "" if it is not there. */
static const char *query_value(const char *query, const char *name, char *to, size_t size)
{
    size_t n = strlen(name);
    to[0] = '\0';
    for (const char *at = query; *at; at += strcspn(at, "&"), at += *at == '&')
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            snprintf(to, size, "%.*s", (int)strcspn(at + n + 1, "&"), at + n + 1);
    return to;
}

static void http_line(struct http *h, struct connection *c, const struct http_request *q)
{
    char session[40];
    struct client *client = NULL;
    (void)query_value(q->query, "session", session, sizeof session);
    for (size_t i = 0; i < h->server->n_clients; i++)
        if (h->server->clients[i]->kind == CLIENT_EVENTS && strcmp(h->server->clients[i]->session, session) == 0)
            client = h->server->clients[i];
    if (!client) {
        http_answer(c, "404 Not Found", "there is no such session\n");
    } else if (client->output.n > SERVE_QUEUE_HIGH) {
        http_answer(c, "429 Too Many Requests", "the client has not read the replies to earlier requests\n");
    } else {
        request_line(client, q->body, q->length);
        http_answer(c, "202 Accepted", "");
    }
}

/* ------------------------------------------------------------------------------------------------------ requests */

/* In a time that does not depend on where they differ. */
static bool token_matches(const struct http *h, const char *query)
{
    char token[sizeof h->token + 1];
    unsigned char differs = 0;
    if (strlen(query_value(query, "token", token, sizeof token)) != sizeof h->token - 1)
        return false;
    for (size_t i = 0; i < sizeof h->token - 1; i++)
        differs |= (unsigned char)(token[i] ^ h->token[i]);
    return differs == 0;
}

static bool host_is_ours(const struct http *h, const char *host)
{
    char local[64];
    snprintf(local, sizeof local, "localhost:%u", h->port);
    return host && (strcmp(host, h->host) == 0 || strcmp(host, local) == 0);
}

/* A request of a page that came from here, or of none. */
static bool origin_is_ours(const struct http *h, const char *origin)
{
    return !origin || (strncmp(origin, "http://", 7) == 0 && host_is_ours(h, origin + 7));
}

static void http_dispatch(struct http *h, struct connection *c, const struct http_request *q)
{
    static const char report[] = "/report/";
    bool gets = strcmp(q->method, "GET") == 0;
    if (!host_is_ours(h, q->host) || !origin_is_ours(h, q->origin) || !token_matches(h, q->query))
        http_answer(c, "403 Forbidden", "open the address that upmu top has printed\n");
    else if (gets && strcmp(q->path, "/") == 0)
        http_page(c);
    else if (gets && strcmp(q->path, "/events") == 0)
        http_events(h, c);
    else if (gets && strncmp(q->path, report, sizeof report - 1) == 0)
        http_report(h, c, q->path + sizeof report - 1);
    else if (strcmp(q->method, "POST") == 0 && strcmp(q->path, "/request") == 0)
        http_line(h, c, q);
    else
        http_answer(c, "404 Not Found", "there is nothing at this path\n");
}

/* The lines of the head, which end with NUL now. @return the number of bytes of the body that they announce, -1: they are wrong. */
static long http_parse(char *head, struct http_request *q)
{
    char *rest = head, *line = strsep(&rest, "\n");
    long length = 0;
    q->method = strsep(&line, " ");
    char *path = strsep(&line, " ");
    if (!path || !line || strncmp(line, "HTTP/1.", 7) != 0)
        return -1;
    q->path = strsep(&path, "?");
    q->query = path ? path : "";
    while (rest && (line = strsep(&rest, "\n")) != NULL) {
        line[strcspn(line, "\r")] = '\0';
        char *value = strchr(line, ':');
        if (!value)
            continue;
        *value++ = '\0';
        value += strspn(value, " \t");
        if (strcasecmp(line, "host") == 0)
            q->host = value;
        else if (strcasecmp(line, "origin") == 0)
            q->origin = value;
        else if (strcasecmp(line, "content-length") == 0)
            length = strtol(value, NULL, 10);
    }
    return length >= 0 && length <= SERVE_LINE_MAX ? length : -1;
}

/* Carry out a request once all of it is there. */
static void connection_work(struct http *h, struct connection *c)
{
    struct http_request q = {0};
    const char *end = c->in.n > 0 ? memmem(c->in.data, c->in.n, "\r\n\r\n", 4) : NULL;
    if (!end) {
        if (c->in.n > HEAD_MAX)
            http_answer(c, "431 Request Header Fields Too Large", "");
        return;
    }
    size_t n = (size_t)(end - c->in.data) + 4;
    char *head = memory_format("%.*s", (int)n - 4, c->in.data);
    long length = http_parse(head, &q);
    if (length < 0) {
        http_answer(c, "400 Bad Request", "");
    } else if (c->in.n >= n + (size_t)length) {
        q.body = c->in.data + n;
        q.length = (size_t)length;
        http_dispatch(h, c, &q);
    }
    free(head);
}

static void connection_read(struct http *h, struct connection *c)
{
    ssize_t n = read(c->fd, bytes_reserve(&c->in, STEP), STEP);
    if (n > 0) {
        c->in.n += (size_t)n;
        if (c->in.n > HEAD_MAX + SERVE_LINE_MAX)
            c->is_over = true;
        else
            connection_work(h, c);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        c->is_over = true;
    }
}

static void connection_write(struct connection *c)
{
    if (c->out.n == 0 && c->file >= 0) {
        ssize_t n = read(c->file, bytes_reserve(&c->out, STEP), STEP);
        c->out.n += n > 0 ? (size_t)n : 0;
        if (n <= 0) {
            close(c->file);
            c->file = -1;
        }
    }
    ssize_t n = c->out.n > 0 ? send(c->fd, c->out.data, c->out.n, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
    if (n > 0)
        bytes_drop(&c->out, (size_t)n);
    else if (n < 0 && errno != EINTR && errno != EAGAIN)
        c->is_over = true;
    c->is_over |= c->out.n == 0 && c->file < 0;
}

static void connection_close(struct connection *c)
{
    if (c->fd >= 0)
        close(c->fd);
    if (c->file >= 0)
        close(c->file);
    bytes_free(&c->in);
    bytes_free(&c->out);
}

/* -------------------------------------------------------------------------------------------------------- the front */

static void http_list(struct front *front, struct wait_list *w)
{
    const struct http *h = (struct http *)front;
    for (size_t i = 0; i < h->n; i++)
        wait_for(w, h->connections[i].fd, h->connections[i].is_answered ? POLLOUT : POLLIN);
}

static void http_work(struct front *front, const struct wait_list *w)
{
    struct http *h = (struct http *)front;
    size_t kept = 0;
    for (size_t i = 0; i < h->n; i++) {
        struct connection *c = &h->connections[i];
        if (!c->is_answered && wait_result(w, c->fd, POLLIN))
            connection_read(h, c);
        else if (c->is_answered && wait_result(w, c->fd, POLLOUT))
            connection_write(c);
        if (c->is_over)
            connection_close(c);
        else
            h->connections[kept++] = *c;
    }
    h->n = kept;
}

/* The oldest connection gives way: one that sends nothing must not keep others out. */
static void http_accept(struct server *s, int fd)
{
    struct http *h = (struct http *)s->front;
    if (h->n == CONNECTIONS_MAX) {
        connection_close(&h->connections[0]);
        memmove(h->connections, h->connections + 1, --h->n * sizeof *h->connections);
    }
    h->connections[h->n++] = (struct connection){.fd = fd, .file = -1};
}

/* "PORT", "127.0.0.1:PORT" or "[::1]:PORT", and nothing but the loopback interface. */
static bool http_address(const char *text, struct sockaddr_storage *to, socklen_t *size)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)to;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
    char *end;
    bool is_v6 = strncmp(text, "[::1]:", 6) == 0;
    const char *port = is_v6 ? text + 6 : strncmp(text, "127.0.0.1:", 10) == 0 ? text + 10 : text;
    long n = strtol(port, &end, 10);
    if (end == port || *end || n < 0 || n > 65535 || *port == '-' || *port == '+')
        return false;
    memset(to, 0, sizeof *to);
    if (is_v6)
        *v6 = (struct sockaddr_in6){
            .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)n), .sin6_addr = in6addr_loopback};
    else
        *v4 = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = htons((uint16_t)n), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *size = is_v6 ? sizeof *v6 : sizeof *v4;
    return true;
}

static int http_listen(struct http *h, const char *address)
{
    struct sockaddr_storage at;
    socklen_t size;
    const int on = 1;
    if (!http_address(address ? address : "0", &at, &size)) {
        complain("'%s' is not an address: give PORT, 127.0.0.1:PORT or [::1]:PORT; other machines are never served",
                 address);
        return -1;
    }
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, CONNECTIONS_MAX) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) != 0) {
        complain("cannot listen at %s: %s", address ? address : "127.0.0.1", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    bool is_v6 = at.ss_family == AF_INET6;
    h->port = ntohs(is_v6 ? ((struct sockaddr_in6 *)&at)->sin6_port : ((struct sockaddr_in *)&at)->sin_port);
    snprintf(h->host, sizeof h->host, is_v6 ? "[::1]:%u" : "127.0.0.1:%u", h->port);
    h->server->listener = fd;
    return 0;
}

struct http *http_begin(struct server *s, const char *address)
{
    unsigned char random[TOKEN_BYTES];
    struct http *h = memory_array(1, sizeof *h);
    h->server = s;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        complain("cannot make a token: %s", strerror(errno));
        free(h);
        return NULL;
    }
    if (http_listen(h, address) != 0) {
        free(h);
        return NULL;
    }
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(h->token + 2 * i, 3, "%02x", random[i]);
    h->url = memory_format("http://%s/?token=%s", h->host, h->token);
    h->front = (struct front){http_list, http_work};
    s->front = &h->front;
    s->accept = http_accept;
    return h;
}

const char *http_url(const struct http *h)
{
    return h->url;
}

void http_end(struct http *h)
{
    for (size_t i = 0; i < h->n; i++)
        connection_close(&h->connections[i]);
    free(h->url);
    free(h);
}
