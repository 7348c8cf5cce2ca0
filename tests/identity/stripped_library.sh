# SPDX-License-Identifier: MIT
# A lock that a stripped library makes in a function without a name is called by the exported function that it was made for.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
cd "$work" || exit 1

cat >codec.c <<'LIBRARY'
#include <pthread.h>
#include <stdlib.h>

static __attribute__((noinline)) pthread_mutex_t *make(void)
{
    pthread_mutex_t *lock = malloc(sizeof *lock);
    pthread_mutex_init(lock, NULL);
    pthread_mutex_lock(lock); /* not a tail call */
    pthread_mutex_unlock(lock);
    return lock;
}

__attribute__((noinline)) pthread_mutex_t *codec_open(void)
{
    pthread_mutex_t *lock = make();
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return lock;
}

__attribute__((noinline)) pthread_mutex_t *codec_reset(void)
{
    pthread_mutex_t *lock = make();
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return lock;
}
LIBRARY
cat >player.c <<'PROGRAM'
#include <stddef.h>

void *codec_open(void);
void *codec_reset(void);

int main(void)
{
    return codec_open() && codec_open() && codec_reset() ? 0 : 1;
}
PROGRAM
"$CC" -O2 -fPIC -shared -pthread codec.c -o libcodec.so && strip libcodec.so &&
    "$CC" player.c -o player -L. -lcodec -Wl,-rpath,"$work" || fail "the program does not build"
expect 0 "$UPMU" record -o rec -- ./player
expect 0 "$UPMU" report --json rec
json out "
import re
locks = [o for o in d['objects'] if o['type'] == 'mutex' and o['named_by'] == 'created']
names = sorted(re.sub('[+]0x[0-9a-f]+', '+OFFSET', o['name']) for o in locks)
assert names == ['libcodec.so+OFFSET from codec_open', 'libcodec.so+OFFSET from codec_open #2',
                 'libcodec.so+OFFSET from codec_reset'], names
assert sorted({o['group'].split(' ')[-1] for o in locks}) == ['codec_open', 'codec_reset'], locks"
finish
