/* SPDX-License-Identifier: MIT */
/*
 * A matrix product whose functions are recorded: built with -finstrument-functions, linked with libupmu_func.
 *
 *     UPMU_FUNC_CSV=product ./functions          product.functions.csv, product.edges.csv
 *     UPMU_FUNC_MODE=tree UPMU_TRACE=DIR ./functions && upmu report --functions DIR
 *
 * Without a variable nothing is recorded.
 */
#include <stdio.h>

enum { SIZE = 96 };

static double left[SIZE][SIZE], right[SIZE][SIZE], result[SIZE][SIZE];

static double element(int row, int column, int k)
{
    return left[row][k] * right[k][column];
}

static double sum(int row, int column)
{
    double total = 0;
    for (int k = 0; k < SIZE; k++)
        total += element(row, column, k);
    return total;
}

static void multiply(void)
{
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            result[row][column] = sum(row, column);
}

static void fill(void)
{
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++) {
            left[row][column] = row + column;
            right[row][column] = row - column;
        }
}

int main(void)
{
    fill();
    multiply();
    printf("%g\n", result[SIZE - 1][SIZE - 1]);
    return 0;
}
