/* SPDX-License-Identifier: MIT */
/*
 * The thread's last error message, and texts of error codes.
 *
 * The message is in a buffer allocated at a thread's first failure; thread-local storage has only a pointer, so
 * that the library can be loaded with dlopen when the static TLS block is nearly full.
 */
#include "base/error.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own_once.h"

struct error_message {
    int code;
    char text[ERROR_TEXT_MAX];
};

/* Returned where no buffer can be allocated; never written or freed. */
static struct error_message error_fixed = {UPMU_E_NOMEM, "out of memory; the message of the last failure is lost"};

static _Thread_local struct error_message *error_last __attribute__((tls_model("initial-exec")));

static struct own_once error_once;
static pthread_key_t error_key;
static int error_key_made;

static void error_thread_end(void *message)
{
    error_last = NULL;
    free(message);
}

static void error_make_key(void)
{
    error_key_made = pthread_key_create(&error_key, error_thread_end) == 0;
}

static struct error_message *error_buffer(void)
{
    if (error_last && error_last != &error_fixed)
        return error_last;
    own_once(&error_once, error_make_key);
    struct error_message *message = error_key_made ? calloc(1, sizeof *message) : NULL;
    if (message && pthread_setspecific(error_key, message) != 0) {
        free(message);
        message = NULL;
    }
    error_last = message ? message : &error_fixed;
    return message;
}

int upmu_fail(int code, const char *fmt, ...)
{
    int saved = errno;
    struct error_message *message = error_buffer();
    if (message) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(message->text, sizeof message->text, fmt, ap);
        va_end(ap);
        message->code = code;
    }
    errno = saved;
    return code;
}

const char *upmu_error(void)
{
    return error_last ? error_last->text : "";
}

int upmu_error_code(void)
{
    return error_last ? error_last->code : UPMU_OK;
}

size_t upmu_error_copy(char *text, size_t size)
{
    const char *message = upmu_error();
    size_t len = strlen(message);
    if (text && size > 0) {
        size_t n = len < size ? len : size - 1;
        memcpy(text, message, n);
        text[n] = '\0';
    }
    return len;
}

static const char *const code_texts[] = {
    [-UPMU_OK] = "success",
    [-UPMU_E_INVAL] = "invalid argument",
    [-UPMU_E_NOMEM] = "out of memory",
    [-UPMU_E_NAME] = "unknown name",
    [-UPMU_E_UNSUPPORTED] = "not supported by this CPU, PMU or kernel",
    [-UPMU_E_NO_PMU] = "no hardware PMU",
    [-UPMU_E_PERM] = "permission denied by the kernel",
    [-UPMU_E_SECCOMP] = "perf_event_open denied by a seccomp filter or security module",
    [-UPMU_E_NO_SYSCALL] = "perf_event_open does not exist here",
    [-UPMU_E_NFILES] = "too many open descriptors",
    [-UPMU_E_MLOCK] = "locked-memory limit for perf pages reached",
    [-UPMU_E_BUSY] = "PMU in use by another process or the kernel",
    [-UPMU_E_GONE] = "no such process, thread or CPU",
    [-UPMU_E_FIT] = "events cannot be counted together",
    [-UPMU_E_STATE] = "call out of order",
    [-UPMU_E_IO] = "input/output error",
    [-UPMU_E_FORMAT] = "bad format",
    [-UPMU_E_VERSION] = "unsupported version",
    [-UPMU_E_LIMIT] = "limit of the library reached",
    [-UPMU_E_SYSTEM] = "refused by the kernel",
    [-UPMU_E_BACKEND] = "backend not usable",
    [-UPMU_E_PARTIAL] = "counted by the kernel for less time than its group",
    [-UPMU_E_JUMP] = "the counter jumped by an impossible amount",
    [-UPMU_E_RANGE] = "the derived count is below 0 or beyond 64 bits",
    [-UPMU_E_END] = "past the last entry",
    [-UPMU_E_NESTED] = "already recording with other options",
};

const char *upmu_strerror(int code)
{
    if (code > 0 || code <= -(int)(sizeof code_texts / sizeof *code_texts))
        return "unknown error code";
    return code_texts[-code];
}

const char *upmu_errno_name(int errnum)
{
    const char *name = strerrorname_np(errnum);
    return name ? name : "unknown errno";
}

const char *upmu_version(void)
{
    return UPMU_VERSION_STRING;
}
