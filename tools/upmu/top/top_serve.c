/* SPDX-License-Identifier: MIT */
/* upmu top --serve: the live page. */
#include <stdio.h>

#include "serve/http.h"
#include "top.h"
#include "ui/command.h"
#include "ui/memory.h"
#include "ui/output.h"

int top_serve(const char *address, const char *events, pid_t pid, const char *dir)
{
    struct server s;
    struct output out;
    int status = EXIT_FAILED;
    server_begin(&s);
    s.given = (struct target){.pid = pid, .dir = memory_copy(dir)};
    struct http *h = http_begin(&s, address);
    if (h && output_standard(&out, OUTPUT_STDOUT) == 0) {
        fprintf(out.file, "%s%s%s\n", http_url(h), events ? "&events=" : "", events ? events : "");
        if (output_close(&out) == 0) {
            server_run(&s, NULL, NULL);
            status = EXIT_OK;
        }
    }
    server_end(&s);
    if (h)
        http_end(h);
    return status;
}
