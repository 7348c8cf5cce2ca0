/* SPDX-License-Identifier: MIT */
/* Two processes that share a mutex: the child waits for its parent. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
    pthread_mutex_t *lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attr;
    int status = 0;
    if (lock == MAP_FAILED || pthread_mutexattr_init(&attr) != 0 ||
        pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) != 0 || pthread_mutex_init(lock, &attr) != 0)
        return EXIT_FAILURE;
    pthread_mutex_lock(lock);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(lock);
        pthread_mutex_unlock(lock);
        exit(EXIT_SUCCESS);
    }
    nanosleep(&(struct timespec){.tv_nsec = 100 * 1000000L}, NULL);
    pthread_mutex_unlock(lock);
    return waitpid(child, &status, 0) != child || status != 0;
}
