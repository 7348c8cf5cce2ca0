/* SPDX-License-Identifier: MIT */
/* The code that the kernel maps into each process ([vdso]), kept with the samples. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/process/vdso.h"
#include "sampling/sampling.h"

void sampling_save_vdso(const char *dir)
{
    char path[PATH_MAX];
    size_t bytes;
    const void *image = vdso_image(&bytes); /* that of the sampled processes is the same */
    if (!image || snprintf(path, sizeof path, "%s/" SAMPLING_VDSO_FILE, dir) >= (int)sizeof path)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return; /* its functions have no names then */
    if (write(fd, image, bytes) != (ssize_t)bytes)
        (void)unlink(path);
    close(fd);
}
