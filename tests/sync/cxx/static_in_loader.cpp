// SPDX-License-Identifier: MIT
/*
 * A variable that a function initializes at its first call, or a lock of Qt, by a thread that holds a mutex, while a constructor inside
 * dlopen() waits for that mutex. A lookup of the library's functions that takes the loader's lock deadlocks here.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <thread>
#include <unistd.h>
#ifdef WITH_QT
#include <QMutex>
#include <QReadWriteLock>
#endif

static pthread_mutex_t wanted_by_constructor = PTHREAD_MUTEX_INITIALIZER;
static sem_t has_it, in_constructor;

extern "C" void static_in_loader_constructor()
{
    sem_post(&in_constructor);
    pthread_mutex_lock(&wanted_by_constructor);
    pthread_mutex_unlock(&wanted_by_constructor);
}

#ifdef WITH_QT
static long first_call()
{
    QMutex mutex;
    mutex.lock();
    mutex.unlock();
    QReadWriteLock lock;
    lock.lockForWrite();
    lock.unlock();
    return 1;
}
#else
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
#endif

int main(int, char **argv)
{
    sem_init(&has_it, 0, 0);
    sem_init(&in_constructor, 0, 0);
    alarm(200); // ends the program if it hangs
    std::thread maker([] {
        pthread_mutex_lock(&wanted_by_constructor);
        sem_post(&has_it);
        sem_wait(&in_constructor);
        printf("the value is %ld\n", first_call());
        pthread_mutex_unlock(&wanted_by_constructor);
    });
    sem_wait(&has_it);
    if (!dlopen(argv[1], RTLD_NOW))
        printf("%s\n", dlerror());
    maker.join();
    return 0;
}
