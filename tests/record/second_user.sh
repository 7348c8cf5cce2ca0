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
