/* SPDX-License-Identifier: MIT */
/* Two processes at a shared barrier: the child arrives last in each round, DELAY_MS after its parent. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, DELAY_MS = 60, NS_PER_MS = 1000000 };

int main(void)
{
    pthread_barrier_t *barrier = mmap(NULL, sizeof *barrier, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t attr;
    int status = 0;
    if (barrier == MAP_FAILED || pthread_barrierattr_init(&attr) != 0 ||
        pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) != 0 ||
        pthread_barrier_init(barrier, &attr, 2) != 0)
        return EXIT_FAILURE;
    pid_t child = fork();
    for (int i = 0; i < ROUNDS; i++) {
        if (child == 0)
            nanosleep(&(struct timespec){.tv_nsec = DELAY_MS * NS_PER_MS}, NULL);
        pthread_barrier_wait(barrier);
    }
    if (child == 0)
        exit(EXIT_SUCCESS);
    return waitpid(child, &status, 0) != child || status != 0;
}
