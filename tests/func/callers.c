/* SPDX-License-Identifier: MIT */
/* Calls of every shape, without threads and signals: the same numbers under callgrind. */
#include <stdio.h>
#include <stdlib.h>

#define OWN __attribute__((noinline))

static volatile unsigned sink;

OWN static unsigned mix(unsigned x)
{
    sink++;
    return x * 2654435761u >> 7;
}

OWN static int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

OWN static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b; /* called by the C library */
}

OWN static void sort(void)
{
    int numbers[500];
    for (unsigned i = 0; i < 500; i++)
        numbers[i] = (int)(mix(i) % 1000);
    qsort(numbers, 500, sizeof *numbers, compare);
    sink += (unsigned)numbers[7];
}

OWN static void parse_sum(const char **text);

OWN static void parse_term(const char **text)
{
    if (*(*text)++ == '(')
        parse_sum(text);
}

OWN static void parse_sum(const char **text)
{
    parse_term(text);
    while (**text == '+') {
        ++*text;
        parse_term(text);
    }
    ++*text;
}

OWN static double product(int row, int column)
{
    return (double)(mix((unsigned)row) + mix((unsigned)column));
}

OWN static double matrix(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum += product(i, j);
    return sum;
}

int main(void)
{
    const char *text = "((1+1+(1+1))+(1+(1+1+(1)))+1)";
    printf("%d\n", ackermann(2, 20));
    sort();
    parse_sum(&text);
    printf("%.0f %u\n", matrix(60), sink);
    return 0;
}
