/* SPDX-License-Identifier: MIT */
/* OpenMP parallel loops, a critical section, tasks and a lock, with output independent of scheduling. */
#include <inttypes.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

#define N 200000

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
}

static uint64_t tree(uint64_t node, int depth)
{
    uint64_t left = 0, right = 0;

    if (depth == 0)
        return mix(node);
#pragma omp task shared(left)
    left = tree(node * 2, depth - 1);
#pragma omp task shared(right)
    right = tree(node * 2 + 1, depth - 1);
#pragma omp taskwait
    return mix(left + right);
}

int main(void)
{
    uint64_t sum = 0, critical = 0, locked = 0, answer = 0;
    omp_lock_t lock;

    omp_set_num_threads(4);
    omp_init_lock(&lock);
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 64)
    for (int i = 0; i < N; i++)
        sum += mix((uint64_t)i);
#pragma omp parallel for schedule(static, 16)
    for (int i = 0; i < N / 10; i++) {
#pragma omp critical
        critical += mix((uint64_t)i);
        omp_set_lock(&lock);
        locked ^= mix(locked + (uint64_t)i) & 1;
        locked += 2;
        omp_unset_lock(&lock);
    }
#pragma omp parallel
#pragma omp single
    answer = tree(1, 10);
    omp_destroy_lock(&lock);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sum, critical, locked / 2, answer);
    return 0;
}
