# SPDX-License-Identifier: MIT
# Root reads the recording of a user who has planted other things in it. docs/security.md has what each part is for.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can be two users"
command -v setpriv >/dev/null || skip "setpriv is not installed"
as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
chmod 755 "$work"
mkdir -m 777 open
as_nobody "$UPMU" --version >/dev/null 2>&1 || skip "another user cannot execute $UPMU"
cp "$WORKER" open/program
chown -R 65534 open
cd open || exit 1
as_nobody "$UPMU" record -m all -o clean -- ./program 20 >/dev/null 2>"$work/err" || fail "recording as another user: $(cat "$work/err")"
readers=(report "report --json" deadlock dump "export -f chrome")

# read_all TEXT: every command of root ends in time, and prints nothing of the planted file
read_all() {
    local reader status
    for reader in "${readers[@]}"; do
        status=0
        # shellcheck disable=SC2086
        timeout 60 "$UPMU" $reader planted >"$work/out" 2>&1 || status=$?
        [ $status -lt 124 ] || fail "$1: upmu $reader: status $status"
        if grep -q "only root may read this" "$work/out"; then fail "$1: upmu $reader printed it"; fi
    done
}

echo "only root may read this" >"$work/secret"
chmod 600 "$work/secret"

# The program of the recording is replaced by a FIFO: it is not even opened, as a device would not be.
cp -a clean planted
rm program
mkfifo program
(trap '' PIPE; echo x >program; touch "$work/opened") 2>/dev/null &
writer=$!
read_all "a FIFO as the program"
sleep 0.2
[ ! -e "$work/opened" ] || fail "a FIFO in the place of the program was opened"
kill "$writer"
rm program

# A debug file that the program names: a FIFO, a link to a file of root, one to a program of root that only root may read, a device.
if command -v objcopy >/dev/null; then
    echo x >linked.debug
    objcopy --strip-debug --add-gnu-debuglink=linked.debug "$WORKER" program
    chown 65534 program
    cp "$WORKER" "$work/private"
    printf 'int only_root_may_read_this;' | cc -g -x c -shared -o "$work/private" - 2>/dev/null || true
    chmod 600 "$work/private"
    mkdir -m 777 .debug
    for at in linked.debug .debug/linked.debug; do
        rm -f linked.debug .debug/linked.debug
        mkfifo "$at"
        (trap '' PIPE; echo x >"$at"; touch "$work/opened") 2>/dev/null &
        writer=$!
        read_all "a FIFO as debug file"
        sleep 0.2
        [ ! -e "$work/opened" ] || fail "a FIFO in the place of a debug file was opened"
        kill "$writer"
        for target in "$work/secret" "$work/private" /dev/zero /proc/kmsg "$work"; do
            rm "$at"
            as_nobody ln -s "$target" "$at"
            read_all "a link to $target as debug file"
            ! grep -q only_root_may_read_this "$work/out" || fail "symbols of a private program were printed"
        done
    done
    rm -r .debug program
else
    echo "second_user: planted debug files: skipped, because objcopy is not installed"
fi

# A link to a file of root, and a FIFO, in the places of streams, metadata and wait states.
for file in planted/*/stream_0000 planted/*/metadata planted/*/.live planted/*/.control; do
    [ -e "$file" ] || continue
    mv "$file" kept
    ln -s "$work/secret" "$file"
    read_all "a link as $(basename "$file")"
    rm "$file"
    mkfifo "$file"
    read_all "a FIFO as $(basename "$file")"
    rm "$file"
    mv kept "$file"
done

# The recording changes while it is read: files are cut, overwritten, made links, FIFOs, folders and holes of 500 GB, the process's directory is
# a link to one of root for moments.
cat >change.py <<'PYTHON'
import os, random, shutil, sys, time
random.seed(1)
[process] = [n for n in os.listdir("clean") if os.path.isdir("clean/" + n)]
names = os.listdir("clean/" + process)
while os.path.exists("changes"):
    name, kind = random.choice(names), random.randrange(9)
    at, source = "planted/%s/%s" % (process, name), "clean/%s/%s" % (process, name)
    size = os.path.getsize(source)
    try:
        if kind == 0:
            os.truncate(at, random.randrange(size + 1))
        elif kind == 1:
            with open(at, "r+b") as f:
                for _ in range(20):
                    f.seek(random.randrange(size))
                    f.write(os.urandom(random.choice([1, 4, 8])))
        elif kind == 2:
            os.truncate(at, 500 << 30)
        elif kind == 3:
            os.rename("planted/" + process, "planted/moved")
            os.symlink(sys.argv[1], "planted/" + process)
            time.sleep(0.002)
            os.unlink("planted/" + process)
            os.rename("planted/moved", "planted/" + process)
        elif kind < 7:
            os.unlink(at)
            (os.mkdir, os.mkfifo, lambda path: os.symlink(sys.argv[1] + "/secret", path))[kind - 4](at)
        else:
            shutil.copyfile(source, "planted/new")
            if os.path.isdir(at) and not os.path.islink(at):
                os.rmdir(at)
            os.rename("planted/new", at)
    except OSError:
        pass
PYTHON
if as_nobody /usr/bin/python3 -c '' 2>/dev/null; then
    touch changes
    as_nobody /usr/bin/python3 change.py "$work" &
    changer=$!
    for _ in 1 2 3 4 5 6 7 8; do read_all "a recording that changes"; done
    rm changes
    wait "$changer" || fail "what changes the recording failed"
    rm -rf planted
    cp -a clean planted
else
    echo "second_user: a recording that changes: skipped, because another user has no python3"
fi

# A link of another user in the place of the recording directory leads nowhere; one of one's own does.
mkdir "$work/mine"
as_nobody ln -s "$work/mine" linked
preload=$("$UPMU" record -o "$work/asked" -- env 2>/dev/null | sed -n 's/^LD_PRELOAD=//p')
[ -n "$preload" ] || fail "the library that is preloaded is not known"
UPMU_TRACE=$PWD/linked UPMU_SYNC=all LD_PRELOAD=$preload /bin/true 2>"$work/err" || fail "a program that is not recorded failed"
[ -z "$(ls -A "$work/mine")" ] || fail "a link of another user was followed: $(ls -A "$work/mine")"
grep -q "is a link of another user" "$work/err" || fail "no reason: $(cat "$work/err")"
ln -s "$work/mine" "$work/own"
UPMU_TRACE=$work/own UPMU_SYNC=all LD_PRELOAD=$preload /bin/true 2>"$work/err"
[ -n "$(ls -A "$work/mine")" ] || fail "an own link was not followed: $(cat "$work/err")"

# Nothing is asked in the network, and reading leaves no file of root with the other user.
python3 - "$UPMU" <<'PYTHON' || fail "a debuginfod server was asked"
import os, socket, subprocess, sys
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(8)
server.settimeout(0.2)
env = dict(os.environ, DEBUGINFOD_URLS="http://127.0.0.1:%d" % server.getsockname()[1])
for command in ["report", "deadlock"]:
    subprocess.run([sys.argv[1], command, "planted"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    server.accept()
    sys.exit(1)
except TimeoutError:
    pass
PYTHON
[ -z "$(find planted -newer "$work/secret" -user root -type f)" ] || fail "files of root: $(find planted -user root -type f)"
cd ..
finish
