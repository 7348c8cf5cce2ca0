/* SPDX-License-Identifier: MIT */
/* What a seccomp filter does with a system call, without and beside the kernel. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/check/system_calls.h"
#include "unit/suite.h"

#define N(program) (sizeof(program) / sizeof *(program))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

static const struct system_call call = {"getppid", SYS_getppid, SYSTEM_CALL_RUN, {7, 3, UINT64_C(0x500000002)}};

/* The same in the kernel: the errno that a filter answers getppid(7, 3, 0x500000002) with; -1: the call ended the process. */
static int kernel_answer(const struct sock_filter *program, size_t n)
{
    struct sock_filter whole[64] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    memcpy(whole + 3, program, n * sizeof *program);
    const struct sock_fprog f = {(unsigned short)(n + 3), whole};
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &f, 0, 0) != 0)
            _exit(errno == EINVAL && n > 0 ? 201 : 200);
        long rc = syscall(SYS_getppid, 7L, 3L, 0x500000002L);
        _exit(rc >= 0 ? 0 : errno);
    }
    ck_assert(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        return -1;
    return WEXITSTATUS(status);
}

static int our_answer(const struct sock_filter *program, size_t n)
{
    uint32_t result = system_call_filter(program, n, &call);
    return system_call_answer(result) == SYSTEM_CALL_REFUSED   ? (int)(result & SECCOMP_RET_DATA)
           : system_call_answer(result) == SYSTEM_CALL_ALLOWED ? 0
                                                               : -1;
}

static void same(const char *what, const struct sock_filter *program, size_t n, int expected)
{
    int ours = our_answer(program, n), kernel = kernel_answer(program, n);
    ck_assert_msg(ours == expected, "%s: %d, not %d", what, ours, expected);
    ck_assert_msg(kernel == ours || kernel == 200, "%s: the kernel answers %d, not %d", what, kernel, ours);
}

/* A = first argument (7), X = second (3): what `op` makes of them, as an error number. */
static void alu(const char *what, uint16_t op, int expected)
{
    const struct sock_filter program[] = {LOAD(args[1]),
                                          BPF_STMT(BPF_MISC | BPF_TAX, 0),
                                          LOAD(args[0]),
                                          BPF_STMT(BPF_ALU | op, 3),
                                          BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 127),
                                          BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
                                          BPF_STMT(BPF_RET | BPF_A, 0)};
    same(what, program, N(program), expected);
}

START_TEST(arithmetic_is_the_kernels)
{
    for (uint16_t source = BPF_K; source <= BPF_X; source = (uint16_t)(source + BPF_X - BPF_K)) {
        alu("add", BPF_ADD | source, 10);
        alu("sub", BPF_SUB | source, 4);
        alu("mul", BPF_MUL | source, 21);
        alu("div", BPF_DIV | source, 2);
        alu("or", BPF_OR | source, 7);
        alu("and", BPF_AND | source, 3);
        alu("xor", BPF_XOR | source, 4);
        alu("lsh", BPF_LSH | source, 56);
        alu("neg", BPF_NEG, 121);
    }
    alu("rsh", BPF_RSH | BPF_X, 0);
}
END_TEST

/* 1 if the jump is taken with A = 7 and X = 3, else 2. */
static void jump(const char *what, uint16_t op, uint32_t k, int expected)
{
    const struct sock_filter program[] = {LOAD(args[1]),
                                          BPF_STMT(BPF_MISC | BPF_TAX, 0),
                                          LOAD(args[0]),
                                          BPF_JUMP(BPF_JMP | op, k, 1, 0),
                                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 2),
                                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1)};
    same(what, program, N(program), expected);
}

START_TEST(jumps_are_the_kernels)
{
    jump("equal", BPF_JEQ | BPF_K, 7, 1);
    jump("not equal", BPF_JEQ | BPF_X, 0, 2);
    jump("greater", BPF_JGT | BPF_X, 0, 1);
    jump("not greater", BPF_JGT | BPF_K, 7, 2);
    jump("greater or equal", BPF_JGE | BPF_K, 7, 1);
    jump("not greater or equal", BPF_JGE | BPF_K, 8, 2);
    jump("a bit", BPF_JSET | BPF_X, 0, 1);
    jump("no bit", BPF_JSET | BPF_K, 8, 2);
    jump("always", BPF_JA, 1, 1);
}
END_TEST

START_TEST(memory_halves_of_arguments_and_length)
{
    const struct sock_filter memory[] = {
        BPF_STMT(BPF_LD | BPF_IMM, 40),         BPF_STMT(BPF_ST, 3),
        BPF_STMT(BPF_LDX | BPF_IMM, 2),         BPF_STMT(BPF_STX, 15),
        BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),  BPF_STMT(BPF_LDX | BPF_MEM, 3),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0), BPF_STMT(BPF_LDX | BPF_MEM, 15),
        BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0), BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };
    same("memory", memory, N(memory), (int)sizeof(struct seccomp_data) + 38);
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const size_t third = offsetof(struct seccomp_data, args) + 2 * sizeof(uint64_t);
    const struct sock_filter upper[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(third + (little ? sizeof(uint32_t) : 0))),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };
    same("upper half", upper, N(upper), 5);
    const struct sock_filter architecture[] = {
        LOAD(arch),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 9),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    same("architecture", architecture, N(architecture), 9);
}
END_TEST

/* Filters that the kernel refuses, and returns into nowhere: a result, never a hang or a load beyond the data. */
START_TEST(any_instructions_have_a_result)
{
    static const struct sock_filter bad[][2] = {
        {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data)), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {BPF_STMT(BPF_ST, BPF_MEMWORDS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {BPF_STMT(BPF_ALU | 0xf0, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {BPF_STMT(BPF_JMP | 0xf0, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {BPF_STMT(BPF_LD | BPF_IMM, 0), BPF_STMT(BPF_LD | BPF_IMM, 0)},
    };
    for (size_t i = 0; i < N(bad); i++) {
        ck_assert_msg(our_answer(bad[i], 2) == -1, "instructions %zu", i);
        int kernel = kernel_answer(bad[i], 2);
        ck_assert_msg(kernel == 201 || kernel == 200, "the kernel accepts instructions %zu", i);
    }
    ck_assert(our_answer(NULL, 0) == -1);
}
END_TEST

START_TEST(the_first_killed_call_is_named)
{
    const struct sock_filter no_fallocate[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct system_call *c = system_call_killed(no_fallocate, N(no_fallocate), SYSTEM_CALL_RUN);
    ck_assert(c && strcmp(c->name, "fallocate") == 0);
    const struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    ck_assert(!system_call_killed(all, 1, SYSTEM_CALL_START | SYSTEM_CALL_RUN | SYSTEM_CALL_END));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("system_calls");
    tcase_add_test(cases, arithmetic_is_the_kernels);
    tcase_add_test(cases, jumps_are_the_kernels);
    tcase_add_test(cases, memory_halves_of_arguments_and_length);
    tcase_add_test(cases, any_instructions_have_a_result);
    tcase_add_test(cases, the_first_killed_call_is_named);
    return run_suite("core: system_calls", cases);
}
