#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions are selected by their source file: of the program and of a library, with inlined functions of a header in them, DWARF 4 and 5.
# The first calls of a library by many threads at once are selected, too.
#     sources.sh SOURCES LIBRARIES
# shellcheck source=tests/func/lib.sh
set -euo pipefail
sources=$1 libs=$2
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
[ -n "$(compilers)" ] || { echo "skipped, because there is neither gcc nor clang"; exit 77; }

mkdir -p net/part disk include/lib
cat >include/lib/header.h <<'C'
static inline __attribute__((always_inline)) int inlined(int x) { return x * 3; }
static __attribute__((noinline)) int of_header(int x) { __asm__ volatile(""); return inlined(x) + 1; }
C
cat >net/part/send.c <<'C'
#include "lib/header.h"
int net_send(int x) { return inlined(x) + of_header(x); }
int net_poll(int x) { return inlined(x) - 1; }
C
cat >disk/store.c <<'C'
#include "lib/header.h"
int disk_store(int x) { return inlined(x) + of_header(x) + 2; }
C
cat >main.c <<'C'
#include <pthread.h>
#include <stdlib.h>
int net_send(int x), net_poll(int x), disk_store(int x);
static int parse(int x) { __asm__ volatile(""); return net_send(x) + net_poll(x) + disk_store(x); }
static pthread_barrier_t start;
static void *run(void *many)
{
    int (*const f[])(int) = {net_send, net_poll, disk_store};
    long i = (long)many;
    pthread_barrier_wait(&start);
    return f[i % 3](3) == 0 ? many : NULL;
}
int main(int argc, char **argv)
{
    int sum = 0, threads = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t t[30];
    for (int i = 0; threads == 0 && i < 10; i++)
        sum += parse(i);
    pthread_barrier_init(&start, NULL, threads > 0 ? threads : 1);
    for (long i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    return sum == 1;
}
C

# selected NAME VARIABLE=PATTERNS PROGRAM [ARG...] <LINES
selected()
{
    local name=$1 set=$2
    shift 2
    cat >"$name.lines"
    env "$set" UPMU_FUNC_CSV="$name" LD_PRELOAD="$libs/libupmu_func.so.0" "$@" || true
    judge "$name:" "$name" "$name.lines"
}

while read -r cc _; do
    for dwarf in "-gdwarf-5" "-gdwarf-4" "-gdwarf-5 -ffunction-sections"; do
        name=$cc${dwarf// /}
        # shellcheck disable=SC2086 # two options
        "$cc" $dwarf -O2 -fPIC -shared -finstrument-functions -Iinclude net/part/send.c disk/store.c -o "lib$name.so"
        # shellcheck disable=SC2086
        "$cc" $dwarf -O2 -finstrument-functions main.c -o "$name" -pthread -L. "-l$name" -Wl,-rpath,"$PWD"
        selected "$name.include" UPMU_FUNC_INCLUDE='@net/part/,@main.c$' "./$name" <<'LINES'
calls main 1
calls net_send 10
calls net_poll 10
calls parse 10
edge parse net_poll 10
none disk_store
none of_header
none inlined
LINES
        selected "$name.exclude" "UPMU_FUNC_EXCLUDE=@header.h,lib$name:@disk/store.c" "./$name" <<'LINES'
calls main 1
calls net_send 10
none of_header
none inlined
none disk_store
LINES
        selected "$name.module" UPMU_FUNC_EXCLUDE=nothing:@net/part/send.c "./$name" <<'LINES'
calls net_send 10
calls inlined 50
calls of_header 20
LINES
    done
    # Relative directories have that of the compilation before them, in DWARF 5.
    selected "$cc.absolute" "UPMU_FUNC_INCLUDE=@^$PWD/net/part/send.c\$" "./$cc-gdwarf-5" <<'LINES'
calls net_send 10
none parse
none of_header
LINES
    for i in 1 2 3; do
        selected "$cc.at_once.$i" UPMU_FUNC_INCLUDE='^net_send$,@disk/store.c' "./$cc-gdwarf-5" 30 <<'LINES'
calls net_send 10
calls disk_store 10
none net_poll
LINES
    done
    strip -g "$cc-gdwarf-5" "lib$cc-gdwarf-5.so"
    rm -f stripped.*
    UPMU_FUNC_INCLUDE=@net/ UPMU_FUNC_CSV=stripped LD_PRELOAD=$libs/libupmu_func.so.0 "./$cc-gdwarf-5" || true
    [ ! -e stripped.functions.csv ] || [ "$(wc -l <stripped.functions.csv)" = 1 ] || fail "without a line table: $(cat stripped.functions.csv)"
done < <(compilers)
