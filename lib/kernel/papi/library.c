/* SPDX-License-Identifier: MIT */
/* Loading and initialization of libpapi. */
#include "kernel/papi/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first members of PAPI's component info, unchanged since 5.0; later ones moved. */
struct component_head {
    char name[128], short_name[64], description[128], version[64], support_version[64], kernel_version[64];
    char disabled_reason[128];
};

static struct papi_library library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char remedy[] = "Unset UPMU_BACKEND to count through perf_event_open";

/* Debian's name, then those of PAPI's own installations; each with the version to request. */
static void *library_open(int *version)
{
    static const struct {
        const char *name;
        int major, minor;
    } known[] = {
        {"libpapi.so.7.0", 7, 0}, {"libpapi.so.7.3", 7, 3}, {"libpapi.so.7.2", 7, 2},
        {"libpapi.so.7.1", 7, 1}, {"libpapi.so.6.0", 6, 0}, {"libpapi.so.5.7", 5, 7},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        void *found = dlopen(known[i].name, RTLD_NOW | RTLD_LOCAL);
        if (!found)
            continue;
        *version = known[i].major << 24 | known[i].minor << 16;
        snprintf(library.reason, sizeof library.reason, "%s", known[i].name);
        return found;
    }
    snprintf(library.reason, sizeof library.reason,
             "libpapi cannot be opened (%s). Install it ('apt install libpapi7.0'), or unset UPMU_BACKEND to count "
             "through perf_event_open",
             dlerror());
    return NULL;
}

/* @return the name of the first missing function, or NULL. */
static const char *library_find_calls(void *handle, struct papi_calls *call)
{
    const struct {
        const char *name;
        void *at;
    } wanted[] = {
        {"PAPI_library_init", &call->library_init},
        {"PAPI_is_initialized", &call->is_initialized},
        {"PAPI_thread_init", &call->thread_init},
        {"PAPI_unregister_thread", &call->unregister_thread},
        {"PAPI_get_component_index", &call->component_index},
        {"PAPI_get_component_info", &call->component_info},
        {"PAPI_event_name_to_code", &call->name_to_code},
        {"PAPI_query_named_event", &call->query_named},
        {"PAPI_create_eventset", &call->create},
        {"PAPI_assign_eventset_component", &call->assign},
        {"PAPI_attach", &call->attach},
        {"PAPI_set_opt", &call->set_opt},
        {"PAPI_add_named_event", &call->add_named},
        {"PAPI_add_event", &call->add},
        {"PAPI_start", &call->start},
        {"PAPI_stop", &call->stop},
        {"PAPI_read", &call->read},
        {"PAPI_cleanup_eventset", &call->cleanup},
        {"PAPI_destroy_eventset", &call->destroy},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(handle, wanted[i].name);
        if (!found)
            return wanted[i].name;
        memcpy(wanted[i].at, &found, sizeof found); /* ISO C has no cast from an object pointer to a function pointer */
    }
    return NULL;
}

static unsigned long library_thread_number(void)
{
    return (unsigned long)syscall(SYS_gettid);
}

/* A disabled component has a reason. */
static bool library_check_component(struct papi_library *l)
{
    enum { DISABLED_AT_LEAST = 1 };
    l->component = l->call.component_index("perf_event");
    const struct component_head *head = l->component >= 0 ? l->call.component_info(l->component) : NULL;
    char which[64];
    snprintf(which, sizeof which, "%.63s", l->reason);
    if (!head || strncmp(head->name, "perf_event", 10) != 0) {
        snprintf(l->reason, sizeof l->reason, "%s has no component perf_event. %s", which, remedy);
        return false;
    }
    if (strnlen(head->disabled_reason, sizeof head->disabled_reason) < DISABLED_AT_LEAST)
        return true;
    snprintf(l->reason, sizeof l->reason, "%s has switched its component perf_event off (%.*s). %s", which,
             (int)strnlen(head->disabled_reason, sizeof head->disabled_reason), head->disabled_reason, remedy);
    return false;
}

static bool library_start(struct papi_library *l, int version)
{
    char which[64];
    snprintf(which, sizeof which, "%.63s", l->reason);
    int rc = l->call.library_init(version);
    if (rc != version) {
        snprintf(l->reason, sizeof l->reason, "%s cannot be started (PAPI error %d). %s", which, rc, remedy);
        return false;
    }
    /* A refusal means that the program has set a thread id function, which is as good. */
    (void)l->call.thread_init(library_thread_number);
    return library_check_component(l);
}

static void papi_load(void)
{
    int version;
    void *handle = library_open(&version);
    if (!handle)
        return;
    const char *missing = library_find_calls(handle, &library.call);
    if (missing) {
        char which[64];
        snprintf(which, sizeof which, "%.63s", library.reason);
        snprintf(library.reason, sizeof library.reason, "%s lacks %s. %s", which, missing, remedy);
        return;
    }
    library.usable = library_start(&library, version);
}

const struct papi_library *papi_library(void)
{
    pthread_once(&once, papi_load);
    return &library;
}
