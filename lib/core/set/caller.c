/* SPDX-License-Identifier: MIT */
/*
 * Process-local identity of the calling thread and process.
 *
 * gettid() and getpid() enter the kernel on current C libraries, which would add a system call to each counter read
 * through a page. Threads are identified by a number in thread-local storage; processes by a page that the kernel
 * clears in a forked child (MADV_WIPEONFORK), also after a raw clone(), which runs no fork handler.
 */
#include "core/set/caller.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own_once.h"

_Thread_local uint64_t caller_thread_number __attribute__((tls_model("initial-exec")));
uint64_t *caller_process_page;

static uint64_t threads_numbered, processes_numbered;
static struct own_once page_once;

uint64_t caller_thread_first(void)
{
    return caller_thread_number = __atomic_add_fetch(&threads_numbered, 1, __ATOMIC_RELAXED);
}

/* User-mode emulators accept MADV_WIPEONFORK and ignore it; the fork handler covers fork() there. */
static void caller_forked(void)
{
    __atomic_store_n(caller_process_page, 0, __ATOMIC_RELEASE);
}

static void caller_map_page(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
        munmap(page, bytes);
        return;
    }
    __atomic_store_n(&caller_process_page, page, __ATOMIC_RELEASE);
    (void)pthread_atfork(NULL, NULL, caller_forked); /* if this fails, MADV_WIPEONFORK still works */
}

/* Two threads of a new child may both find the page cleared: the first number stored wins. */
uint64_t caller_process_first(void)
{
    uint64_t unnumbered = 0, *page;
    own_once(&page_once, caller_map_page);
    page = __atomic_load_n(&caller_process_page, __ATOMIC_ACQUIRE);
    if (!page)
        return (uint64_t)getpid(); /* before Linux 4.14: one system call per call */
    uint64_t number = __atomic_add_fetch(&processes_numbered, 1, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(page, &unnumbered, number, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return number;
    return unnumbered;
}
