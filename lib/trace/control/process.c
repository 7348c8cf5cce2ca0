/* SPDX-License-Identifier: MIT */
/* Processes of a control, and the control files of those that run. */
#include "trace/control/process.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "trace/control/control_file.h"
#include "trace/read/packets.h"

int control_process(const char *function, const struct upmu_control *control, size_t index, const char **dir)
{
    if (!control)
        return argument_null(function, "control");
    if (index >= control->processes.n)
        return UPMU_E_END;
    *dir = control->processes.paths[index];
    return 0;
}

int control_process_is_running(const char *dir)
{
    int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirfd < 0)
        return packets_io_failed(dir, errno);
    int rc = control_is_running(dirfd);
    close(dirfd);
    return rc < 0 ? packets_io_failed(dir, -rc) : rc;
}

int control_map_running(const char *function, const struct upmu_control *control, size_t index, const char **dir,
                        struct control_header **h)
{
    int rc = control_process(function, control, index, dir);
    if (rc == 0)
        rc = control_file_map(*dir, h);
    if (rc != 0 || !*h || !*dir)
        return rc;
    rc = control_process_is_running(*dir);
    if (rc > 0 && !__atomic_load_n(&(*h)->complete, __ATOMIC_ACQUIRE))
        return 0;
    if (rc >= 0)
        rc = upmu_fail(UPMU_E_GONE, "the process of \"%s\" has ended", *dir);
    control_file_unmap(*h);
    return rc;
}
