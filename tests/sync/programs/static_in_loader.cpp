// SPDX-License-Identifier: MIT
/*
 * A variable that a function initializes at its first call, by a thread that holds a mutex, while a constructor inside dlopen() waits
 * for that mutex. A lookup of the guard's functions that takes the loader's lock deadlocks here.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <thread>
#include <unistd.h>

static pthread_mutex_t wanted_by_constructor = PTHREAD_MUTEX_INITIALIZER;
static sem_t has_it, in_constructor;

extern "C" void static_in_loader_constructor()
{
    sem_post(&in_constructor);
    pthread_mutex_lock(&wanted_by_constructor);
    pthread_mutex_unlock(&wanted_by_constructor);
}

struct made_late {
    long value;
    made_late() : value(getpid() > 0)
    {
    }
};

static long first_call()
{
    static made_late made;
    return made.value;
}

int main(int, char **argv)
{
    sem_init(&has_it, 0, 0);
    sem_init(&in_constructor, 0, 0);
    alarm(200); // ends the program if it hangs
    std::thread maker([] {
        pthread_mutex_lock(&wanted_by_constructor);
        sem_post(&has_it);
        sem_wait(&in_constructor);
        printf("the variable is %ld\n", first_call());
        pthread_mutex_unlock(&wanted_by_constructor);
    });
    sem_wait(&has_it);
    if (!dlopen(argv[1], RTLD_NOW))
        printf("%s\n", dlerror());
    maker.join();
    return 0;
}
