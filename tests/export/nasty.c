/* SPDX-License-Identifier: MIT */
/* Names that try to break export formats: markup, quotes, control characters, invalid UTF-8, deep nesting. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "upmu/region.h"
#include "upmu/sync.h"

static const char *const names[] = {
    "</text><script>alert(1)</script>",
    "\"quoted\" and \\back\\",
    "two\nlines\r\tand\x01\x1b[31mmore",
    "not utf-8: \xff\xfe\xc0\x80 end",
    "a;b,c=d ]]> --> %s %n",
    "\xef\xbf\xbe nonchar, \xf0\x9f\x98\x80 fine",
    "'); drop(\"x\"); //",
};

int main(void)
{
    static pthread_mutex_t locks[sizeof names / sizeof *names];
    char longest[UPMU_REGION_NAME_MAX + 40];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        upmu_lock_name(&locks[i], names[i]);
        upmu_region_begin(names[i]);
        upmu_mark(names[i]);
        if (pthread_mutex_init(&locks[i], NULL) != 0 || pthread_mutex_lock(&locks[i]) != 0)
            return 1;
        pthread_mutex_unlock(&locks[i]);
    }
    for (size_t i = sizeof names / sizeof *names; i-- > 0;)
        upmu_region_end(names[i]);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    upmu_region_begin(longest);
    upmu_region_end(longest);
    pthread_setname_np(pthread_self(), "<b>\"&';,\n");
    upmu_region_begin("never ended");
    return 0;
}
