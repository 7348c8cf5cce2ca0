# SPDX-License-Identifier: MIT
# Memory that the recorder takes in a process: printed, and equal to what the kernel reports as the increase over the unrecorded process.
. "$(dirname "$0")/lib.sh"

cat >locks.c <<'PROGRAM'
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LOCKS = 20000 };
static pthread_mutex_t locks[LOCKS];

/* Prints the anonymous memory of the process in KiB. */
int main(void)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&locks[i], NULL);
        pthread_mutex_lock(&locks[i]);
        pthread_mutex_unlock(&locks[i]);
    }
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "RssAnon:", 8) == 0)
            fputs(line + 8, stdout);
    return 0;
}
PROGRAM
"$CC" -O1 -pthread locks.c -o locks || fail "the program does not build"
./locks >bare
expect 0 "$UPMU" record -o many -- ./locks
cp out recorded
grep -qE '; memory [0-9.]+ MiB, [0-9.]+ MiB per thread\); next' err || fail "summary: $(cat err)"
expect 0 "$UPMU" report many
grep -qE 'on disk: .*; in memory: [0-9.]+ MiB, ' out || fail "no memory in the report"
expect 0 "$UPMU" report --json many
read -r bare _ <bare
read -r recorded _ <recorded
# The rest is data of the libraries that the recorder brings.
json out "
p, = d['processes']
more = ($recorded - $bare) * 1024
assert p['memory_threads'] == 1, p
assert p['memory_bytes'] > 1 << 20, p
assert more - (1 << 20) < p['memory_bytes'] < more + (64 << 10), (p['memory_bytes'], more)"

# A killed process has not written it.
# shellcheck disable=SC2016
expect 0 "$UPMU" record -o both -- sh -c './locks; (kill -9 $(exec sh -c "echo \$PPID")); exec ./locks' >/dev/null
grep -qE '; memory [0-9.]+ MiB in 2 of 3 processes, ' err || fail "summary with a killed process: $(cat err)"

# 512 call stacks, by the bits of a number: the table of stacks takes the pages that they need, not one for each.
cat >stacks.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>

enum { BITS = 9 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void call(int path, int bits)
{
    if (bits == 0) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    } else if (path & 1) {
        call(path >> 1, bits - 1);
    } else {
        call(path >> 1, bits - 1);
        __asm__ volatile("" ::: "memory");
    }
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 0); i++)
        call(i, BITS);
    return 0;
}
PROGRAM
"$CC" -O1 -fno-crossjumping -pthread stacks.c -o stacks || fail "the program does not build"
for n in 1 512; do
    expect 0 "$UPMU" record -m all -o "stacks.$n" -- ./stacks "$n"
    expect 0 "$UPMU" report --json "stacks.$n"
    cp out "stacks.$n.json"
done
json stacks.512.json "
p, = d['processes']
q, = json.load(open('stacks.1.json'))['processes']
assert p['memory_bytes'] - q['memory_bytes'] < 1 << 20, (p['memory_bytes'], q['memory_bytes'])"
