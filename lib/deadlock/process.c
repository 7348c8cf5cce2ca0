/* SPDX-License-Identifier: MIT */
/* A process with the wait state of its threads. */
#include <stdlib.h>

#include "deadlock/deadlocks.h"

int deadlocks_read_wait_state(struct dl_process *p, const char *dir)
{
    int rc = dir ? wait_state_read(&p->wait_state, dir) : 0;
    p->recorded = rc > 0;
    if (rc >= 0 && p->outer_pid != 0)
        rc = wait_state_read_wakers(&p->wait_state, p->outer_pid);
    if (rc >= 0 && dir && p->wait_state.kernel.n_threads == 0) { /* it has ended, or is ending */
        wait_state_file_end_pauses(&p->wait_state.file);
        wait_state_file_end_left(&p->wait_state.file);
        wait_state_restore_inspected(&p->wait_state, dir);
    }
    return rc < 0 ? rc : wait_state_find_blocked(&p->wait_state, p->alive ? p->outer_pid : 0);
}

void deadlocks_process_free(struct dl_process *p)
{
    wait_state_free(&p->wait_state);
    free(p->problem);
    free(p->dir);
}
