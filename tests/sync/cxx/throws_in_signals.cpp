/* SPDX-License-Identifier: MIT */
// A signal handler that locks, in a program that throws exceptions, has code of its own registered, and has closed all descriptors: the
// recorder walks its stacks by libgcc, whose lock the interrupted thread may hold.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

extern "C" void __register_frame(void *);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t handled;
static char code[64];

// A common information entry and a description of `code`, for __register_frame().
static struct __attribute__((packed)) {
    uint32_t common_bytes = 12, common = 0;
    uint8_t version = 1, augmentation = 0, code_factor = 1, data_factor = 0x78, return_column = 16, nops[3] = {};
    uint32_t bytes = 20, to_common = 20;
    uint64_t begin = 0, length = sizeof code;
    uint32_t end = 0;
} registered;

static void handler(int)
{
    int saved = errno;
    pthread_mutex_lock(&mutex);
    handled = handled + 1;
    pthread_mutex_unlock(&mutex);
    errno = saved;
}

int main()
{
    enum { SIGNALS = 1000, INTERVAL_US = 200 };
    registered.begin = (uint64_t)(uintptr_t)code;
    __register_frame(&registered);
    closefrom(STDERR_FILENO + 1);
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGALRM, &action, nullptr);
    const struct itimerval timer = {{0, INTERVAL_US}, {0, INTERVAL_US}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    unsigned long caught = 0;
    while (handled < SIGNALS) {
        try {
            throw 1;
        } catch (int n) {
            caught += (unsigned long)n;
        }
    }
    const struct itimerval none = {};
    setitimer(ITIMER_REAL, &none, nullptr);
    puts(caught > 0 ? "caught" : "none");
    return 0;
}
