/* SPDX-License-Identifier: MIT */
/* Local socket of the server: of this user only. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve.h"
#include "ui/output.h"

bool socket_peer_is_ours(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static void socket_accept(struct server *s, int fd)
{
    if (!socket_peer_is_ours(fd) || !server_add_client(s, CLIENT_LINES, fd, fd))
        close(fd);
}

/* Take away the socket of a server that was killed. @return false after a message if there is something else. */
static bool socket_make_way(const char *path, const struct sockaddr_un *address)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return true;
    if (!S_ISSOCK(st.st_mode)) {
        complain("%s exists and is not a socket; give another path", path);
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_used =
        fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno != ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    if (is_used)
        complain("a server is listening at %s already", path);
    else
        (void)unlink(path); /* if it stays, bind() fails with the reason */
    return !is_used;
}

int socket_listen(struct server *s, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        complain("%s is too long for a socket: at most %zu bytes", path, sizeof address.sun_path - 1);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (!socket_make_way(path, &address))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask = umask(0177);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    (void)umask(mask);
    if (!bound || listen(fd, SERVE_CLIENTS_MAX) != 0) {
        complain("cannot listen at %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    s->listener = fd;
    s->accept = socket_accept;
    return 0;
}
