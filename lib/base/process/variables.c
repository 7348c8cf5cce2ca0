/* SPDX-License-Identifier: MIT */
/* Variables of the environment. */
#include "base/process/variables.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

const char *variable_value(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

bool variable_is_on(const char *name)
{
    const char *value = variable_value(name);
    return value && strcmp(value, "0") != 0;
}

/* writev() only reads it. */
static struct iovec variable_piece(const char *text)
{
    return (struct iovec){.iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text)};
}

void variable_report(const char *what, const char *why)
{
    const struct iovec text[] = {variable_piece("libupmu: "), variable_piece(what), variable_piece(": "),
                                 variable_piece(why), variable_piece("\n")};
    ssize_t written = writev(STDERR_FILENO, text, sizeof text / sizeof *text);
    (void)written; /* there is nowhere else to report it */
}
