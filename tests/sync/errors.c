/* SPDX-License-Identifier: MIT */
/* Nested begins, and the error message after failures of functions that are async-signal-safe: it does not change. */
#include <string.h>

#include "support/behavior.h"
#include "upmu/sync.h"

static const char *message;

/* Every failure from here on must leave this message as it is. */
static void set_message(void)
{
    CHECK(upmu_event_find("no-such-event", NULL) == UPMU_E_INVAL, "%s", upmu_error());
    message = strdup(upmu_error());
    CHECK(message && message[0], "no message");
}

static void check_kept(const char *call, int rc, int expected)
{
    CHECK(rc == expected, "%s: %d instead of %d", call, rc, expected);
    CHECK(strcmp(upmu_error(), message) == 0 && upmu_error_code() == UPMU_E_INVAL, "%s: %s", call, upmu_error());
}

static void begins_nest(void)
{
    struct upmu_sync_opts other = UPMU_INIT(struct upmu_sync_opts, .mode = UPMU_SYNC_ALL);
    CHECK(upmu_sync_end() == UPMU_E_STATE, "an end without a begin");
    CHECK(upmu_sync_begin(NULL) == 0, "%s", upmu_error());
    CHECK(upmu_sync_begin(NULL) == 0, "%s", upmu_error());
    CHECK(upmu_sync_begin(&other) == UPMU_E_NESTED, "other options are accepted");
    CHECK(upmu_error_code() == UPMU_E_NESTED && strstr(upmu_error(), "other options"), "%s", upmu_error());
    CHECK(upmu_sync_set_mode(UPMU_SYNC_HOLDERS) == UPMU_SYNC_HOLDERS, "the mode has changed");
    CHECK(upmu_sync_end() == 0 && upmu_sync_end() == 0, "%s", upmu_error());
    CHECK(upmu_sync_end() == UPMU_E_STATE, "the refused begin counts");
    CHECK(upmu_sync_begin(&other) == 0, "%s", upmu_error());
    CHECK(upmu_sync_begin(&other) == 0, "%s", upmu_error()); /* the same options */
    CHECK(upmu_sync_end() == 0, "%s", upmu_error());
}

static void signal_safe_calls_keep_the_message(void)
{
    upmu_region_t nameless = UPMU_REGION(NULL);
    set_message();
    check_kept("upmu_region_begin", upmu_region_begin(NULL), UPMU_E_INVAL);
    check_kept("upmu_region_begin", upmu_region_begin(""), UPMU_E_INVAL);
    check_kept("upmu_region_end", upmu_region_end("never begun"), UPMU_E_STATE);
    check_kept("upmu_region_end", upmu_region_end(NULL), UPMU_E_INVAL);
    check_kept("upmu_region_enter", upmu_region_enter(&nameless), UPMU_E_INVAL);
    check_kept("upmu_region_leave", upmu_region_leave(&nameless), UPMU_E_INVAL);
    check_kept("upmu_mark", upmu_mark(NULL), UPMU_E_INVAL);
    check_kept("upmu_sync_set_mode", upmu_sync_set_mode(99), UPMU_E_INVAL);
    const char *name;
    check_kept("upmu_region_name_at", upmu_region_name_at(1000000, &name), UPMU_E_END);
    CHECK(upmu_sync_end() == 0, "%s", upmu_error());
    check_kept("upmu_sync_set_mode", upmu_sync_set_mode(UPMU_SYNC_ALL), UPMU_E_STATE);
}

int main(void)
{
    struct upmu_region_opts opts = UPMU_INIT(struct upmu_region_opts, .events = "page-faults");
    CHECK(upmu_region_setup(&opts) == 0, "%s", upmu_error());
    /* The first region of a thread opens its counters and may set a message. */
    CHECK(upmu_region_begin("first") == 0 && upmu_region_end("first") == 0, "%s", upmu_error());
    begins_nest();
    signal_safe_calls_keep_the_message();
    return 0;
}
