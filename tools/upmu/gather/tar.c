/* SPDX-License-Identifier: MIT */
/* Writer of tar archives. */
#include "tar.h"

#include <inttypes.h>
#include <string.h>

enum { TAR_BLOCK = 512, TAR_SIZE_MAX_BITS = 33 };

/* The header block as POSIX has it; numbers are octal digits. */
struct tar_header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], owner[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is one block");

void tar_begin(struct tar *t, FILE *out, int64_t time)
{
    *t = (struct tar){.out = out, .time = time};
}

/* A long path is cut at a slash: the first part goes into the prefix. */
static int tar_put_name(struct tar_header *h, const char *path)
{
    size_t len = strlen(path);

    if (len == 0 || path[0] == '/')
        return -1;
    if (len <= sizeof h->name) {
        memcpy(h->name, path, len);
        return 0;
    }
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t before = (size_t)(slash - path), after = len - before - 1;
        if (before > sizeof h->prefix || after == 0 || after > sizeof h->name)
            continue;
        memcpy(h->prefix, path, before);
        memcpy(h->name, slash + 1, after);
        return 0;
    }
    return -1;
}

/* `width` - 1 octal digits and a zero byte. */
static void tar_put_octal(char *field, size_t width, uint64_t value)
{
    field[width - 1] = '\0';
    for (size_t i = width - 1; i-- > 0; value >>= 3)
        field[i] = (char)('0' + (value & 7));
}

/* The sum of all bytes, those of its own field taken as blanks. */
static void tar_put_checksum(struct tar_header *h)
{
    unsigned sum = 0;
    const unsigned char *byte = (const unsigned char *)h;

    memset(h->checksum, ' ', sizeof h->checksum);
    for (size_t i = 0; i < sizeof *h; i++)
        sum += byte[i];
    tar_put_octal(h->checksum, sizeof h->checksum - 1, sum);
}

int tar_add(struct tar *t, const char *path, const void *data, size_t len)
{
    static const char zeros[TAR_BLOCK];
    struct tar_header h = {.type = '0', .magic = "ustar", .version = {'0', '0'}};

    if ((uint64_t)len >> TAR_SIZE_MAX_BITS != 0 || tar_put_name(&h, path) != 0)
        return -1;
    tar_put_octal(h.mode, sizeof h.mode, 0644);
    tar_put_octal(h.uid, sizeof h.uid, 0);
    tar_put_octal(h.gid, sizeof h.gid, 0);
    tar_put_octal(h.size, sizeof h.size, len);
    tar_put_octal(h.mtime, sizeof h.mtime, (uint64_t)t->time);
    tar_put_checksum(&h);
    (void)fwrite(&h, 1, sizeof h, t->out);
    (void)fwrite(data, 1, len, t->out);
    (void)fwrite(zeros, 1, (TAR_BLOCK - len % TAR_BLOCK) % TAR_BLOCK, t->out);
    return 0;
}

void tar_end(struct tar *t)
{
    static const char zeros[2 * TAR_BLOCK];

    (void)fwrite(zeros, 1, sizeof zeros, t->out);
}
