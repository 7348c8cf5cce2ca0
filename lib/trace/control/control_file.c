/* SPDX-License-Identifier: MIT */
/* Mapping of control files. */
#include "trace/control/control_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/format/control.h"
#include "trace/read/packets.h"

int control_file_check(const char *path, const struct control_header *h)
{
    if (memcmp(h->magic, CONTROL_MAGIC, sizeof h->magic) != 0)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\" is not a control file", path);
    if (h->version != CONTROL_VERSION)
        return upmu_fail(UPMU_E_VERSION,
                         "\"%s\" has version %u, this libupmu reads version %d. Use the upmu that "
                         "recorded it",
                         path, h->version, CONTROL_VERSION);
    return 0;
}

static int control_check_owner(const char *path, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return packets_io_failed(path, errno);
    if (st.st_uid != geteuid())
        return upmu_fail(UPMU_E_PERM,
                         "\"%s\" is another user's: only the owner of the process can control its "
                         "recording",
                         path);
    if (!S_ISREG(st.st_mode) || st.st_size < CONTROL_BYTES)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\" is not a control file", path);
    return 0;
}

static int control_map(const char *path, struct control_header **out)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == EACCES || errno == EPERM))
        return upmu_fail(UPMU_E_PERM,
                         "\"%s\" cannot be written: only the owner of the process can control its "
                         "recording",
                         path);
    if (fd < 0)
        return packets_io_failed(path, errno);
    int rc = control_check_owner(path, fd);
    void *p = rc == 0 ? mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (rc == 0 && p == MAP_FAILED)
        rc = packets_io_failed(path, errno);
    close(fd);
    if (p != MAP_FAILED && (rc = control_file_check(path, p)) != 0)
        munmap(p, CONTROL_BYTES);
    *out = rc == 0 ? p : NULL;
    return rc;
}

int control_file_map(const char *dir, struct control_header **out)
{
    char *path = NULL;
    if (asprintf(&path, "%s/" CONTROL_FILE, dir) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the path of the control file in \"%s\"", dir);
    int rc = control_map(path, out);
    free(path);
    return rc;
}

void control_file_unmap(struct control_header *control)
{
    munmap(control, CONTROL_BYTES);
}
