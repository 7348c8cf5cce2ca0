/* SPDX-License-Identifier: MIT */
/*
 * A matrix product to be found slow, and its rewrite: the example of the guide to functions.
 *
 *     gcc -g -O3 -finstrument-functions matrix.c -o naive
 *     gcc -g -O3 -finstrument-functions -DREWRITTEN matrix.c -o rewritten
 *     ./naive [SIZE]
 *
 * The naive product reads a column for each element of the result, from as many cache lines as the column has elements.
 */
#include <stdio.h>
#include <stdlib.h>

enum { SIZE_DEFAULT = 1600, LARGEST = 8192 };

static size_t size;
static double *left, *right, *result;

static void fill(double *matrix)
{
    for (size_t i = 0; i < size * size; i++)
        matrix[i] = (double)(i % 7) - 3;
}

#ifdef REWRITTEN
/* result row += factor * row: neighbors in memory, several at once */
__attribute__((noinline)) static void add_row(double *to, const double *from, double factor)
{
    for (size_t i = 0; i < size; i++)
        to[i] += factor * from[i];
}

static void multiply(void)
{
    for (size_t row = 0; row < size; row++)
        for (size_t k = 0; k < size; k++)
            add_row(&result[row * size], &right[k * size], left[row * size + k]);
}
#else
__attribute__((noinline)) static double dot(size_t row, size_t column)
{
    double sum = 0;
    for (size_t k = 0; k < size; k++)
        sum += left[row * size + k] * right[k * size + column];
    return sum;
}

static void multiply(void)
{
    for (size_t row = 0; row < size; row++)
        for (size_t column = 0; column < size; column++)
            result[row * size + column] = dot(row, column);
}
#endif

static double trace(void)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += result[i * size + i];
    return sum;
}

int main(int argc, char **argv)
{
    size = argc > 1 ? strtoul(argv[1], NULL, 10) : SIZE_DEFAULT;
    if (size == 0 || size > LARGEST)
        return 2;
    left = calloc(size * size, sizeof *left);
    right = calloc(size * size, sizeof *right);
    result = calloc(size * size, sizeof *result);
    if (!left || !right || !result)
        return 1;
    fill(left);
    fill(right);
    multiply();
    printf("%.0f\n", trace());
    free(left);
    free(right);
    free(result);
    return 0;
}
