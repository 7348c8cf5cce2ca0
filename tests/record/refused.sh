# SPDX-License-Identifier: MIT
# A command that cannot be recorded is an error, and is not run.
. "$(dirname "$0")/lib.sh"

expect 127 "$UPMU" record -o t no-such-command
has err "there is no command 'no-such-command'"
expect 127 "$UPMU" record -o t ./no/such/file
expect 127 "$UPMU" record -o t ''
echo 'echo ran' >text
expect 126 "$UPMU" record -o t ./text
has err "no permission"
expect 126 "$UPMU" record -o t /
has err "directory"
expect 126 env PATH="$work" "$UPMU" record -o t text
expect 127 env PATH= "$UPMU" record -o t nothing-here
expect 1 "$UPMU" record -e task-clock,cyclez -o t -- touch ran
has err "did you mean 'cycles'"
[ ! -e ran ] && [ ! -e t ] || fail "a command ran, or a directory was made, for an unknown event"
expect 0 "$UPMU" record -e none -o t-none -- true
printf '#!/no/such/interpreter\n' >script
chmod +x script
expect 1 "$UPMU" record -o t ./script
has err "/no/such/interpreter"
printf '#!%s/circle\n' "$work" >circle
chmod +x circle
expect 1 "$UPMU" record -o t ./circle
has err "a loop of script interpreters"

# A program for another machine: the number of the machine is all that is looked at.
cp "$WORKER" other
chmod +w other
printf '\377\177' | dd of=other bs=1 seek=18 conv=notrunc status=none
expect 1 "$UPMU" record -o t ./other 1
has err "another architecture"
head -c 100 "$WORKER" >short
chmod +x short
expect 1 "$UPMU" record -o t ./short
has err "damaged"
[ ! -e t ] || fail "a directory for nothing"

echo '#include <stdio.h>
int main(void) { puts("ran"); return 0; }' >static.c
for kind in -static -static-pie; do
    if ! "$CC" $kind static.c -o static 2>/dev/null; then
        echo "no $kind programs are made here: that part is left out"
        continue
    fi
    expect 1 "$UPMU" record -o t ./static
    has err "statically linked"
    empty out
    printf '#!%s/static\n' "$work" >script
    expect 1 "$UPMU" record -o t ./script
    has err "statically linked"
done

# A program of another C library: only the name of its dynamic linker counts. A program that starts one may be recorded.
for linker in ld-musl-x86_64.so.1:musl ld64-uClibc.so.1: ld-linux-other.so.2:; do
    "$CC" static.c -Wl,--dynamic-linker="/no/such/${linker%:*}" -o foreign || fail "no program with another dynamic linker"
    if [ -n "${linker#*:}" ]; then
        expect 1 "$UPMU" record -o t ./foreign
        has err "another C library (${linker#*:})"
        [ ! -e t ] || fail "a directory for nothing"
    else
        expect 127 "$UPMU" record -o t-foreign ./foreign # there is no such dynamic linker
        has_not err "another C library"
    fi
done

# Programs whose sanitizer would end by the library, and what only looks like one.
echo '#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return arg; }
int main(void) { pthread_t t; return pthread_create(&t, 0, work, 0) || pthread_join(t, 0); }' >sanitized.c
for kind in thread:ThreadSanitizer address:AddressSanitizer; do
    if ! "$CC" "-fsanitize=${kind%:*}" sanitized.c -o sanitized -pthread 2>/dev/null; then
        echo "no program for ${kind#*:} is made here: that part is left out"
        continue
    fi
    expect 1 "$UPMU" record -o t ./sanitized
    has err "built with ${kind#*:}"
    [ ! -e t ] || fail "a directory for nothing"
    [ "$kind" = thread:ThreadSanitizer ] || continue
    # A child that upmu did not start runs without recording, and the reason is printed.
    expect 0 "$UPMU" record -o t -- sh -c ./sanitized
    has err "built with ThreadSanitizer"
    rm -rf t
done
"$CC" -fsanitize=undefined sanitized.c -o sanitized -pthread 2>/dev/null && expect 0 "$UPMU" record -o t ./sanitized
finish
