/* SPDX-License-Identifier: MIT */
/* Self-deadlocks with call stacks of every sort, for stacks.sh. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "stacks: %s: %s\n", what, strerror(errno));
    _exit(1);
}

/* Never returns. The code after the call keeps it from being a tail call. */
static __attribute__((noinline)) void self_deadlock(void)
{
    must(pthread_mutex_lock(&m) == 0, "the first lock");
    must(pthread_mutex_lock(&m) == 0, "the second lock");
    must(sink == 1, "it returned");
}

/* ----------------------------------------------------------------------------------------------- threads and depth */

static void *deadlock_in_thread(void *arg)
{
    self_deadlock();
    return arg;
}

static void in_thread(void)
{
    pthread_t t;
    must(pthread_create(&t, NULL, deadlock_in_thread, NULL) == 0, "pthread_create");
    must(pthread_join(t, NULL) == 0, "pthread_join");
}

static __attribute__((noinline)) int dig(int depth)
{
    if (depth == 0)
        self_deadlock();
    else
        depth = dig(depth - 1) + 1;
    sink++;
    return depth;
}

static void deep(void)
{
    printf("%d\n", dig(200));
}

/* ---------------------------------------------------------------------------------------------------------- signals */

static void on_signal(int sig)
{
    self_deadlock();
    must(sig != 0, "no signal");
}

static __attribute__((noinline)) int is_interrupted(void)
{
    return raise(SIGUSR1) + 1;
}

static void in_signal(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    must(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
    printf("%d\n", is_interrupted());
}

/* ----------------------------------------------------------------------------------------------------- linker's stubs */

#if defined(__x86_64__)
/* A stub of the linker's: [endbr64] [bnd] jmp *slot(%rip). */
static bool is_stub(const unsigned char *code)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    code += memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
    code += code[0] == 0xf2;
    return code[0] == 0xff && code[1] == 0x25;
}

/* After each instruction: blocks in the first one of a stub. */
static void on_step(int sig, siginfo_t *info, void *context)
{
    ucontext_t *c = context;
    const void *at = info->si_addr;
    if (!is_stub(at))
        return;
    c->uc_mcontext.gregs[REG_EFL] &= ~0x100; /* and no more steps */
    self_deadlock();
    must(sig != 0, "no signal");
}

static __attribute__((noinline)) long calls_by_stub(void)
{
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    return (long)getppid() + 1;
}

static void in_stub(void)
{
    const struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    must(sigaction(SIGTRAP, &action, NULL) == 0, "sigaction");
    printf("%ld\n", calls_by_stub());
}
#else
static void in_stub(void)
{
    puts("skipped, because programs of this instruction set cannot step themselves");
    exit(77);
}
#endif

/* ------------------------------------------------------------------------------------------------------- tail calls */

static __attribute__((noinline)) void tail_inner(void)
{
    self_deadlock();
    sink++;
}

static __attribute__((noinline)) void tail_middle(int times)
{
    sink += times;
    tail_inner(); /* MARK tail call */
}

static __attribute__((noinline)) void tail_outer(int times)
{
    tail_middle(times + 1);
    sink++;
}

static void by_tail_call(void)
{
    tail_outer(1);
}

/* ------------------------------------------------------------------------------------------------ code made at run time */

static const unsigned char calls_with_frame[] = {
#if defined(__x86_64__)
    0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3, /* push rbp; mov rbp,rsp; call rdi; pop rbp; ret */
#elif defined(__aarch64__)
    0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x00, 0x00, 0x3f, 0xd6, /* stp; mov x29,sp; blr x0 */
    0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6,                         /* ldp; ret */
#endif
    0};

/* No frame pointer and no unwind information: the unwinder stops here. */
static const unsigned char calls_without[] = {
#if defined(__x86_64__)
    0x55, 0x31, 0xed, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3,
#elif defined(__aarch64__)
    0xfd, 0x7b, 0xbe, 0xa9, 0x1d, 0x00, 0x80, 0xd2, 0xff, 0x83, 0x00, 0xd1, 0x00, 0x00,
    0x3f, 0xd6, 0xff, 0x83, 0x00, 0x91, 0xfd, 0x7b, 0xc2, 0xa8, 0xc0, 0x03, 0x5f, 0xd6,
#endif
    0};

static void write_map(const void *code, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    (void)unlink(path);
    FILE *f = fopen(path, "wx");
    must(f != NULL, path);
    fprintf(f, "%lx %zx Stacks.old:1\n%lx %zx Stacks.compiled:7 (line 12)\n", (unsigned long)(uintptr_t)code, bytes,
            (unsigned long)(uintptr_t)code, bytes);
    must(fclose(f) == 0, path);
}

static void run_made(const unsigned char *code, size_t bytes)
{
    if (bytes <= 1) {
        puts("skipped, because there is no code for this instruction set here");
        exit(77);
    }
    unsigned char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(made != MAP_FAILED, "mmap");
    memcpy(made, code, bytes);
    must(mprotect(made, 4096, PROT_READ | PROT_EXEC) == 0, "mprotect");
    __builtin___clear_cache((char *)made, (char *)made + bytes);
    write_map(made, bytes);
    void (*call)(void (*)(void));
    memcpy(&call, &made, sizeof call);
    call(self_deadlock);
    sink++;
}

static void in_jit(void)
{
    run_made(calls_with_frame, sizeof calls_with_frame);
}

static void in_jit_without_a_way_out(void)
{
    run_made(calls_without, sizeof calls_without);
}

/* ---------------------------------------------------------------------------------------------------- other modules */

/* A library without debug information, in a function without a name. */
static void in_bare_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    must(library != NULL, path);
    void (*call)(void (*)(void));
    void *symbol = dlsym(library, "bare_entry");
    must(symbol != NULL, "bare_entry");
    memcpy(&call, &symbol, sizeof call);
    call(self_deadlock);
    sink++;
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* As Rust's compilers name them. */
void rust_v0(void) __asm__("_RNvMs_NtCs1234_7mycrate4bankINtB4_7AccountjE8withdraw");
void rust_legacy(void) __asm__("_ZN7mycrate4bank16Account$LT$T$GT$8withdraw17h0123456789abcdefE");
/* As C++'s do. */
void cpp_name(void) __asm__("_ZN4bank7AccountIiE8withdrawEiRKSs");

__attribute__((noinline)) void rust_v0(void)
{
    self_deadlock();
    sink += 2;
}

__attribute__((noinline)) void rust_legacy(void)
{
    rust_v0();
    sink += 3;
}

__attribute__((noinline)) void cpp_name(void)
{
    rust_legacy();
    sink += 4;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sorts[] = {{"thread", in_thread},  {"deep", deep},   {"signal", in_signal},
                 {"tail", by_tail_call}, {"jit", in_jit},  {"lost", in_jit_without_a_way_out},
                 {"names", cpp_name},    {"stub", in_stub}};
    if (argc == 3 && strcmp(argv[1], "bare") == 0)
        in_bare_library(argv[2]);
    for (size_t i = 0; argc == 2 && i < sizeof sorts / sizeof *sorts; i++)
        if (strcmp(sorts[i].name, argv[1]) == 0)
            sorts[i].run();
    fprintf(stderr, "usage: stacks SORT | stacks bare LIBRARY\n");
    return 2;
}
