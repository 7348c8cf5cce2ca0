/* SPDX-License-Identifier: MIT */
/* Interned strings: permanent copies of names from tables, sysfs or the caller. */
#include "core/names/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/forking.h"

enum { INTERN_BUCKETS = 256 };

struct intern_string {
    struct intern_string *next;
    char text[];
};

static struct intern_string *intern_table[INTERN_BUCKETS];

const char *intern(const char *s)
{
    uint32_t hash = 2166136261u;
    for (const char *p = s; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    struct intern_string **bucket = &intern_table[hash % INTERN_BUCKETS];

    forking_take(FORKING_INTERN);
    struct intern_string *entry = *bucket;
    while (entry && strcmp(entry->text, s) != 0)
        entry = entry->next;
    if (!entry) {
        size_t size = strlen(s) + 1;
        entry = malloc(sizeof *entry + size);
        if (entry) {
            memcpy(entry->text, s, size);
            entry->next = *bucket;
            *bucket = entry;
        }
    }
    forking_give(FORKING_INTERN);
    return entry ? entry->text : NULL;
}
