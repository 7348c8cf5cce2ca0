/* SPDX-License-Identifier: MIT */
/* Deadlock cases of locks that end implicitly when their memory is freed, and of reused addresses.
 *
 * The order of a first lock must not apply to a second one at its address, and locks that live on keep theirs. The threads
 * live all the time, so that only the end of the memory separates the two. */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "cases.h"

struct account {
    std::mutex mutex;
    long balance = 0;
};

struct shard {
    std::mutex mutex;
    long entries = 0, hits = 0; /* malloc() gives as much for both */
};

struct alignas(64) line {
    std::mutex mutex;
    long values[8] = {};
};

struct plain_line {
    std::mutex mutex;
    char rest[sizeof(line) - sizeof(std::mutex)];
};

struct document {
    std::shared_mutex mutex;
};

static void nest(std::mutex &outer, std::mutex &inner)
{
    std::lock_guard<std::mutex> first(outer);
    std::lock_guard<std::mutex> second(inner);
}

static void nest_c(pthread_mutex_t *outer, pthread_mutex_t *inner)
{
    MUST(pthread_mutex_lock(outer));
    MUST(pthread_mutex_lock(inner));
    MUST(pthread_mutex_unlock(inner));
    MUST(pthread_mutex_unlock(outer));
}

/* One thread does its part, then this one, then another thread; all three are there from the beginning to the end. */
static void in_turn(std::function<void()> one, std::function<void()> between, std::function<void()> other)
{
    auto take = [](unsigned turn, const std::function<void()> &part) {
        dl_turn(turn);
        part();
        dl_next();
    };
    std::thread s(take, 0, one), t(take, 2, other);
    take(1, between);
    s.join();
    t.join();
}

static uintptr_t place_of(const void *p)
{
    return reinterpret_cast<uintptr_t>(p);
}

/* Freed memory is returned again for a request of the same size. */
template <class T> static T *made_at(uintptr_t place, std::function<T *()> make, std::function<void(T *)> end)
{
    std::vector<T *> elsewhere;
    T *made = make();
    while (place_of(made) != place && elsewhere.size() < 100000) {
        elsewhere.push_back(made);
        made = make();
    }
    for (T *e : elsewhere)
        end(e);
    if (place_of(made) != place) {
        fprintf(stderr, "corpus: the memory does not come again\n");
        exit(1);
    }
    return made;
}

template <class T> static T *new_at(uintptr_t place)
{
    return made_at<T>(
        place, [] { return new T; }, [](T *e) { delete e; });
}

/* What malloc() gives may be larger than necessary, by where the heap is: then it does not come again for the same size. */
template <class T> static T *new_usual()
{
    const size_t usual = (sizeof(T) + sizeof(size_t) + 15) / 16 * 16 - sizeof(size_t); /* of glibc */
    std::vector<std::unique_ptr<T>> larger;
    T *made = new T;
    while (malloc_usable_size(made) != usual && larger.size() < 1000) {
        larger.emplace_back(made);
        made = new T;
    }
    return made;
}

/* ------------------------------------------------------------------------------------------------- nothing is wrong */

/* Of another kind, and as large. */
static void deleted_and_other_objects()
{
    static account *a, *b;
    static shard *x, *y;
    a = new_usual<account>(), b = new_usual<account>();
    in_turn([] { nest(a->mutex, b->mutex); },
            [] {
                uintptr_t at_a = place_of(a), at_b = place_of(b);
                delete a;
                delete b;
                y = new_at<shard>(at_b);
                x = new_at<shard>(at_a);
            },
            [] { nest(y->mutex, x->mutex); });
    delete x;
    delete y;
}

static void deleted_arrays()
{
    static shard *a, *b;
    a = new shard[3], b = new shard[3];
    in_turn([] { nest(a[1].mutex, b[2].mutex); },
            [] {
                auto make = [] { return new shard[3]; };
                auto end = [](shard *e) { delete[] e; };
                uintptr_t at_a = place_of(a), at_b = place_of(b);
                delete[] a;
                delete[] b;
                b = made_at<shard>(at_b, make, end);
                a = made_at<shard>(at_a, make, end);
            },
            [] { nest(b[2].mutex, a[1].mutex); });
    delete[] a;
    delete[] b;
}

static void deleted_aligned()
{
    static line *a, *b;
    static plain_line *x, *y;
    a = new_usual<line>(), b = new_usual<line>();
    in_turn([] { nest(a->mutex, b->mutex); },
            [] {
                uintptr_t at_a = place_of(a), at_b = place_of(b);
                delete a;
                delete b;
                y = new_at<plain_line>(at_b);
                x = new_at<plain_line>(at_a);
            },
            [] { nest(y->mutex, x->mutex); });
    delete x;
    delete y;
}

static void deleted_rwlocks()
{
    static document *a, *b;
    a = new_usual<document>(), b = new_usual<document>();
    in_turn(
        [] {
            std::shared_lock<std::shared_mutex> first(a->mutex);
            std::unique_lock<std::shared_mutex> second(b->mutex);
        },
        [] {
            uintptr_t at_a = place_of(a), at_b = place_of(b);
            delete a;
            delete b;
            b = new_at<document>(at_b);
            a = new_at<document>(at_a);
        },
        [] {
            std::shared_lock<std::shared_mutex> first(b->mutex);
            std::unique_lock<std::shared_mutex> second(a->mutex);
        });
    delete a;
    delete b;
}

static pthread_mutex_t *begun_by_initializer()
{
    auto *m = static_cast<pthread_mutex_t *>(malloc(sizeof(pthread_mutex_t)));
    dl_must(m == nullptr, "malloc");
    *m = PTHREAD_MUTEX_INITIALIZER;
    return m;
}

static void freed_mutexes()
{
    static pthread_mutex_t *a, *b;
    a = begun_by_initializer(), b = begun_by_initializer();
    in_turn([] { nest_c(a, b); },
            [] {
                auto end = [](pthread_mutex_t *m) { free(m); };
                uintptr_t at_a = place_of(a), at_b = place_of(b);
                free(a);
                free(b);
                b = made_at<pthread_mutex_t>(at_b, begun_by_initializer, end);
                a = made_at<pthread_mutex_t>(at_a, begun_by_initializer, end);
            },
            [] { nest_c(b, a); });
    free(a);
    free(b);
}

/* A thread that frees the memory of a lock it holds no longer holds it. */
static void freed_while_held()
{
    static pthread_mutex_t *a, other = PTHREAD_MUTEX_INITIALIZER;
    a = begun_by_initializer();
    in_turn(
        [] {
            uintptr_t at_a = place_of(a);
            MUST(pthread_mutex_lock(a));
            free(a);
            MUST(pthread_mutex_lock(&other));
            MUST(pthread_mutex_unlock(&other));
            a = made_at<pthread_mutex_t>(at_a, begun_by_initializer, [](pthread_mutex_t *m) { free(m); });
        },
        [] {}, [] { nest_c(&other, a); });
    free(a);
}

static void mapped_anew()
{
    static const size_t bytes = 1 << 16;
    static pthread_mutex_t *m;
    auto map = [](void *at, int fixed) {
        void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
        dl_must(p == MAP_FAILED ? -1 : 0, "mmap");
        return static_cast<pthread_mutex_t *>(p); /* all zeros is an initialized mutex */
    };
    m = map(nullptr, 0);
    in_turn([] { nest_c(&m[1], &m[1000]); },
            [map] {
                MUST(munmap(m, bytes));
                m = map(m, MAP_FIXED_NOREPLACE);
            },
            [] { nest_c(&m[1000], &m[1]); });
}

/* ------------------------------------------------------------------------------------------- libraries come and go */

struct plugin {
    void *handle;
    void (*nest)(bool swapped);
};

static plugin load()
{
    plugin p = {dlopen(LIVES_PLUGIN, RTLD_NOW | RTLD_LOCAL), nullptr};
    void *symbol = p.handle ? dlsym(p.handle, "plugin_nest") : nullptr;
    if (!symbol) {
        fprintf(stderr, "corpus: %s\n", dlerror());
        exit(1);
    }
    p.nest = reinterpret_cast<void (*)(bool)>(symbol);
    return p;
}

struct place {
    uintptr_t of, begin, end; /* an address in the library, and the library */
};

static int find_library(struct dl_phdr_info *info, size_t, void *arg)
{
    auto *p = static_cast<place *>(arg);
    uintptr_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if (p->of < info->dlpi_addr || p->of >= end)
        return 0;
    p->begin = info->dlpi_addr;
    p->end = end;
    return 1;
}

/* Closed and loaded again at the same address, even if other threads have unmapped memory above it meanwhile: the kernel
 * maps the highest free addresses first, so those are mapped page by page. A stack of a thread of libupmu may be in the way. */
static plugin load_again(plugin p)
{
    const auto before = p.nest;
    place lies = {reinterpret_cast<uintptr_t>(p.nest), 0, 0};
    dl_must(dl_iterate_phdr(find_library, &lies) ? 0 : -1, "dl_iterate_phdr");
    for (int tries = 0; tries < 2000; tries++) { /* another thread may map something there first */
        uintptr_t page = 0;
        MUST(dlclose(p.handle));
        do {
            void *taken = mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            dl_must(taken == MAP_FAILED ? -1 : 0, "mmap");
            page = reinterpret_cast<uintptr_t>(taken);
        } while (page >= lies.end);
        MUST(munmap(reinterpret_cast<void *>(page), 1));
        p = load();
        if (p.nest == before)
            break;
    }
    return p;
}

static void loaded_anew()
{
    static plugin p;
    p = load();
    in_turn([] { p.nest(false); },
            [] {
                auto before = p.nest;
                p = load_again(p);
                if (p.nest != before) {
                    fprintf(stderr, "corpus: the library is at another address\n");
                    exit(1);
                }
            },
            [] { p.nest(true); });
    MUST(dlclose(p.handle));
}

/* ------------------------------------------------------------------------------------------------ something is wrong */

/* Another user has it loaded still. */
static void closed_and_still_loaded()
{
    static plugin p;
    p = load();
    in_turn([] { p.nest(false); }, [] { MUST(dlclose(load().handle)); }, [] { p.nest(true); });
    MUST(dlclose(p.handle));
}

/* Beside both, so near that they share lines of the cache, locks of the same kind end, over and over. */
static void inversion_among_the_deleted()
{
    enum { N = 200, A = N / 2, B = A + 1 };
    static std::vector<std::unique_ptr<account>> accounts;
    for (int i = 0; i < N; i++)
        accounts.push_back(std::make_unique<account>());
    in_turn([] { nest(accounts[A]->mutex, accounts[B]->mutex); },
            [] {
                for (int i = 0; i < N; i++) {
                    if (i == A || i == B)
                        continue;
                    nest(accounts[A]->mutex, accounts[i]->mutex);
                    accounts[i].reset();
                }
                for (int i = 0; i < 5000; i++)
                    nest(accounts[A]->mutex, std::make_unique<account>()->mutex);
            },
            [] { nest(accounts[B]->mutex, accounts[A]->mutex); });
}

/* The second objects are locked in both orders; one of the threads used that order for the first ones. */
static void inversion_of_later_objects()
{
    static account *a, *b;
    static std::function<void()> ab = [] { nest(a->mutex, b->mutex); };
    a = new_usual<account>(), b = new_usual<account>();
    std::thread s([] {
        for (unsigned turn : {0, 2}) {
            dl_turn(turn);
            ab();
            dl_next();
        }
    });
    std::thread t([] {
        dl_turn(3);
        nest(b->mutex, a->mutex);
        dl_next();
    });
    dl_turn(1);
    uintptr_t at_a = place_of(a), at_b = place_of(b);
    delete a;
    delete b;
    b = new_at<account>(at_b);
    a = new_at<account>(at_a);
    dl_next();
    s.join();
    t.join();
}

/* Memory that is unmapped around a lock is not the lock. */
static void inversion_beside_the_unmapped()
{
    static const size_t page = 1 << 16;
    static char *all;
    static pthread_mutex_t *m;
    void *p = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    dl_must(p == MAP_FAILED ? -1 : 0, "mmap");
    all = static_cast<char *>(p);
    m = reinterpret_cast<pthread_mutex_t *>(all + page);
    in_turn([] { nest_c(&m[0], &m[page / sizeof *m - 1]); },
            [] {
                MUST(munmap(all, page));
                MUST(munmap(all + 2 * page, page));
            },
            [] { nest_c(&m[page / sizeof *m - 1], &m[0]); });
}

extern "C" const struct dl_case cases_lives[] = {
    {"deleted_and_other_objects", deleted_and_other_objects},
    {"deleted_arrays", deleted_arrays},
    {"deleted_aligned", deleted_aligned},
    {"deleted_rwlocks", deleted_rwlocks},
    {"freed_mutexes", freed_mutexes},
    {"freed_while_held", freed_while_held},
    {"mapped_anew", mapped_anew},
    {"loaded_anew", loaded_anew},
    {"closed_and_still_loaded", closed_and_still_loaded},
    {"inversion_among_the_deleted", inversion_among_the_deleted},
    {"inversion_of_later_objects", inversion_of_later_objects},
    {"inversion_beside_the_unmapped", inversion_beside_the_unmapped},
    {nullptr, nullptr},
};
