/* SPDX-License-Identifier: MIT */
/*
 * Files of a guest as text on its console, read by receive.py.
 *
 *     GUEST-FILE PATH BYTES SUM       then, of the file's pieces that are not zeros:
 *     GUEST-DATA OFFSET HEX
 *
 * SUM is FNV-1a of all bytes: a console may lose some, or mix a line of the kernel into ours.
 */
#include "send.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 64, FOLDERS_OPEN = 8 };

static const char *from, *as; /* of the walk that is under way: nftw() has no argument to pass on */

static uint64_t sum_of(FILE *f, uint64_t *bytes)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    int c;
    for (*bytes = 0; (c = getc(f)) != EOF; ++*bytes)
        sum = (sum ^ (uint64_t)c) * UINT64_C(1099511628211);
    return sum;
}

static void send_piece(uint64_t offset, const unsigned char *piece, size_t n)
{
    static const unsigned char zeros[PIECE];
    if (memcmp(piece, zeros, n) == 0)
        return;
    printf("GUEST-DATA %" PRIu64 " ", offset);
    for (size_t i = 0; i < n; i++)
        printf("%02x", piece[i]);
    printf("\n");
}

static int send_open(FILE *f, const char *path)
{
    unsigned char piece[PIECE];
    uint64_t bytes, sum = sum_of(f, &bytes), offset = 0;
    size_t n;
    if (ferror(f) || fseek(f, 0, SEEK_SET) != 0)
        return 1;
    printf("GUEST-FILE %s%s %" PRIu64 " %016" PRIx64 "\n", as, path + strlen(from), bytes, sum);
    for (; (n = fread(piece, 1, sizeof piece, f)) > 0; offset += n)
        send_piece(offset, piece, n);
    return ferror(f) != 0;
}

static int send_file(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)where;
    FILE *f = type == FTW_F ? fopen(path, "r") : NULL;
    int failed = f ? send_open(f, path) : type != FTW_D;
    if (f)
        fclose(f);
    if (failed)
        printf("%s cannot be read\n", path);
    return failed;
}

int send_folder(const char *folder, const char *name)
{
    from = folder;
    as = name;
    int rc = nftw(folder, send_file, FOLDERS_OPEN, FTW_PHYS);
    if (rc < 0)
        printf("%s cannot be read\n", folder);
    return rc != 0;
}
