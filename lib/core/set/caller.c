/* SPDX-License-Identifier: MIT */
/*
 * Identity of the calling thread and process, without a system call per question.
 *
 * gettid() and getpid() enter the kernel on today's C libraries, which would make each reading of a counter through its page
 * cost a system call after all. A number in thread-local storage tells threads apart; a page that the kernel clears in a forked
 * child (MADV_WIPEONFORK) tells processes apart, also after a raw clone(), which calls no fork handler.
 */
#include "core/set/caller.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

_Thread_local uint64_t caller_thread_number __attribute__((tls_model("initial-exec")));
uint64_t *caller_process_page;

static uint64_t threads_numbered, processes_numbered;
static pthread_once_t page_once = PTHREAD_ONCE_INIT;

uint64_t caller_thread_first(void)
{
    return caller_thread_number = __atomic_add_fetch(&threads_numbered, 1, __ATOMIC_RELAXED);
}

/* Emulators of programs take MADV_WIPEONFORK without doing it; fork() at least is noticed there. */
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
    (void)pthread_atfork(NULL, NULL, caller_forked); /* without memory for it the kernel's way is left */
}

/* Two threads of a new child may both find it without a number: the first one's holds. */
uint64_t caller_process_first(void)
{
    uint64_t unnumbered = 0, *page;
    pthread_once(&page_once, caller_map_page);
    page = __atomic_load_n(&caller_process_page, __ATOMIC_ACQUIRE);
    if (!page)
        return (uint64_t)getpid(); /* a kernel before 4.14: a system call per question */
    uint64_t number = __atomic_add_fetch(&processes_numbered, 1, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(page, &unnumbered, number, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return number;
    return unnumbered;
}
