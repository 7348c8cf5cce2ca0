#!/usr/bin/env bash
# Inversions of locks of Python, which are semaphores that are tried first.
#
#     python.sh UPMU DIR
set -euo pipefail
upmu=$1 dir=$2
command -v python3 >/dev/null || { echo "skipped, because python3 is not installed"; exit 77; }
rm -rf "$dir"
mkdir -p "$dir"
cat >"$dir/order.py" <<'END'
import sys, threading, time
a, b = threading.Lock(), threading.Lock()
turn = 0
def release_soon(lock):
    time.sleep(0.01)
    lock.release()
def contended():
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=release_soon, args=(lock,)).start()
    lock.acquire()
def wait(mine):
    while turn != mine:
        time.sleep(0.001)
def blocking(x, y):
    with x:
        with y:
            pass
def trying(x, y):
    with x:
        if y.acquire(blocking=False):
            y.release()
def timed(x, y):
    with x:
        if y.acquire(timeout=1):
            y.release()
def called(x, y):
    x.acquire()
    y.acquire(True)
    y.release()
    x.release()
def given_up(x, y): # the last try fails, and no wait follows it
    trying(x, y)
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(False)
def run(take, mine, x, y):
    global turn
    wait(mine)
    take(x, y)
    turn += 1
    wait(2)
if sys.argv[1] != "alone":
    for _ in range(20): contended() # a try that a wait follows shows that CPython's tries stand for waits
take = {"try": trying, "timed": timed, "called": called, "given_up": given_up}.get(sys.argv[1], blocking)
same = sys.argv[1] == "same"
threads = [threading.Thread(target=run, args=(take, 0, a, b)),
           threading.Thread(target=run, args=(take, 1, *((a, b) if same else (b, a))))]
for t in threads: t.start()
for t in threads: t.join()
END
# python_of VERSION: an interpreter of 64 bits, the first in PATH, or one that pyenv has built
python_of() {
    local python
    for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python3; do
        python=$(command -v "$python") || continue
        if "$python" -c 'import sys; sys.exit(sys.maxsize < 2**32)' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}
found() {
    local rc=0 text
    "$upmu" record -o "$dir/$1" -- "$python" "$dir/order.py" "$1" >/dev/null 2>&1
    text=$("$upmu" deadlock "$dir/$1") || rc=$?
    rm -rf "${dir:?}/$1"
    [ "$rc" -eq "$2" ] || { echo "FAILED: $1: status $rc, expected $2: $text"; exit 1; }
}
# Which calls wait is known of some versions, by the interpreter's frames. Each of them that is here is tried.
tried=
for version in 3 3.11 3.12 3.13; do
    python=$(python_of "$version") || continue
    found same 0
    found inversion 3
    name=$("$python" -c 'import sys; print(f"{sys.version_info[0]}.{sys.version_info[1]}")')
    case $name in 3.11 | 3.12 | 3.13) ;; *) continue ;; esac
    case $tried in *" $name "*) continue ;; esac
    for case in try timed given_up; do
        found "$case" 0
    done
    found called 3
    found alone 3
    tried+=" $name "
done
for version in 3.11 3.12 3.13; do
    case $tried in *" $version "*) echo "CPython $version" ;; *) echo "CPython $version: skipped, because it is not installed" ;; esac
done
rm -rf "$dir"
